/**
 * `mooring.dev/v1` explanations (docs/EXTENSIONS.md): the answers of `moor why`, computed for each request from what the caller may read. Nothing is
 * stored.
 *
 *     GET /apis/mooring.dev/v1/namespaces/shop/explanations/pvc.data     why the claim is as it is
 *     GET /apis/mooring.dev/v1/explanations                             everything that is stuck, the worst first, and then what waits
 *
 * Explanations of objects without a namespace are in namespace default, as their Events are.
 */
import { apiVersionOf } from '../../api/kind.ts';
import { explanationKind } from '../../api/kinds/mooring/explanation.ts';
import type { KubeObject } from '../../api/object.ts';
import { ApiError, statusErrors } from '../../api/status.ts';
import type { Api, ApiRequest, ApiResponse } from '../../apiserver/api.ts';
import { authorizedApi } from '../../apiserver/authorization/authorized-api.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import type { ReadOnlyResource } from '../../apiserver/registry/dispatch.ts';
import { type Client, createClient } from '../../client/client.ts';
import { explain } from '../../why/explain.ts';
import type { ObjectExplanation, UnreadResource } from '../../why/explanation/explanation.ts';
import { parseTarget, type Target } from '../../why/explanation/target.ts';
import { explainEach, sortedOverview } from '../../why/overview.ts';
import { ClusterError, ClusterUnreachable } from '../../why/reading/cluster-reader.ts';
import { readEverything, readObjects } from '../../why/reading/read-objects.ts';
import type { Clock, World } from '../../world/world.ts';
import { createInProcessTransport } from '../access/in-process-transport.ts';

export interface ExplanationsOptions {
  /** With the rights of the caller: what it may not read is unseen. */
  readonly clientOf: (request: ApiRequest) => Client;
  readonly world: Pick<World, 'clock' | 'timers'>;
}

/** What `clientOf` is in the server's own process. */
export const clientOfCaller =
  (api: () => Api, authorizer: Authorizer) =>
  ({ user, userAgent }: ApiRequest): Client =>
    createClient({ transport: createInProcessTransport(authorizedApi(api(), authorizer), user, userAgent) });

export function explanations({ clientOf, world }: ExplanationsOptions): ReadOnlyResource {
  const recent = new RecentLists(world.clock);
  const reading = (request: ApiRequest) => ({ client: clientOf(request), now: world.clock.now() });
  return {
    kind: explanationKind,
    async get(request, { namespace, name }) {
      const target = targetOf(namespace, name);
      if (target === undefined) throw statusErrors.notFound(explanationKind, name);
      const options = reading(request);
      const { unseen, asOf, ...explained } = explain(target, await refusing(readObjects(target, options)), options.now);
      if (explained.verdict === 'absent')
        throw new ApiError(404, 'NotFound', explained.summary, { name, group: explanationKind.group, kind: explanationKind.plural });
      return plain(objectOf(explained, { unseen, asOf }));
    },
    async list(request, { namespace }) {
      refuseSelectors(request.query);
      return recent.get(request, namespace, () => overview(request, namespace));
    },
  };

  async function overview(request: ApiRequest, namespace: string): Promise<ApiResponse> {
    const options = reading(request);
    const objects = await refusing(readEverything(options, namespace === '' ? undefined : namespace));
    const explained: ObjectExplanation[] = [];
    for (const each of explainEach(objects, options.now)) {
      explained.push(each);
      // Other requests are answered in between.
      if (explained.length % stepsPerTurn === 0) await new Promise<void>((resolve) => world.timers.soon(resolve));
    }
    const { stuck, waiting, unseen } = sortedOverview(explained, objects, options.now);
    const items = [...stuck, ...waiting].map((each) => objectOf(each)).filter(({ metadata }) => namespace === '' || metadata.namespace === namespace);
    return plain({ apiVersion: apiVersionOf(explanationKind), kind: `${explanationKind.kind}List`, metadata: {}, unseen, items } as KubeObject);
  }
}

/**
 * Lists that were made lately, for callers who take any (`resourceVersion=0`, as of a Kubernetes server's cache): the open pages of one user share them.
 * Each user has its own.
 */
class RecentLists {
  readonly #clock: Clock;
  readonly #lists = new Map<string, { readonly list: Promise<ApiResponse>; readonly expiresAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get({ user, query }: ApiRequest, namespace: string, make: () => Promise<ApiResponse>): Promise<ApiResponse> {
    if (query.get('resourceVersion') !== '0') return make();
    const key = JSON.stringify([namespace, user.name, user.groups, user.uid, user.extra]);
    const known = this.#lists.get(key);
    const now = this.#clock.monotonic();
    if (known !== undefined && now < known.expiresAt) return known.list;
    const list = make();
    this.#lists.delete(key);
    this.#lists.set(key, { list, expiresAt: now + recentMs });
    list.catch(() => this.#lists.delete(key));
    for (const oldest of this.#lists.keys()) {
      if (this.#lists.size <= mostRecentLists) break;
      this.#lists.delete(oldest);
    }
    return list;
  }
}

const recentMs = 2_000;
const mostRecentLists = 50;

const stepsPerTurn = 50;
const namespaceOfOthers = 'default';

/** 'pvc.data' in namespace shop; undefined: there can be no such object. */
function targetOf(namespace: string, name: string): Target | undefined {
  const dot = name.indexOf('.');
  const target = dot < 0 ? 'none' : parseTarget([name.slice(0, dot), name.slice(dot + 1)], namespace);
  return typeof target === 'string' || (target.namespace === undefined && namespace !== namespaceOfOthers) ? undefined : target;
}

function objectOf({ about, since, ...status }: ObjectExplanation, more: { readonly asOf?: string; readonly unseen?: readonly UnreadResource[] } = {}) {
  return {
    apiVersion: apiVersionOf(explanationKind),
    kind: explanationKind.kind,
    metadata: {
      name: `${about.kind}.${about.name}`,
      namespace: about.namespace ?? namespaceOfOthers,
      // kubectl shows it as AGE: since when the object is in its state.
      ...(since === null ? {} : { creationTimestamp: since }),
    },
    spec: about,
    status: { ...status, since, ...more },
  };
}

/** An explanation has no labels, and its fields are not selectable. @throws ApiError 400 */
function refuseSelectors(query: URLSearchParams): void {
  for (const name of ['labelSelector', 'fieldSelector'] as const) {
    if ((query.get(name) ?? '') !== '')
      throw statusErrors.badRequest(`${name} is not supported for explanations: they are computed; list them all, and select from that`);
  }
}

async function refusing<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ClusterUnreachable) throw new ApiError(503, 'ServiceUnavailable', error.message);
    if (error instanceof ClusterError) throw new ApiError(403, 'Forbidden', error.message, { group: explanationKind.group, kind: explanationKind.plural });
    throw error;
  }
}

const plain = (object: KubeObject): ApiResponse => ({ type: 'plain', code: 200, object: Object.freeze(object), warnings: [] });
