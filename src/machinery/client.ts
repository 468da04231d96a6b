import { apiVersionOf, type Kind } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import { ApiError, statusErrors } from '../api/status.ts';
import { type Failure, failure, type Result } from './result.ts';
import type { Answer, Fence, ListMeta, Stream, StreamSink, Transport, TransportRequest } from './transport.ts';

export type { Failure, FailureReason, Result } from './result.ts';
export type { Fence } from './transport.ts';

/**
 * A typed client of any Kubernetes API server.
 *
 *     const found = await client.get(kinds.configMap, { namespace: 'default', name: 'app' });
 *     if (!found.ok && found.reason === 'notFound') …
 *
 * It never throws for what a server answers or fails to answer. Every write that succeeds is shown to the observer
 * before its promise resolves: the caches read their own writes (`cache.ts`).
 */
export interface Client {
  get<T extends KubeObject>(kind: Kind<T>, ref: Ref, options?: GetOptions): Promise<Result<T>>;
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<Result<List<T>>>;
  create<T extends KubeObject>(kind: Kind<T>, object: Draft<T>, options?: WriteOptions): Promise<Result<T>>;
  /** What is created under an object that exists: a Binding, an Eviction, a TokenRequest. */
  createUnder<S extends KubeObject>(kind: Resource, parent: Ref & { readonly subresource: string }, object: Draft<S>): Promise<Result<S>>;
  /** With metadata.resourceVersion: only if nobody else wrote meanwhile. */
  update<T extends KubeObject>(kind: Kind<T>, object: T, options?: UpdateOptions): Promise<Result<T>>;
  updateStatus<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<Result<T>>;
  patch<T extends KubeObject>(kind: Kind<T>, ref: Ref, patch: Patch, options?: UpdateOptions): Promise<Result<T>>;
  delete<T extends KubeObject>(kind: Kind<T>, ref: Ref, options?: DeleteOptions): Promise<Result<Deletion<T>>>;
  deleteCollection<T extends KubeObject>(kind: Kind<T>, selection?: Selection, options?: DeleteOptions): Promise<Result<undefined>>;
  watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions, sink: StreamSink<T>): Stream;
}

/** As much of a kind as addressing it takes. */
export type Resource = Pick<Kind, 'group' | 'version' | 'kind' | 'plural' | 'namespaced'>;

