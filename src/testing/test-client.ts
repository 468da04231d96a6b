import type { KubeObject } from '../api/object.ts';
import { resourceRequestInfo } from '../api/request-info.ts';
import type { Stored } from '../api/stored.ts';
import type { Client, DeleteOptions, Draft, Patch, Result } from '../client/client.ts';
import { durationOf } from '../sim/scenario/language/duration.ts';
import type { Reference } from '../sim/scenario/language/reference.ts';
import { clientOf, type ClusterConnection, kindOfObject, resolveKind, resolveReference } from './connection.ts';
import type { ObjectFor, ObjectOfKind, ObjectRef } from './kind-types.ts';
import { readManifest } from './manifests.ts';
import { checkOfPhrase, currentObject, explanationOf, waitUntil } from './wait.ts';
import { ObjectWatch } from './object-watch.ts';

export interface SelectOptions {
  /** Default: the client's own namespace. '': all of them. */
  readonly namespace?: string;
  /** 'app=db,tier!=test' */
  readonly labelSelector?: string;
  /** 'spec.nodeName=node-1' */
  readonly fieldSelector?: string;
}

export interface WaitOptions {
  /** '90s', '10m', '1h30m'. Default: 10m. */
  readonly timeout?: string;
}

/** The name under which `apply` owns fields. */
const fieldManager = 'mooring-testing';
const usualTimeout = '10m';

/**
 * A client for tests, in one namespace. Objects are named as for kubectl, and have the types of their kinds; a request that the server refuses throws
 * its error, an `ApiError` with Kubernetes' code, reason and message.
 *
 * @example
 * await cluster.apply(`
 *   apiVersion: v1
 *   kind: PersistentVolumeClaim
 *   metadata: { name: data }
 *   spec: { accessModes: [ReadWriteOnce], storageClassName: immediate, resources: { requests: { storage: 1Gi } } }`);
 * const claim = await cluster.waitFor('pvc/data', 'is Bound');
 * claim.spec.volumeName;                                  // typed: a PersistentVolumeClaim
 */
export class TestClient {
  /** Where namespaced objects are, unless a reference names another namespace: 'pvc/data -n shop'. */
  readonly namespaceName: string;
  readonly #connection: ClusterConnection;

  /** @internal */
  constructor(connection: ClusterConnection, namespace: string) {
    this.#connection = connection;
    this.namespaceName = namespace;
  }

