import type { APIService, EndpointSlice, Service } from '../../api/generated/types.ts';
import { apiVersionOf, type Kind } from '../../api/kind.ts';
import { apiServiceKind, availableCondition } from '../../api/kinds/apiregistration/api-service.ts';
import { type RequestInfo, resourceRequestInfo } from '../../api/request-info.ts';
import { ApiError } from '../../api/status.ts';
import type { Stored } from '../../api/stored.ts';
import type { Store, Watch } from '../../store/contract.ts';
import type { Cancel, World } from '../../world/world.ts';
import { ServiceResolver } from '../admission/webhooks/service-resolver.ts';
import type { Api, User } from '../api.ts';
import type { DiscoveredVersion } from '../discovery/resources.ts';
import { ClusterReader } from '../objects/cluster-reader.ts';
import { timestamp } from '../objects/metadata.ts';
import { Resources } from '../objects/resources.ts';
import { StoreInformer } from '../objects/store-informer.ts';
import { type Availability, passed, unavailability } from './availability.ts';
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
  #discovered: readonly DiscoveredVersion[] = [];
  readonly #checks = new Map<string, { readonly cancel: Cancel; readonly failures: number }>();
  #watches: Watch[] = [];
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
    for (const { cancel } of this.#checks.values()) cancel();
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
    if (service === undefined) return undefined;
    const body = await this.#ask(service, `/openapi/v3/${groupVersion}`).catch(() => undefined);
    return body === undefined ? undefined : objectOf(body);
  }

  /** The OpenAPI v2 documents of the servers, each whole. */
  async openApiV2(): Promise<readonly object[]> {
    const documents = await Promise.all([...this.#remote.values()].map((service) => this.#ask(service, '/openapi/v2').catch(() => undefined)));
    return documents.flatMap((body) => (body === undefined ? [] : [objectOf(body)])).filter((document) => document !== undefined);
  }

  #changed(services: readonly RemoteService[]): void {
    const before = this.#remote;
    const remote = services.filter(({ spec }) => spec.service !== undefined);
    this.#remote = new Map(remote.map((service) => [apiVersionOf({ group: service.spec.group ?? '', version: service.spec.version ?? '' }), service]));
    this.#discovered = this.#discovered.filter((version) => isAvailable(this.#remote.get(apiVersionOf(version))));
    for (const [name, { cancel }] of this.#checks) {
      if (this.#remote.has(name)) continue;
      cancel();
      this.#checks.delete(name);
    }
    for (const [name, service] of this.#remote) if (before.get(name)?.metadata.resourceVersion !== service.metadata.resourceVersion) this.#check(name, 0);
    if (this.#remote.size === 0) this.#unfollow();
    else if (this.#watches.length === 0) this.#follow();
  }

  /** A Service or its endpoints changed. */
  #follow(): void {
    const { store } = this.#options;
    const after = store.revision();
    const checkAll = (): void => {
      for (const name of this.#remote.keys()) this.#check(name, 0);
    };
    const prefixes = [this.#resources.require('v1', 'services').prefix, this.#resources.require('discovery.k8s.io/v1', 'endpointslices').prefix];
    this.#watches = prefixes.map((prefix) =>
      store.watch(
        { prefix, after },
        {
          changes: (_, changes) => {
            for (const [name, { spec }] of this.#remote) {
              if (changes.some(({ key }) => key.startsWith(`${prefix}${spec.service?.namespace ?? ''}/`))) this.#check(name, 0);
            }
          },
          // Where events were lost, the next periodic check finds what changed.
          end: () => {
            this.#watches = [];
            checkAll();
          },
        },
      ),
    );
  }

  #unfollow(): void {
    for (const watch of this.#watches) watch.stop();
    this.#watches = [];
  }

  /** Checks the server soon; `delay`: not before. */
  #check(name: string, delay: number, failures = 0): void {
    this.#checks.get(name)?.cancel();
    if (this.#stopped) return;
    const cancel = this.#options.world.timers.after(delay, () => void this.#checkNow(name, failures));
    this.#checks.set(name, { cancel, failures });
  }

  async #checkNow(name: string, failures: number): Promise<void> {
    const service = this.#remote.get(name);
    if (service === undefined || this.#stopped) return;
    try {
      const availability = await this.#availability(name, service);
      if (this.#remote.get(name) !== service) return;
      await this.#store(service, availability);
      const isFailed = availability.reason === 'FailedDiscoveryCheck';
      this.#check(name, isFailed ? Math.min(CHECK_AGAIN_MS, FIRST_RETRY_MS * 2 ** failures) : CHECK_AGAIN_MS, isFailed ? failures + 1 : 0);
    } catch (error) {
      this.#options.world.log.warn('an APIService was not checked', { name: service.metadata.name, error: String(error) });
      this.#check(name, Math.min(CHECK_AGAIN_MS, FIRST_RETRY_MS * 2 ** failures), failures + 1);
    }
  }

  async #availability(name: string, service: RemoteService): Promise<Availability> {
    const { namespace = '', name: serviceName = '' } = service.spec.service ?? {};
    const slices = await this.#reader.list<EndpointSlice>(this.#resources.require('discovery.k8s.io/v1', 'endpointslices'), namespace);
    const refused = unavailability(service, {
      service: await this.#reader.get<Service>(this.#resources.require('v1', 'services'), namespace, serviceName),
      slices: slices.filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === serviceName),
    });
    if (refused !== undefined) return refused;
    const { group = '', version = '' } = service.spec;
    try {
      const body = await this.#ask(service, `/apis/${group}/${version}`);
      this.#discover(name, discoveredVersion({ group, version }, body));
      return passed;
    } catch (error) {
      return {
        status: 'False',
        reason: 'FailedDiscoveryCheck',
        message: `failing or missing response from ${error instanceof Error ? error.message : String(error)}`,
      };
    }
  }

  #discover(name: string, found: DiscoveredVersion): void {
    const before = this.#discovered.find((each) => apiVersionOf(each) === name);
    if (JSON.stringify(before) === JSON.stringify(found)) return;
    this.#discovered = [...this.#discovered.filter((each) => each !== before), found];
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

  async #store(service: RemoteService, { status, reason, message }: Availability): Promise<void> {
    const old = availableCondition(service);
    if (old?.status === status && old.reason === reason && old.message === message) return;
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : timestamp(this.#options.world.clock.now());
    const others = (service.status.conditions ?? []).filter(({ type }) => type !== 'Available');
    const object = { ...service, status: { conditions: [...others, { type: 'Available', status, lastTransitionTime, reason, message }] } };
    const info: RequestInfo = resourceRequestInfo('update', apiServiceKind, { name: service.metadata.name, subresource: 'status' });
    const body = { type: 'object', contentType: 'application/json', object: structuredClone(object) } as const;
    try {
      await this.#options.api.handle({ info, query: new URLSearchParams(), user: apiserver, body, userAgent: 'moor/aggregator' });
    } catch (error) {
      // Changed or deleted since: the change is checked by itself.
      if (!(error instanceof ApiError && (error.code === 404 || error.code === 409))) throw error;
    }
  }
}

export const isAvailable = (service: APIService | undefined): boolean => service !== undefined && availableCondition(service)?.status === 'True';

function objectOf(body: Uint8Array): object | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString());
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