export interface Ref {
  /** Only for namespaced kinds. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface List<T> {
  readonly items: readonly T[];
  readonly metadata: ListMeta;
}

/** An object as one writes it down: what the server fills in may be left out, apiVersion and kind too. */
export type Draft<T> = T extends readonly (infer E)[] ? readonly Draft<E>[] : T extends object ? { readonly [K in keyof T]?: Draft<T[K]> | undefined } : T;

export type Patch =
  | { readonly type: 'merge' | 'strategic'; readonly body: object }
  | { readonly type: 'json'; readonly body: readonly object[] }
  | { readonly type: 'apply'; readonly body: object; readonly fieldManager: string; readonly force?: boolean };

export interface GetOptions {
  readonly resourceVersion?: string;
}

export interface Selection {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selection {
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
}

export interface WatchOptions extends Selection {
  readonly resourceVersion: string;
  readonly timeoutSeconds?: number | undefined;
}

export interface WriteOptions {
  /** Validated and admitted, but not stored; the observer does not see it. */
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
}

export interface UpdateOptions extends WriteOptions {
  /** 'status', 'scale', 'finalize' */
  readonly subresource?: string;
}

export interface DeleteOptions {
  readonly dryRun?: boolean;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
}

/** `pending`: the object waits for its finalizers or its node. */
export type Deletion<T> = { readonly type: 'gone' } | { readonly type: 'pending'; readonly object: T };

/** Sees each successful write. */
export interface WriteObserver {
  written(kind: Resource, object: KubeObject): void;
  removed(kind: Resource, gone: Gone): void;
}

/** The object with this uid no longer exists. */
export interface Gone extends Ref {
  readonly uid: string;
}

export interface ClientOptions {
  readonly transport: Transport;
  readonly observer?: WriteObserver;
  /**
   * Under which every write goes. Absent: none is fenced, as those of plain Kubernetes clients are not. A client belongs to
   * one term of office: there is no way to take the fence away from it, or a deposed leader's last writes would pass.
   */
  readonly fence?: () => Fence;
}

export function createClient(options: ClientOptions): Client {
  const { transport, observer } = options;

  async function write<T extends KubeObject>(kind: Kind<T>, request: TransportRequest, dryRun: boolean | undefined): Promise<Result<T>> {
    const result = expectObject<T>(await transport.send(withFence(request, options.fence?.())));
    if (result.ok && !dryRun && result.value.kind === kind.kind) observe(observer, kind, result.value);
    return result;
  }

  return {
    async get(kind, ref, o = {}) {
      if (!isPathSegment(ref.name)) return failure(statusErrors.notFound(kind, ref.name));
      return expectObject(await transport.send({ method: 'GET', path: pathOf(kind, ref), query: queryOf({ resourceVersion: o.resourceVersion }) }));
    },
    async list(kind, o = {}) {
      const query = queryOf({ ...selectors(o), ...pageOf(o) });
      return expectList(await transport.send({ method: 'GET', path: collectionPath(kind, o.namespace), query }));
    },
    create(kind, object, o = {}) {
      const body = { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
      return write(kind, { method: 'POST', path: collectionPath(kind, object.metadata?.namespace), query: writeQuery(o), body: json(body) }, o.dryRun);
    },
    async createUnder(kind, parent, object) {
      const request: TransportRequest = { method: 'POST', path: subpath(kind, parent, parent.subresource), query: queryOf({}), body: json(object) };
      return expectObject(await transport.send(withFence(request, options.fence?.())));
    },
    update(kind, object, o = {}) {
      const body = { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
      return write(kind, { method: 'PUT', path: subpath(kind, refOf(object), o.subresource), query: writeQuery(o), body: json(body) }, o.dryRun);
    },
    updateStatus(kind, object, o = {}) {
      return this.update(kind, object, { ...o, subresource: 'status' });
    },
    async patch(kind, ref, patch, o = {}) {
      if (!isPathSegment(ref.name)) return failure(statusErrors.notFound(kind, ref.name));
      const query = writeQuery(patch.type === 'apply' ? { ...o, fieldManager: patch.fieldManager } : o);
      if (patch.type === 'apply' && patch.force === true) query.set('force', 'true');
      const body = { contentType: patchTypes[patch.type], object: patch.body };
      return await write(kind, { method: 'PATCH', path: subpath(kind, ref, o.subresource), query, body }, o.dryRun);
    },
    async delete<T extends KubeObject>(kind: Kind<T>, ref: Ref, o: DeleteOptions = {}) {
      if (!isPathSegment(ref.name)) return failure(statusErrors.notFound(kind, ref.name));
      const request: TransportRequest = { method: 'DELETE', path: pathOf(kind, ref), query: writeQuery(o), body: json(deleteBody(o)) };
      const answer = await transport.send(withFence(request, options.fence?.()));
      if (o.dryRun !== true) observeDeletion(answer, { kind, ref, observer });
      return expectDeletion<T>(answer);
    },
    async deleteCollection(kind, selection = {}, o = {}) {
      const query = queryOf(selectors(selection));
      const request: TransportRequest = { method: 'DELETE', path: collectionPath(kind, selection.namespace), query, body: json(deleteBody(o)) };
      const answer = await transport.send(withFence(request, options.fence?.()));
      return failureOf(answer) ?? { ok: true, value: undefined };
    },
    watch<T extends KubeObject>(kind: Kind<T>, o: WatchOptions, sink: StreamSink<T>) {
      const query = queryOf({
        watch: 'true',
        allowWatchBookmarks: 'true',
        ...selectors(o),
        resourceVersion: o.resourceVersion,
        timeoutSeconds: o.timeoutSeconds,
      });
      // The server answers a path of this kind with objects of this kind.
      return transport.watch({ method: 'GET', path: collectionPath(kind, o.namespace), query }, sink);
    },
  };
}

const patchTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const json = (object: unknown) => ({ contentType: 'application/json', object });

/** `exactOptionalPropertyTypes`: an absent fence must not become `fence: undefined`. */
const withFence = (request: TransportRequest, fence: Fence | undefined): TransportRequest => (fence === undefined ? request : { ...request, fence });

export const refOf = (object: KubeObject): Ref => ({ namespace: object.metadata.namespace, name: object.metadata.name ?? '' });

function collectionPath(kind: Resource, namespace: string | undefined): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  return kind.namespaced && namespace !== undefined ? `${root}/namespaces/${namespace}/${kind.plural}` : `${root}/${kind.plural}`;
}

const pathOf = (kind: Resource, ref: Ref) => `${collectionPath(kind, ref.namespace)}/${ref.name}`;

const subpath = (kind: Resource, ref: Ref, subresource: string | undefined) =>
  subresource === undefined ? pathOf(kind, ref) : `${pathOf(kind, ref)}/${subresource}`;

/** Names come from owner references, which nobody checks: '../x' must not become another path. No object has such a name. */
const isPathSegment = (name: string) => name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name);

function queryOf(parameters: Readonly<Record<string, string | number | undefined>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  return query;
}

const selectors = (o: Selection) => ({ labelSelector: o.labelSelector, fieldSelector: o.fieldSelector });

const pageOf = (o: ListOptions) => ({
  limit: o.limit,
  continue: o.continue,
  resourceVersion: o.resourceVersion,
  resourceVersionMatch: o.resourceVersionMatch,
});

const writeQuery = (o: WriteOptions) => queryOf({ dryRun: o.dryRun === true ? 'All' : undefined, fieldManager: o.fieldManager });

const deleteBody = (o: DeleteOptions) => ({
  kind: 'DeleteOptions',
  apiVersion: 'v1',
  ...(o.preconditions === undefined ? {} : { preconditions: o.preconditions }),
  ...(o.propagation === undefined ? {} : { propagationPolicy: o.propagation }),
  ...(o.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: o.gracePeriodSeconds }),
  ...(o.dryRun === true ? { dryRun: ['All'] } : {}),
});

function failureOf(answer: Answer): Failure | undefined {
  if (answer.type === 'failed') return failure(answer.error);
  if (answer.type === 'unreachable') return { ok: false, reason: 'unreachable', error: answer.error };
  return undefined;
}

const unexpected = (answer: Answer): Failure => failure(new ApiError(500, 'InternalError', `the server answered with a ${answer.type} that was not asked for`));

function expectObject<T extends KubeObject>(answer: Answer): Result<T> {
  if (answer.type === 'object') return { ok: true, value: answer.object as T };
  return failureOf(answer) ?? unexpected(answer);
}

function expectList<T extends KubeObject>(answer: Answer): Result<List<T>> {
  if (answer.type === 'list') return { ok: true, value: { items: answer.items as readonly T[], metadata: answer.metadata } };
  return failureOf(answer) ?? unexpected(answer);
}

function expectDeletion<T extends KubeObject>(answer: Answer): Result<Deletion<T>> {
  if (answer.type === 'status') return { ok: true, value: { type: 'gone' } };
  if (answer.type !== 'object') return failureOf(answer) ?? unexpected(answer);
  const object = answer.object as T;
  return { ok: true, value: outlivesDeletion(object) ? { type: 'pending', object } : { type: 'gone' } };
}

function observe(observer: WriteObserver | undefined, kind: Resource, object: KubeObject): void {
  const { uid, deletionTimestamp } = object.metadata;
  // The update that took the last finalizer away has removed the object, although it was answered with it.
  if (deletionTimestamp === undefined || outlivesDeletion(object)) observer?.written(kind, object);
  else if (uid !== undefined) observer?.removed(kind, { ...refOf(object), uid });
}

function observeDeletion(answer: Answer, o: { kind: Resource; ref: Ref; observer: WriteObserver | undefined }): void {
  if (answer.type === 'status') {
    const uid = answer.status.details?.uid;
    if (uid !== undefined) o.observer?.removed(o.kind, { ...o.ref, uid });
  } else if (answer.type === 'object') {
    const { uid } = answer.object.metadata;
    if (outlivesDeletion(answer.object)) o.observer?.written(o.kind, answer.object);
    else if (uid !== undefined) o.observer?.removed(o.kind, { ...o.ref, uid });
  }
}

/** Whether an object that was asked to go still exists: something has to happen first. Else the server removed it in the same step. */
function outlivesDeletion(object: KubeObject & { spec?: { finalizers?: readonly string[] } }): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (deletionTimestamp === undefined) return false;
  const ofNamespace = object.kind === 'Namespace' ? (object.spec?.finalizers?.length ?? 0) : 0;
  return (finalizers?.length ?? 0) > 0 || (deletionGracePeriodSeconds ?? 0) > 0 || ofNamespace > 0;
}
