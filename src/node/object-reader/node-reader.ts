import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { type RequestInfo, resourceRequestInfo, withFieldSelector } from '../../api/request-info.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import { keyOf } from '../../client/informers/cache.ts';
import { createClient } from '../../client/client.ts';
import type { Answer, Stream, StreamEvent, StreamSink, Transport, TransportRequest } from '../../client/transport.ts';
import type { Cancel, World } from '../../world/world.ts';
import { ReadCollection } from './collection.ts';
import { WatchedObjects } from './watched-objects.ts';
import { type Reference, type ReferredKind, referencesOf } from './references.ts';

export interface NodeReaderOptions {
  /** As the node. */
  readonly transport: Transport;
  readonly node: string;
  readonly world: World;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

const readKinds: readonly (ReferredKind | 'csinodes')[] = [
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'persistentvolumes',
  'volumeattachments',
  'csinodes',
];

/** The kind whose objects a list or a watch asks for in all namespaces. */
const collectionOf = ({ info }: TransportRequest): string | undefined =>
  info.type === 'resource' && info.namespace === '' && (info.verb === 'list' || info.verb === 'watch') ? info.resource : undefined;

const readKindOf = (collection: string | undefined) => readKinds.find((kind) => kind === collection);

/** While a pod waits, the objects that it waits for are read this often: a node may not watch them. */
const waitingMs = 1000;
const otherwiseMs = 60_000;

/**
 * The agent's read access within the limits of Kubernetes' Node authorizer: its own Node, the pods on it, and the objects that those refer to, each
 * by its name. Informers still list whole collections, and get the objects that concern the node.
 *
 * Secrets and ConfigMaps are watched, one by one. Claims, volumes, attachments and the CSINode can only be read: they are read when a pod is assigned,
 * every second while a pod waits, and every minute.
 *
 * Guarantees
 * - A pod is delivered only after all objects that it refers to have been read: an object that is missing here does not exist.
 */
export class NodeReader implements Transport {
  readonly #options: NodeReaderOptions;
  readonly #collections = new Map<ReferredKind | 'csinodes', ReadCollection>(readKinds.map((kind) => [kind, new ReadCollection()]));
  readonly #files: WatchedObjects;
  readonly #pods = new Map<string, Pod>();
  /** By kind and key. */
  readonly #read = new Map<string, Reference>();
  #onFirstPods: () => void = () => undefined;
  readonly #firstPods = new Promise<void>((resolve) => {
    this.#onFirstPods = resolve;
  });
  #cancelRefresh: Cancel = () => undefined;
  #sinceAll = 0;
  #closed = false;

  constructor(options: NodeReaderOptions) {
    this.#options = options;
    const { transport, world } = options;
    this.#files = new WatchedObjects({ client: createClient({ transport }), world, put: ({ kind, key }, object) => this.#collection(kind).put(key, object) });
    this.#planRefresh();
  }

  async send(request: TransportRequest): Promise<Answer> {
    const { transport, node } = this.#options;
    const collection = collectionOf(request);
    if (collection === 'nodes') return transport.send(selecting(request, `metadata.name=${node}`));
    if (collection === 'pods') return this.#listPods(selecting(request, `spec.nodeName=${node}`));
    const kind = readKindOf(collection);
    if (kind === undefined) return transport.send(request);
    if (kind === 'csinodes') await this.#readCsiNode();
    else await this.#firstPods;
    return this.#collection(kind).list();
  }

  watch(request: TransportRequest, sink: StreamSink): Stream {
    const { transport, node } = this.#options;
    const collection = collectionOf(request);
    if (collection === 'nodes') return transport.watch(selecting(request, `metadata.name=${node}`), this.#throughNodes(sink));
    if (collection === 'pods') return this.#watchPods(selecting(request, `spec.nodeName=${node}`), sink);
    const kind = readKindOf(collection);
    return kind === undefined ? transport.watch(request, sink) : this.#collection(kind).watch(sink);
  }

  close(): void {
    this.#closed = true;
    this.#cancelRefresh();
    this.#files.stop();
  }

  #collection(kind: ReferredKind | 'csinodes'): ReadCollection {
    const collection = this.#collections.get(kind);
    if (collection === undefined) throw new Error(`no collection of ${kind}`);
    return collection;
  }

  async #listPods(request: TransportRequest): Promise<Answer> {
    const answer = await this.#options.transport.send(request);
    if (answer.type !== 'list') return answer;
    this.#pods.clear();
    for (const pod of answer.items) this.#pods.set(keyOf(pod.metadata), pod as Pod);
    await this.#settle();
    this.#onFirstPods();
    return answer;
  }

  /** Delivers batches in order, each when the objects that its pods refer to have been read. */
  #watchPods(request: TransportRequest, sink: StreamSink): Stream {
    let open = true;
    let delivered = Promise.resolve();
    const inOrder = (deliver: () => void | Promise<void>) => {
      delivered = delivered.then(async () => {
        if (open) await deliver();
      });
    };
    const stream = this.#options.transport.watch(request, {
      events: (batch) => inOrder(() => this.#follow(batch).then(() => (open ? sink.events(batch) : undefined))),
      end: (error) => inOrder(() => sink.end(error)),
    });
    return {
      close: () => {
        open = false;
        stream.close();
      },
    };
  }

  async #follow(batch: readonly StreamEvent[]): Promise<void> {
    for (const { type, object } of batch) {
      if (type === 'DELETED') this.#pods.delete(keyOf(object.metadata));
      else if (type !== 'BOOKMARK') this.#pods.set(keyOf(object.metadata), object as Pod);
    }
    await this.#settle();
    // An informer may list a collection again because of an object just put into it: it has, once its promises are resolved.
    await new Promise<void>((resolve) => this.#options.world.timers.soon(resolve));
  }

  /** A change of the node's attached volumes means that its VolumeAttachments have changed. */
  #throughNodes(sink: StreamSink): StreamSink {
    return {
      end: (error) => sink.end(error),
      events: (batch) => {
        sink.events(batch);
        const isAttaching = batch.some(({ type, object }) => type !== 'BOOKMARK' && ((object as Node).status.volumesAttached ?? []).length > 0);
        if (isAttaching) void this.#readAll([...this.#read.values()].filter(({ kind }) => kind === 'volumeattachments'));
      },
    };
  }

  /** Reads new references, and those of the objects read; drops objects that no pod refers to any more. */
  async #settle(): Promise<void> {
    // A claim refers to a volume, the volume to an attachment and to secrets.
    for (let step = 0; step < 3; step++) {
      const fresh = this.#wanted(this.#pods.values()).filter((reference) => !this.#read.has(nameOf(reference)));
      if (fresh.length === 0) break;
      for (const reference of fresh) this.#read.set(nameOf(reference), reference);
      await this.#readAll(fresh);
    }
    const wanted = new Set(this.#wanted(this.#pods.values()).map(nameOf));
    for (const [name, reference] of this.#read) if (!wanted.has(name)) this.#drop(name, reference);
  }

  #wanted(pods: Iterable<Pod>): readonly Reference[] {
    const known = {
      claim: (key: string) => this.#collection('persistentvolumeclaims').get(key) as PersistentVolumeClaim | undefined,
      volume: (name: string) => this.#collection('persistentvolumes').get(name) as PersistentVolume | undefined,
    };
    const { node, sha256 } = this.#options;
    const all = [...pods].flatMap((pod) => referencesOf(pod, { node, sha256, known }));
    return [...new Map(all.map((reference) => [nameOf(reference), reference])).values()];
  }

  async #readAll(references: readonly Reference[]): Promise<void> {
    await Promise.all(references.map((reference) => (WatchedObjects.has(reference) ? this.#files.watch(reference) : this.#readOne(reference))));
  }

  async #readOne({ kind, key }: Reference): Promise<void> {
    const object = await this.#get(requestFor(kind, key));
    // Meanwhile, the last pod that refers to it may be gone.
    if (object !== 'unknown' && this.#read.has(nameOf({ kind, key }))) this.#collection(kind).put(key, object);
  }

  async #readCsiNode(): Promise<void> {
    const { node } = this.#options;
    const object = await this.#get(requestFor('csinodes', node));
    if (object !== 'unknown') this.#collection('csinodes').put(node, object);
  }

  /** Undefined: there is none. */
  async #get(info: RequestInfo): Promise<KubeObject | undefined | 'unknown'> {
    const answer = await this.#options.transport.send({ info, query: new URLSearchParams() });
    if (answer.type === 'object') return answer.object;
    return answer.type === 'failed' && answer.error.code === 404 ? undefined : 'unknown';
  }

  #drop(name: string, reference: Reference): void {
    this.#read.delete(name);
    if (WatchedObjects.has(reference)) this.#files.unwatch(reference);
    this.#collection(reference.kind).put(reference.key, undefined);
  }

  #planRefresh(): void {
    this.#cancelRefresh = this.#options.world.timers.after(waitingMs, () => {
      void this.#refresh().then(() => (this.#closed ? undefined : this.#planRefresh()));
    });
  }

  async #refresh(): Promise<void> {
    this.#sinceAll += waitingMs;
    const everything = this.#sinceAll >= otherwiseMs;
    if (everything) this.#sinceAll = 0;
    const pods = [...this.#pods.values()].filter((pod) => everything || isWaiting(pod));
    const references = this.#wanted(pods).filter((reference) => !WatchedObjects.has(reference));
    if (everything) await this.#readCsiNode();
    if (references.length === 0) return;
    await this.#readAll(references);
    await this.#settle();
  }
}

const isWaiting = (pod: Pod): boolean => !hasEnded(pod) && pod.status.phase !== 'Running';

const nameOf = ({ kind, key }: Reference): string => `${kind} ${key}`;

function requestFor(kind: ReferredKind | 'csinodes', key: string): RequestInfo {
  const group = kind === 'volumeattachments' || kind === 'csinodes' ? 'storage.k8s.io' : '';
  const [first = '', second] = key.split('/');
  const address = second === undefined ? { name: first } : { namespace: first, name: second };
  return resourceRequestInfo('get', { group, version: 'v1', plural: kind, namespaced: second !== undefined }, address);
}

function selecting(request: TransportRequest, selector: string): TransportRequest {
  const query = new URLSearchParams(request.query);
  query.set('fieldSelector', selector);
  return { ...request, info: withFieldSelector(request.info, selector), query };
}
