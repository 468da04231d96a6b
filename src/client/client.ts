import { apiVersionOf, type Kind } from '../api/kind.ts';
import { type VolumeBinding, volumeBindingKind } from '../api/kinds/mooring/volume-binding.ts';
import { persistentVolumeClaimKind } from '../api/kinds/core/persistent-volume-claim.ts';
import { volumeIntentKind } from '../api/kinds/mooring/volume-intent.ts';
import { persistentVolumeKind } from '../api/kinds/core/persistent-volume.ts';
import type { KubeObject } from '../api/object.ts';
import { type RequestInfo, resourceRequestInfo } from '../api/request-info.ts';
import type { Stored } from '../api/stored.ts';
import { ApiError, statusErrors } from '../api/status.ts';
import { type Failure, failure, type Result } from './result.ts';
import type { Answer, Fence, ListMeta, Stream, StreamSink, Transport, TransportRequest } from './transport.ts';

export type { Result } from './result.ts';
export type { Fence } from './transport.ts';

/** The part of a kind that is needed to address it. */
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

/** An object as a client creates it: the fields that the server fills in may be left out, apiVersion and kind too. */
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

export type VolumeClaimPair = Pick<VolumeBinding, 'volume' | 'claim'>;

/** With an intent, the volume is a new one, and the intent is deleted. */
export type VolumeClaimBinding = Readonly<Pick<VolumeBinding, 'volume' | 'claim' | 'intent'>>;

/** Discovery's answer about one version of a group. */
interface ResourceList extends KubeObject {
  readonly resources?: readonly { readonly name: string }[];
}

/** `pending`: the object waits for its finalizers or its node. */
export type Deletion<T> = { readonly type: 'gone' } | { readonly type: 'pending'; readonly object: T };

/** Sees each successful write. */
export interface WriteObserver {
  written(kind: Resource, object: Stored): void;
  removed(kind: Resource, gone: DeletedObject): void;
}

/** The object with this uid no longer exists. */
export interface DeletedObject extends Ref {
  readonly uid: string;
}

export interface ClientOptions {
  readonly transport: Transport;
  readonly observer?: WriteObserver;
  /**
   * The fence of every write. Absent: writes are not fenced, as those of plain Kubernetes clients are not. A client belongs to one
   * leader term: the fence cannot be taken away from it, or a deposed leader's last writes would pass.
   */
  readonly fence?: () => Fence;
}

/**
 * A typed client of any Kubernetes API server.
 *
 *     const found = await client.get(configMapKind, { namespace: 'default', name: 'app' });
 *     if (!found.ok && found.reason === 'notFound') …
 *
 * It never throws because of an answer, or because there was none. The observer sees every successful write before its promise
 * resolves: the caches read their own writes (`informers/cache.ts`).
 */
export class Client {
  readonly #transport: Transport;
  readonly #observer: WriteObserver | undefined;
  readonly #fence: (() => Fence) | undefined;

  constructor(options: ClientOptions) {
    this.#transport = options.transport;
    this.#observer = options.observer;
    this.#fence = options.fence;
  }

  async get<T extends KubeObject>(kind: Kind<T>, ref: Ref, options: GetOptions = {}): Promise<Result<Stored<T>>> {
    if (!isPathSegment(ref.name)) return failure(statusErrors.notFound(kind, ref.name));
    const query = queryOf({ resourceVersion: options.resourceVersion });
    return expectObject(await this.#transport.send({ info: resourceRequestInfo('get', kind, ref), query }));
  }

  /** One page, or everything if there is no limit. */
  async list<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): Promise<Result<List<Stored<T>>>> {
    const query = queryOf({ ...selectors(options), ...pageOf(options) });
    return expectList(await this.#transport.send({ info: resourceRequestInfo('list', kind, options), query }));
  }

  watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions, sink: StreamSink<Stored<T>>): Stream {
    const { resourceVersion, timeoutSeconds } = options;
    const query = queryOf({ watch: 'true', allowWatchBookmarks: 'true', ...selectors(options), resourceVersion, timeoutSeconds });
    return this.#transport.watch({ info: resourceRequestInfo('watch', kind, options), query }, sink);
  }

