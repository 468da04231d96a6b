/** The changes of all objects, read from the store, in order, each with the object before and after. */
import type { Stored } from '../../api/stored.ts';
import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Ref } from '../../client/client.ts';
import type { Change as StoreChange, Entry, Store } from '../../store/contract.ts';

export interface RecordedChange {
  readonly revision: number;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** Leases are renewed every few seconds, and do not matter here. */
const leases = '/registry/coordination.k8s.io/leases/';

export class ObjectHistory {
  /** By the store's key. */
  readonly #byKey = new Map<string, KubeObject>();
  /** By kind, then by namespace and name. */
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #listeners: ((changes: readonly RecordedChange[]) => void)[] = [];

  constructor(store: Store) {
    const take = (revision: number, changes: readonly StoreChange[]) => {
      const read = changes.filter(({ key }) => !key.startsWith(leases)).map((change) => this.#read(revision, change));
      if (read.length > 0) for (const listener of this.#listeners) listener(read);
    };
    store.watch({ prefix: '/registry/', after: 0 }, { changes: take, end: () => undefined });
  }

  onChange(listener: (changes: readonly RecordedChange[]) => void): void {
    this.#listeners.push(listener);
  }

  /** All objects of a kind, in all namespaces, oldest first. */
  all<T extends KubeObject>({ kind }: Kind<T>): readonly Stored<T>[] {
    return [...(this.#objects.get(kind)?.values() ?? [])] as Stored<T>[];
  }

  get<T extends KubeObject>({ kind }: Kind<T>, { namespace = '', name }: Ref): Stored<T> | undefined {
    return this.#objects.get(kind)?.get(`${namespace}/${name}`) as Stored<T> | undefined;
  }

  #read(revision: number, { key, entry }: StoreChange): RecordedChange {
    const [before, after] = [this.#byKey.get(key), decode(entry)];
    if (after === undefined) this.#byKey.delete(key);
    else this.#byKey.set(key, after);
    if (after !== undefined) this.#of(after.kind).set(keyOf(after), after);
    else if (before !== undefined) this.#of(before.kind).delete(keyOf(before));
    return { revision, before, after };
  }

  #of(kind: string): Map<string, KubeObject> {
    let objects = this.#objects.get(kind);
    if (objects === undefined) this.#objects.set(kind, (objects = new Map()));
    return objects;
  }
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

function decode(entry: Entry | undefined): KubeObject | undefined {
  if (entry === undefined) return undefined;
  const object = JSON.parse(Buffer.from(entry.value).toString()) as KubeObject;
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(entry.modRevision) } };
}