  /**
   * Creates or changes objects, as `kubectl apply --server-side` does: of a manifest in YAML, or one object.
   *
   * @example
   * const [claim, pod] = await cluster.apply(readFileSync('app.yaml', 'utf8'));
   * const map = await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { level: 'debug' } });
   */
  async apply(manifest: string): Promise<readonly Stored[]>;
  async apply<T extends Draft<KubeObject> & Pick<KubeObject, 'apiVersion' | 'kind'>>(object: T): Promise<Stored<T & KubeObject>>;
  async apply(manifest: string | KubeObject): Promise<readonly Stored[] | Stored> {
    if (typeof manifest !== 'string') return await this.#applyOne(manifest);
    const applied: Stored[] = [];
    for (const object of readManifest(manifest)) applied.push(await this.#applyOne(object));
    return applied;
  }

  async #applyOne(object: KubeObject): Promise<Stored> {
    const kind = await kindOfObject(this.#connection, object);
    await this.#connection.prepare(kind);
    const { name } = object.metadata;
    const place = kind.namespaced ? { namespace: object.metadata.namespace ?? this.namespaceName } : {};
    const body = { ...object, metadata: { ...object.metadata, ...place } };
    // Without a name the server generates one, which only a create can.
    const info = name === undefined ? resourceRequestInfo('create', kind, place) : resourceRequestInfo('patch', kind, { ...place, name });
    const query = new URLSearchParams({ fieldManager, fieldValidation: 'Strict', ...(name === undefined ? {} : { force: 'true' }) });
    const contentType = name === undefined ? 'application/json' : 'application/apply-patch+yaml';
    const answer = await this.#connection.run(() => this.#connection.transport.send({ info, query, body: { contentType, object: body } }));
    if (answer.type === 'object') return answer.object as Stored;
    throw answer.type === 'failed' || answer.type === 'unreachable' ? answer.error : new Error(`the server answered with a ${answer.type}`);
  }

  /**
   * @throws ApiError 404 if there is no such object
   * @example
   * const { spec } = await cluster.get('pvc/data');         // a PersistentVolumeClaim
   * await cluster.get('node/node-1');
   */
  async get<R extends ObjectRef>(ref: R): Promise<ObjectFor<R>> {
    return (await this.#on(ref, (client, { kind, ...object }) => client.get(kind, placed(object)))) as ObjectFor<R>;
  }

  /**
   * The same; undefined if there is no such object.
   * @example
   * expect(await cluster.find('pod/db-3')).toBeUndefined();
   */
  async find<R extends ObjectRef>(ref: R): Promise<ObjectFor<R> | undefined> {
    const reference = await resolveReference(this.#connection, ref, this.namespaceName);
    const { kind, ...object } = reference;
    const found = await this.#connection.run(() => this.#client.get(kind, placed(object)));
    return !found.ok && found.reason === 'notFound' ? undefined : (valueOf(found) as ObjectFor<R>);
  }

  /**
   * @example
   * const pods = await cluster.list('pods', { labelSelector: 'app=db' });
   * const everywhere = await cluster.list('pvc', { namespace: '' });
   */
  async list<W extends string>(kind: W, { namespace = this.namespaceName, ...selectors }: SelectOptions = {}): Promise<readonly ObjectOfKind<W>[]> {
    const resolved = await resolveKind(this.#connection, kind);
    const place = resolved.namespaced && namespace !== '' ? { namespace } : {};
    const listed = valueOf(await this.#connection.run(() => this.#client.list(resolved, { ...selectors, ...place })));
    return listed.items as unknown as readonly ObjectOfKind<W>[];
  }

  /**
   * The changes of objects from now on. It ends when nothing has changed for `timeout` (default: 10m).
   * @example
   * for await (const { type, object } of await cluster.watch('pods')) {
   *   if (object.status.phase === 'Running') break;
   * }
   */
  async watch<W extends string>(kind: W, options: SelectOptions & WaitOptions = {}): Promise<ObjectWatch<ObjectOfKind<W>>> {
    const { namespace = this.namespaceName, timeout = usualTimeout, ...selectors } = options;
    const resolved = await resolveKind(this.#connection, kind);
    const place = resolved.namespaced && namespace !== '' ? { namespace } : {};
    return await ObjectWatch.open<ObjectOfKind<W>>(this.#connection, { kind: resolved, selection: { ...selectors, ...place }, timeoutMs: durationOf(timeout) });
  }

  /**
   * A merge patch (RFC 7386), or another patch of Kubernetes.
   * @example
   * await cluster.patch('sts/db', { spec: { replicas: 5 } });
   * await cluster.patch('pod/db-0', { type: 'json', body: [{ op: 'add', path: '/metadata/labels/seen', value: 'yes' }] });
   */
  async patch<R extends ObjectRef>(ref: R, patch: Patch | object, options: { readonly subresource?: string } = {}): Promise<ObjectFor<R>> {
    const meant: Patch = isPatch(patch) ? patch : { type: 'merge', body: patch };
    return (await this.#on(ref, (client, { kind, ...object }) => client.patch(kind, placed(object), meant, { fieldManager, ...options }))) as ObjectFor<R>;
  }

  /**
   * Asks the server to delete the object; finalizers and grace periods take their time: `waitUntilGone` waits for them.
   * @example
   * await cluster.delete('pod/db-0', { gracePeriodSeconds: 0 });
   * await cluster.delete('sts/db', { propagation: 'Foreground' });
   */
  async delete(ref: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    await this.#on(ref, (client, { kind, ...object }) => client.delete(kind, placed(object), options));
  }

  /**
   * Waits until the condition holds: a phrase about the object (the statements of docs/SIMULATE.md), or a function of the object, which is called again
   * after each change. Resolves with the object.
   *
   * @throws WaitError, with the words of `moor why`, if it does not hold in time
   * @example
   * await cluster.waitFor('pvc/data', 'is Bound');
   * await cluster.waitFor('sts/db', 'has 3 ready', { timeout: '20m' });
   * await cluster.waitFor('pod/db-0', 'is Running on a node in zone-b');
   * await cluster.waitFor('job/backup', ({ status }) => status?.succeeded === 1);
   */
  async waitFor<R extends ObjectRef>(ref: R, condition: string | ((object: ObjectFor<R>) => boolean), options: WaitOptions = {}): Promise<ObjectFor<R>> {
    const reference = await resolveReference(this.#connection, ref, this.namespaceName);
    const { facts } = this.#connection;
    const { kind, ...object } = reference;
    const ofFunction = (holds: (object: ObjectFor<R>) => boolean) => () => {
      const current = facts.history.get(kind, placed(object));
      return { held: current !== undefined && holds(current as ObjectFor<R>), found: current === undefined ? 'it does not exist' : 'the condition is false' };
    };
    const check = typeof condition === 'string' ? checkOfPhrase(this.#connection, reference, condition) : ofFunction(condition);
    const words = typeof condition === 'string' ? condition : 'fulfils the condition';
    await waitUntil(this.#connection, { reference, check, condition: words, timeoutMs: durationOf(options.timeout ?? usualTimeout) });
    return currentObject(this.#connection, reference) as ObjectFor<R>;
  }

  /**
   * Waits until the object does not exist any more.
   * @throws WaitError, with the words of `moor why`, if it still exists then
   * @example
   * await cluster.delete('pvc/data');
   * await cluster.waitUntilGone('pvc/data');
   */
  async waitUntilGone(ref: ObjectRef, options: WaitOptions = {}): Promise<void> {
    const reference = await resolveReference(this.#connection, ref, this.namespaceName);
    const { kind, ...object } = reference;
    const check = () => ({ held: this.#connection.facts.history.get(kind, placed(object)) === undefined, found: 'it exists' });
    await waitUntil(this.#connection, { reference, check, condition: 'is gone', timeoutMs: durationOf(options.timeout ?? usualTimeout) });
  }

  /**
   * What `moor why` says about an object: why it is as it is, and what would change that. Undefined: it explains no objects of this kind.
   * @example
   * expect(await cluster.why('pvc/data')).toContain('no volume fits');
   */
  async why(ref: ObjectRef): Promise<string | undefined> {
    return await explanationOf(this.#connection, await resolveReference(this.#connection, ref, this.namespaceName));
  }

  async #on<T>(ref: ObjectRef, request: (client: Client, reference: Reference) => Promise<Result<T>>): Promise<T> {
    const reference = await resolveReference(this.#connection, ref, this.namespaceName);
    return valueOf(await this.#connection.run(() => request(this.#client, reference)));
  }

  get #client(): Client {
    return clientOf(this.#connection);
  }
}

const placed = ({ namespace, name }: Pick<Reference, 'namespace' | 'name'>) => (namespace === '' ? { name } : { namespace, name });

const isPatch = (patch: Patch | object): patch is Patch => 'type' in patch && 'body' in patch;

/** @throws the error of a request that failed */
export function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw result.error;
  return result.value;
}