  create<T extends KubeObject>(kind: Kind<T>, object: Draft<T>, options: WriteOptions = {}): Promise<Result<Stored<T>>> {
    const info = resourceRequestInfo('create', kind, { namespace: object.metadata?.namespace });
    return this.#write(kind, { info, query: writeQuery(options), body: json({ ...object, ...typeOf(kind) }) }, options);
  }

  /** Creates a subresource of an existing object, which the server answers with: a TokenRequest. */
  async createSubresource<S extends KubeObject>(kind: Resource, parent: Ref & { readonly subresource: string }, object: Draft<S>): Promise<Result<S>> {
    return expectObject(await this.#send({ info: resourceRequestInfo('create', kind, parent), query: queryOf({}), body: json(object) }));
  }

  /** The same, where the answer is a Status: a Binding, an Eviction. */
  async postSubresource<S extends KubeObject>(kind: Resource, parent: Ref & { readonly subresource: string }, object: Draft<S>): Promise<Result<undefined>> {
    const answer = await this.#send({ info: resourceRequestInfo('create', kind, parent), query: queryOf({}), body: json(object) });
    return failureOf(answer) ?? { ok: true, value: undefined };
  }

  /** Creates an object that the server answers and does not store: a SubjectAccessReview. */
  async createReview<Q extends KubeObject>(kind: Resource, question: Draft<Q>): Promise<Result<Q>> {
    const body = json({ ...question, ...typeOf(kind) });
    return expectObject(await this.#transport.send({ info: resourceRequestInfo('create', kind, {}), query: queryOf({}), body }));
  }

  /** With metadata.resourceVersion: only if there was no other write meanwhile. */
  update<T extends KubeObject>(kind: Kind<T>, object: T, options: UpdateOptions = {}): Promise<Result<Stored<T>>> {
    const info = resourceRequestInfo('update', kind, { ...refOf(object), subresource: options.subresource });
    return this.#write(kind, { info, query: writeQuery(options), body: json({ ...object, ...typeOf(kind) }) }, options);
  }

  updateStatus<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<Result<Stored<T>>> {
    return this.update(kind, object, { ...options, subresource: 'status' });
  }

  /** A volume and its claim, specs and statuses, in one transaction. Only Mooring's own server can: ask `bindsTogether` first. */
  async bindTogether({ volume, claim, intent }: VolumeClaimBinding, options: WriteOptions = {}): Promise<Result<VolumeClaimPair>> {
    const body = json({ ...typeOf(volumeBindingKind), volume, claim, ...(intent === undefined ? {} : { intent }) });
    const result = expectObject<VolumeBinding>(
      await this.#send({ info: resourceRequestInfo('create', volumeBindingKind, {}), query: writeQuery(options), body }),
    );
    if (!result.ok || options.dryRun === true) return result;
    observe(this.#observer, persistentVolumeKind, result.value.volume);
    observe(this.#observer, persistentVolumeClaimKind, result.value.claim);
    if (intent !== undefined) this.#observer?.removed(volumeIntentKind, intent);
    return result;
  }

  /** Whether the server has `bindTogether`: no other Kubernetes API server does, nor ours under `--plain`. */
  async bindsTogether(): Promise<Result<boolean>> {
    const { group, version, plural } = volumeBindingKind;
    const info: RequestInfo = { type: 'path', verb: 'get', path: `/apis/${group}/${version}` };
    const found = expectObject<ResourceList>(await this.#transport.send({ info, query: queryOf({}) }));
    if (!found.ok) return found.reason === 'notFound' ? { ok: true, value: false } : found;
    return { ok: true, value: found.value.resources?.some(({ name }) => name === plural) ?? false };
  }

  async patch<T extends KubeObject>(kind: Kind<T>, ref: Ref, patch: Patch, options: UpdateOptions = {}): Promise<Result<Stored<T>>> {
    if (!isPathSegment(ref.name)) return failure(statusErrors.notFound(kind, ref.name));
    const query = writeQuery(patch.type === 'apply' ? { ...options, fieldManager: patch.fieldManager } : options);
    if (patch.type === 'apply' && patch.force === true) query.set('force', 'true');
    const body = { contentType: patchTypes[patch.type], object: patch.body };
    const info = resourceRequestInfo('patch', kind, { ...ref, subresource: options.subresource });
    return await this.#write(kind, { info, query, body }, options);
  }

  async delete<T extends KubeObject>(kind: Kind<T>, ref: Ref, options: DeleteOptions = {}): Promise<Result<Deletion<Stored<T>>>> {
    if (!isPathSegment(ref.name)) return failure(statusErrors.notFound(kind, ref.name));
    const answer = await this.#send({ info: resourceRequestInfo('delete', kind, ref), query: writeQuery(options), body: json(deleteBody(options)) });
    if (options.dryRun !== true) observeDeletion(answer, { kind, ref, observer: this.#observer });
    return expectDeletion<Stored<T>>(answer);
  }

  async deleteCollection<T extends KubeObject>(kind: Kind<T>, selection: Selection = {}, options: DeleteOptions = {}): Promise<Result<undefined>> {
    const info = resourceRequestInfo('deletecollection', kind, selection);
    const answer = await this.#send({ info, query: queryOf(selectors(selection)), body: json(deleteBody(options)) });
    return failureOf(answer) ?? { ok: true, value: undefined };
  }

  async #write<T extends KubeObject>(kind: Kind<T>, request: TransportRequest, options: WriteOptions): Promise<Result<Stored<T>>> {
    const result = expectObject<Stored<T>>(await this.#send(request));
    // A subresource may be answered with something else: a Scale.
    if (result.ok && options.dryRun !== true && result.value.kind === kind.kind) observe(this.#observer, kind, result.value);
    return result;
  }

  #send(request: TransportRequest): Promise<Answer> {
    return this.#transport.send(this.#fence === undefined ? request : { ...request, fence: this.#fence() });
  }
}

export const createClient = (options: ClientOptions): Client => new Client(options);

const patchTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const json = (object: unknown) => ({ contentType: 'application/json', object });

const typeOf = (kind: Resource) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind });

export const refOf = (object: KubeObject): Ref => ({ namespace: object.metadata.namespace, name: object.metadata.name ?? '' });

/** Names come from owner references, which are not validated: '../x' must not become another path. No object has such a name. */
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
  // The update that removed the last finalizer also removed the object, although the server answered with the object.
  if (deletionTimestamp === undefined || outlivesDeletion(object)) observer?.written(kind, object as Stored);
  else if (uid !== undefined) observer?.removed(kind, { ...refOf(object), uid });
}

function observeDeletion(answer: Answer, o: { kind: Resource; ref: Ref; observer: WriteObserver | undefined }): void {
  if (answer.type === 'status') {
    const uid = answer.status.details?.uid;
    if (uid !== undefined) o.observer?.removed(o.kind, { ...o.ref, uid });
  } else if (answer.type === 'object') {
    const { uid } = answer.object.metadata;
    if (outlivesDeletion(answer.object)) o.observer?.written(o.kind, answer.object as Stored);
    else if (uid !== undefined) o.observer?.removed(o.kind, { ...o.ref, uid });
  }
}

/** Whether an object with a deletionTimestamp still exists, because of finalizers or a grace period. Else the server removed it in the same step. */
function outlivesDeletion(object: KubeObject & { spec?: { finalizers?: readonly string[] } }): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (deletionTimestamp === undefined) return false;
  const ofNamespace = object.kind === 'Namespace' ? (object.spec?.finalizers?.length ?? 0) : 0;
  return (finalizers?.length ?? 0) > 0 || (deletionGracePeriodSeconds ?? 0) > 0 || ofNamespace > 0;
}
