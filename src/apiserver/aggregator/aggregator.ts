import type { APIService, EndpointSlice, Service } from '../../api/generated/types.ts';
import { apiVersionOf, type Kind } from '../../api/kind.ts';
import { apiServiceKind, availableCondition } from '../../api/kinds/apiregistration/api-service.ts';
import { sortedJson } from '../../api/sorted-json.ts';
import { type RequestInfo, resourceRequestInfo } from '../../api/request-info.ts';
import { ApiError } from '../../api/status.ts';
import type { Stored } from '../../api/stored.ts';
import type { Store } from '../../store/contract.ts';
import type { Cancel, World } from '../../world/world.ts';
import { ServiceResolver } from '../admission/webhooks/service-resolver.ts';
import type { Api, User } from '../api.ts';
import type { DiscoveredVersion } from '../discovery/resources.ts';
import { ClusterReader } from '../objects/cluster-reader.ts';
import { PrefixFollower } from '../objects/follow-prefix.ts';
import { timestamp } from '../objects/metadata.ts';
import { Resources } from '../objects/resources.ts';
import { StoreInformer } from '../objects/store-informer.ts';
import { type Availability, passed, unavailability } from './availability.ts';
import type { RemoteOpenApi } from './merge-openapi.ts';
import { type ProxiedRequest, passOn } from './proxy.ts';
import { discoveredVersion } from './remote-discovery.ts';
import { type RemoteServers, wholeBody } from './remote-server.ts';

export interface AggregatorOptions {
  readonly store: Store;
  readonly world: World;
  readonly kinds: readonly Kind[];
  /** Where statuses are written. */
  readonly api: Pick<Api, 'handle'>;
  readonly servers: RemoteServers;
}

type RemoteService = Stored<APIService>;

/** At most one of an APIService: a server that does not answer is not asked again meanwhile. */
type Check = { readonly type: 'waiting'; readonly at: number; readonly cancel: Cancel } | { readonly type: 'running'; isOutdated: boolean };

/** As Kubernetes' aggregator asks: with all rights. */
const aggregator: User = { name: 'system:kube-aggregator', groups: ['system:masters'] };
const apiserver: User = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };

const CHECK_AGAIN_MS = 30_000;
const FIRST_RETRY_MS = 200;
const CHECK_TIMEOUT_MS = 5_000;
const MAX_DOCUMENT = 16 * 1024 * 1024;

/**
 * APIServices with a Service: requests for their groups are passed on to it (upstream: kube-aggregator).
 *
 * Expected flow: an APIService is stored → its Service and EndpointSlices are looked at, and the server behind them is asked for its resources →
 * the condition Available is stored → once it is True, requests are passed on, and discovery shows the resources.
 *
 * Guarantees: without such an APIService nothing is watched. A server that does not answer holds up no other request.
 */
export class Aggregator {
  readonly #options: AggregatorOptions;
  readonly #resources: Resources;
  readonly #reader: ClusterReader;
  readonly #services: ServiceResolver;
  readonly #informer: StoreInformer<APIService>;
  /** By group and version: 'wardle.example.com/v1'. */
  #remote: ReadonlyMap<string, RemoteService> = new Map();
  /** By group and version, as the last check found it. */
  readonly #found = new Map<string, DiscoveredVersion>();
  #discovered: readonly DiscoveredVersion[] = [];
  readonly #checks = new Map<string, Check>();
  #followers: readonly PrefixFollower[] = [];
  #stopped = false;

  constructor(options: AggregatorOptions) {
    const { store, world, kinds } = options;
    this.#options = options;
    this.#resources = new Resources(kinds);
    this.#reader = new ClusterReader(store);
    this.#services = new ServiceResolver(this.#reader, this.#resources, world.random);
    const resource = this.#resources.require(apiVersionOf(apiServiceKind), apiServiceKind.plural);
    this.#informer = new StoreInformer<APIService>({ store, timers: world.timers }, resource, (services) => this.#changed(services));
  }

  start(): Promise<void> {
    return this.#informer.start();
  }

