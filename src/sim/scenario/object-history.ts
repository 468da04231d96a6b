/** The changes of all objects, read from the store, in order, each with the object before and after. */
import type { Stored } from '../../api/stored.ts';
import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Ref } from '../../client/client.ts';
import { prefixEnd, type Change as StoreChange, type Entry, type Store } from '../../store/contract.ts';
import type { StoreContent } from '../../store/memory/memory-store.ts';

export interface RecordedChange {
  readonly revision: number;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

const registry = '/registry/';
/** Leases are renewed every few seconds, and do not matter here. */
const leases = '/registry/coordination.k8s.io/leases/';

export class ObjectHistory {
  /** By the store's key. */
  readonly #byKey = new Map<string, KubeObject>();
  /** By kind, then by namespace and name. */
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #listeners = new Set<(changes: readonly RecordedChange[]) => void>();

  /** With the objects that are in the store already. */
  static async open(store: Store): Promise<ObjectHistory> {
    const { entries, revision } = await store.range({ from: registry, to: prefixEnd(registry) });
    return new ObjectHistory(store, { entries, revision });
  }

  private constructor(store: Store, { entries, revision: after }: StoreContent) {
    const oldestFirst = entries.toSorted((a, b) => a.createRevision - b.createRevision);
    for (const entry of oldestFirst) if (!entry.key.startsWith(leases)) this.#put(entry.key, decode(entry));
    const take = (revision: number, changes: readonly StoreChange[]) => {
      const read = changes.filter(({ key }) => !key.startsWith(leases)).map((change) => this.#read(revision, change));
      if (read.length > 0) for (const listener of this.#listeners) listener(read);
    };
    store.watch({ prefix: registry, after }, { changes: take, end: () => undefined });
  }

  /** Returns what ends it. */
  onChange(listener: (changes: readonly RecordedChange[]) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** All objects of a kind, in all namespaces, oldest first. */
  all<T extends KubeObject>({ kind }: Kind<T>): readonly Stored<T>[] {
    return [...(this.#objects.get(kind)?.values() ?? [])] as Stored<T>[];
  }

  get<T extends KubeObject>({ kind }: Kind<T>, { namespace = '', name }: Ref): Stored<T> | undefined {
    return this.#objects.get(kind)?.get(`${namespace}/${name}`) as Stored<T> | undefined;
  }

  #read(revision: number, { key, entry }: StoreChange): RecordedChange {
    const before = this.#byKey.get(key);
    const after = entry === undefined ? undefined : decode(entry);
    if (after !== undefined) this.#put(key, after);
    else if (before !== undefined) {
      this.#byKey.delete(key);
      this.#of(before.kind).delete(keyOf(before));
    }
    return { revision, before, after };
  }

  #put(key: string, object: KubeObject): void {
    this.#byKey.set(key, object);
    this.#of(object.kind).set(keyOf(object), object);
  }

  #of(kind: string): Map<string, KubeObject> {
    let objects = this.#objects.get(kind);
    if (objects === undefined) this.#objects.set(kind, (objects = new Map()));
    return objects;
  }
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

function decode(entry: Entry): KubeObject {
  const object = JSON.parse(Buffer.from(entry.value).toString()) as KubeObject;
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(entry.modRevision) } };
}
