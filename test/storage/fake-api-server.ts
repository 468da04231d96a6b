/** As much of an API server as deciding about storage needs: completed objects, compare-and-swap, finalizers. */
import type { Event, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../src/api/generated/types.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { VolumeIntent } from '../../src/api/volumes/intent.ts';
import { defaultClassOf } from '../../src/api/volumes/storage-class.ts';

export type WriteResult = 'done' | 'conflict' | 'exists' | 'absent';

interface Kinds {
  PersistentVolume: PersistentVolume;
  PersistentVolumeClaim: PersistentVolumeClaim;
  StorageClass: StorageClass;
  Pod: Pod;
  Event: Event;
  VolumeIntent: VolumeIntent;
}
type KindName = keyof Kinds;
type Body = KubeObject & { spec?: object; status?: object };

const namespaced: ReadonlySet<string> = new Set(['PersistentVolumeClaim', 'Pod', 'Event']);
const protectedBy: Readonly<Record<string, string>> = {
  PersistentVolume: 'kubernetes.io/pv-protection',
  PersistentVolumeClaim: 'kubernetes.io/pvc-protection',
};
const withStatus: ReadonlySet<string> = new Set(['PersistentVolume', 'PersistentVolumeClaim', 'Pod']);

export class FakeApiServer {
  #objects = new Map<string, Body>();
  #revision = 1;
  #created = 0;
  now = Date.parse('2025-06-01T00:00:00Z');

  copy(): FakeApiServer {
    const other = new FakeApiServer();
    other.#objects = new Map(this.#objects);
    other.#revision = this.#revision;
    other.#created = this.#created;
    other.now = this.now;
    return other;
  }

  get<K extends KindName>(kind: K, name: string, namespace?: string): Kinds[K] | undefined {
    // Filed by kind, so that is what it is.
    return this.#objects.get(keyOf(kind, name, namespace)) as Kinds[K] | undefined;
  }

  list<K extends KindName>(kind: K): Kinds[K][] {
    return [...this.#objects.values()].filter((object) => object.kind === kind) as unknown as Kinds[K][];
  }

  all(): readonly KubeObject[] {
    return [...this.#objects.values()];
  }

  create(draft: KubeObject): WriteResult {
    const object = this.#complete(structuredClone(draft));
    const key = keyOfObject(object);
    if (this.#objects.has(key)) return 'exists';
    this.#put(key, object);
    return 'done';
  }

  /** `base`: the resourceVersion that the writer saw. */
  update(object: KubeObject, base: string | undefined, part: 'spec' | 'status'): WriteResult {
    const key = keyOfObject(object);
    const stored = this.#objects.get(key);
    if (stored === undefined || stored.metadata.uid !== object.metadata.uid) return 'absent';
    if (base !== undefined && stored.metadata.resourceVersion !== base) return 'conflict';
    const next = structuredClone(object) as Body;
    const hasStatus = withStatus.has(object.kind);
    if (part === 'status') this.#put(key, { ...stored, ...(next.status === undefined ? {} : { status: next.status }) });
    else this.#put(key, hasStatus && stored.status !== undefined ? { ...next, status: stored.status } : next);
    return 'done';
  }

  delete(kind: string, name: string, namespace?: string): WriteResult {
    const key = keyOf(kind, name, namespace);
    const stored = this.#objects.get(key);
    if (stored === undefined) return 'absent';
    if ((stored.metadata.finalizers ?? []).length === 0) this.#objects.delete(key);
    else if (stored.metadata.deletionTimestamp === undefined) this.#put(key, { ...stored, metadata: { ...stored.metadata, deletionTimestamp: this.#time() } });
    return 'done';
  }

  revisionOf(object: KubeObject): string | undefined {
    return this.#objects.get(keyOfObject(object))?.metadata.resourceVersion;
  }

  #put(key: string, object: Body): void {
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp !== undefined && finalizers.length === 0) this.#objects.delete(key);
    else this.#objects.set(key, deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#revision) } }));
  }

  #complete(object: Body): Body {
    const guard = protectedBy[object.kind];
    const { metadata } = object;
    metadata.uid ??= `00000000-0000-4000-8000-${(++this.#created).toString(16).padStart(12, '0')}`;
    metadata.creationTimestamp ??= this.#time();
    if (guard !== undefined) metadata.finalizers = [...new Set([...(metadata.finalizers ?? []), guard])];
    if (namespaced.has(object.kind)) metadata.namespace ??= 'default';
    complete(object, () => defaultClassOf(this.list('StorageClass'))?.metadata.name);
    return object;
  }

  #time(): string {
    return `${new Date(this.now).toISOString().slice(0, 19)}Z`;
  }
}

/** What the server fills in. */
function complete(object: Body, defaultClass: () => string | undefined): void {
  if (isKind(object, 'PersistentVolume')) {
    object.status = { phase: 'Pending' };
    object.spec.volumeMode ??= 'Filesystem';
    object.spec.persistentVolumeReclaimPolicy ??= 'Retain';
    if (object.spec.storageClassName === '') delete object.spec.storageClassName;
    if (object.spec.hostPath !== undefined) object.spec.hostPath.type ??= '';
  } else if (isKind(object, 'PersistentVolumeClaim')) {
    object.status = { phase: 'Pending' };
    object.spec.volumeMode ??= 'Filesystem';
    const assigned = object.spec.storageClassName ?? defaultClass();
    if (assigned !== undefined) object.spec.storageClassName = assigned;
  } else if (isKind(object, 'StorageClass')) {
    object.reclaimPolicy ??= 'Delete';
    object.volumeBindingMode ??= 'Immediate';
  } else if (isKind(object, 'Pod')) {
    object.status = { phase: 'Pending' };
    for (const volume of object.spec.volumes ?? []) if (volume.hostPath !== undefined) volume.hostPath.type ??= '';
  }
}

function isKind<K extends KindName>(object: KubeObject, kind: K): object is Kinds[K] {
  return object.kind === kind;
}

const keyOf = (kind: string, name: string, namespace?: string): string =>
  namespaced.has(kind) ? `${kind}/${namespace ?? 'default'}/${name}` : `${kind}/${name}`;
const keyOfObject = ({ kind, metadata }: KubeObject): string => keyOf(kind, metadata.name ?? '', metadata.namespace);

function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}