  stop(): void {
    this.#stopped = true;
    this.#informer.stop();
    this.#unfollow();
    for (const check of this.#checks.values()) if (check.type === 'waiting') check.cancel();
    this.#options.servers.stop();
  }

  /** The APIService whose Service answers for a version of a group; undefined: this server does. */
  find(group: string, version: string): RemoteService | undefined {
    return this.#remote.size === 0 ? undefined : this.#remote.get(apiVersionOf({ group, version }));
  }

  /** What the servers that are available serve: the same array until it changes. */
  discovered(): readonly DiscoveredVersion[] {
    return this.#discovered;
  }

  /** Resolves with the code of the answer once it flows. */
  serve(request: ProxiedRequest, service: RemoteService): Promise<number> {
    const { world, servers } = this.#options;
    return passOn(request, { service, services: this.#services, servers, timers: world.timers });
  }

  /** The OpenAPI document of one version ('apis/wardle.example.com/v1'), as its server has it. */
  async openApi(groupVersion: string): Promise<object | undefined> {
    const service = this.#remote.get(groupVersion.replace(/^apis\//, ''));
    return service === undefined || !isAvailable(service) ? undefined : this.#document(service, `/openapi/v3/${groupVersion}`);
  }

  /** The OpenAPI v2 documents of the servers that are available, each whole. */
  async openApiV2(): Promise<readonly RemoteOpenApi[]> {
    const available = [...this.#remote].filter(([, service]) => isAvailable(service));
    const documents = await Promise.all(
      available.map(async ([groupVersion, service]) => ({ groupVersion, document: await this.#document(service, '/openapi/v2') })),
    );
    return documents.flatMap(({ groupVersion, document }) => (document === undefined ? [] : { groupVersion, document }));
  }

  async #document(service: RemoteService, path: string): Promise<object | undefined> {
    const body = await this.#ask(service, path).catch(() => undefined);
    return body === undefined ? undefined : objectOf(body);
  }

  #changed(services: readonly RemoteService[]): void {
    const before = this.#remote;
    const remote = services.filter(({ spec }) => spec.service !== undefined);
    this.#remote = new Map(remote.map((service) => [apiVersionOf({ group: service.spec.group ?? '', version: service.spec.version ?? '' }), service]));
    for (const name of before.keys()) if (!this.#remote.has(name)) this.#forget(name);
    // Not for each new status: a message that differs with the endpoint that was asked would have the next check follow at once, without end.
    for (const [name, service] of this.#remote) if (!isSameSpec(before.get(name), service)) this.#check(name, 0);
    this.#describe();
    if (this.#remote.size === 0) this.#unfollow();
    else if (this.#followers.length === 0) this.#follow();
  }

  #forget(name: string): void {
    const check = this.#checks.get(name);
    if (check?.type === 'waiting') check.cancel();
    this.#checks.delete(name);
    this.#found.delete(name);
  }

  /** Follows the Services and their endpoints. */
  #follow(): void {
    const { store, world } = this.#options;
    const prefixes = [this.#resources.require('v1', 'services').prefix, this.#resources.require('discovery.k8s.io/v1', 'endpointslices').prefix];
    this.#followers = prefixes.map((prefix) => {
      const isIn = (key: string, { spec }: RemoteService): boolean => key.startsWith(`${prefix}${spec.service?.namespace ?? ''}/`);
      const follower = new PrefixFollower({
        store,
        timers: world.timers,
        prefix,
        changes: (changes) => {
          for (const [name, service] of this.#remote) if (changes.some(({ key }) => isIn(key, service))) this.#check(name, 0);
        },
      });
      follower.start().catch((error: unknown) => world.log.warn('Services of APIServices are not followed', { prefix, error: String(error) }));
      return follower;
    });
  }

  #unfollow(): void {
    for (const follower of this.#followers) follower.stop();
    this.#followers = [];
  }

  /** Checks the server after `delay`, or earlier if that is planned already. */
  #check(name: string, delay: number, failures = 0): void {
    if (this.#stopped) return;
    const { clock, timers } = this.#options.world;
    const known = this.#checks.get(name);
    if (known?.type === 'running') {
      known.isOutdated = true;
      return;
    }
    const at = clock.now() + delay;
    if (known !== undefined && known.at <= at) return;
    known?.cancel();
    this.#checks.set(name, { type: 'waiting', at, cancel: timers.after(delay, () => void this.#checkNow(name, failures)) });
  }

  async #checkNow(name: string, failures: number): Promise<void> {
    const service = this.#remote.get(name);
    if (service === undefined || this.#stopped) return;
    const check: Check = { type: 'running', isOutdated: false };
    this.#checks.set(name, check);
    const isPassed = await this.#isChecked(name, service);
    // Deleted meanwhile.
    if (this.#checks.get(name) !== check) return;
    this.#checks.delete(name);
    const again = Math.min(CHECK_AGAIN_MS, FIRST_RETRY_MS * 2 ** failures);
    if (check.isOutdated) this.#check(name, FIRST_RETRY_MS);
    else this.#check(name, isPassed ? CHECK_AGAIN_MS : again, isPassed ? 0 : failures + 1);
  }

  /** Resolves with whether the result is stored, and the server answered if it could be asked. */
  async #isChecked(name: string, service: RemoteService): Promise<boolean> {
    try {
      const { availability, found } = await this.#availability(service);
      const current = this.#remote.get(name);
      if (current === undefined || !isSameSpec(current, service)) return false;
      if (found !== undefined && JSON.stringify(found) !== JSON.stringify(this.#found.get(name))) {
        this.#found.set(name, found);
        this.#describe();
      }
      return (await this.#isStored(current, availability)) && availability.reason !== 'FailedDiscoveryCheck';
    } catch (error) {
      this.#options.world.log.warn('an APIService was not checked', { name: service.metadata.name, error: String(error) });
      return false;
    }
  }

  /** The same array if nothing changed. */
  #describe(): void {
    const shown = [...this.#remote].flatMap(([name, service]) => (isAvailable(service) ? (this.#found.get(name) ?? []) : []));
    if (shown.length !== this.#discovered.length || shown.some((each, i) => each !== this.#discovered[i])) this.#discovered = shown;
  }

  /** `found`: what the server serves, if it could be asked. */
  async #availability(service: RemoteService): Promise<{ readonly availability: Availability; readonly found?: DiscoveredVersion }> {
    const { namespace = '', name: serviceName = '' } = service.spec.service ?? {};
    const slices = await this.#reader.list<EndpointSlice>(this.#resources.require('discovery.k8s.io/v1', 'endpointslices'), namespace);
    const refused = unavailability(service, {
      service: await this.#reader.get<Service>(this.#resources.require('v1', 'services'), namespace, serviceName),
      slices: slices.filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === serviceName),
    });
    if (refused !== undefined) return { availability: refused };
    const { group = '', version = '' } = service.spec;
    try {
      const body = await this.#ask(service, `/apis/${group}/${version}`);
      return { availability: passed, found: discoveredVersion({ group, version }, body) };
    } catch (error) {
      const message = `failing or missing response from ${error instanceof Error ? error.message : String(error)}`;
      return { availability: { status: 'False', reason: 'FailedDiscoveryCheck', message } };
    }
  }

  /** @throws Error with the URL */
  async #ask(service: RemoteService, path: string): Promise<Uint8Array> {
    const controller = new AbortController();
    const cancel = this.#options.world.timers.after(CHECK_TIMEOUT_MS, () => controller.abort());
    const { namespace = '', name = '', port } = service.spec.service ?? {};
    let url = `https://${name}.${namespace}.svc${path}`;
    try {
      const address = await this.#services.resolve({ namespace, name, ...(port === undefined ? {} : { port }) });
      url = `https://${address.host}:${address.port}${path}`;
      const call = { service, address, user: aggregator, method: 'GET', path, headers: { accept: 'application/json' }, body: new Uint8Array() };
      const answer = await this.#options.servers.send({ ...call, signal: controller.signal });
      const body = await wholeBody(answer.body, MAX_DOCUMENT);
      if (answer.code < 200 || answer.code >= 300) throw new Error(`bad status: ${answer.code}`);
      return body;
    } catch (error) {
      throw new Error(`${url}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    } finally {
      cancel();
    }
  }

  /** False: the APIService changed meanwhile. */
  async #isStored(service: RemoteService, { status, reason, message }: Availability): Promise<boolean> {
    const old = availableCondition(service);
    if (old?.status === status && old.reason === reason && old.message === message) return true;
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : timestamp(this.#options.world.clock.now());
    const others = (service.status.conditions ?? []).filter(({ type }) => type !== 'Available');
    const object = { ...service, status: { conditions: [...others, { type: 'Available', status, lastTransitionTime, reason, message }] } };
    const info: RequestInfo = resourceRequestInfo('update', apiServiceKind, { name: service.metadata.name, subresource: 'status' });
    const body = { type: 'object', contentType: 'application/json', object: structuredClone(object) } as const;
    try {
      await this.#options.api.handle({ info, query: new URLSearchParams(), user: apiserver, body, userAgent: 'moor/aggregator' });
      return true;
    } catch (error) {
      if (!(error instanceof ApiError && (error.code === 404 || error.code === 409))) throw error;
      return false;
    }
  }
}

const isAvailable = (service: APIService): boolean => availableCondition(service)?.status === 'True';

const isSameSpec = (a: RemoteService | undefined, b: RemoteService): boolean => a?.metadata.uid === b.metadata.uid && sortedJson(a.spec) === sortedJson(b.spec);

function objectOf(body: Uint8Array): object | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString());
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
