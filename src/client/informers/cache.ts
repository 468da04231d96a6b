import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import type { Cancel, Log } from '../../world/world.ts';
import type { DeletedObject, Ref } from '../client.ts';
import { isNewer } from '../revision.ts';

/**
 * The objects of one kind, as far as this process knows. One informer and the client's own successful writes fill it, so that a
 * controller reads its own writes.
 *
 * A worked example. The informer has delivered revision 10, in which `a` is at 7.
 *
 *     client updates a, answer: at 12   → written:  a@12 is here before the client's promise resolves
 *     informer delivers a@11            → ignored:  an object never goes back
 *     informer delivers a@12            → ignored:  the echo of the client's own write
 *     client deletes a, answer: gone    → removed:  a is gone, its uid is remembered
 *     informer delivers a@13            → ignored:  a late event must not bring a deleted object back
 *     informer delivers a deleted @14   → the uid can be forgotten
 *     answer of an old update: a@12     → ignored:  the informer is past 12
 *
 * Guarantees
 * - An object is replaced only by a newer revision of itself or by a later object of the same name.
 * - Once the informer has caught up, the cache is exactly what the server has.
 * - Listeners are called for every change, once, in order, after the cache and its indexes have it.
 */
export class Cache<T extends KubeObject> {
  readonly #objects = new Map<string, Stored<T>>();
  readonly #indexes: Index<T>[] = [];
  readonly #listeners = new Set<Listener<T>>();
  /** uids of objects that own writes removed, while the informer may still deliver events of them; each with its last known revision. */
  readonly #removed = new Map<string, string>();
  /** Made when first needed: most caches never need it. */
  #byNamespace: Index<T> | undefined;
  readonly #selects: (object: T) => boolean;
  readonly #log: Log;
  /** The informer has delivered everything before this revision, and some of what happened at it. */
  #position: string | undefined;
  #synced = false;

  constructor(options: { readonly log: Log; readonly selects?: (object: T) => boolean }) {
    this.#log = options.log;
    this.#selects = options.selects ?? (() => true);
  }

  get(ref: Ref): Stored<T> | undefined {
    return this.#objects.get(keyOf(ref));
  }

  /** 'namespace/name', or 'name' of a cluster-scoped object. */
  getKey(key: string): Stored<T> | undefined {
    return this.#objects.get(key);
  }

  list(): Iterable<Stored<T>> {
    return this.#objects.values();
  }

  inNamespace(namespace: string): readonly Stored<T>[] {
    return this.#namespaces().get(namespace);
  }

  hasAnyIn(namespace: string): boolean {
    return this.#namespaces().has(namespace);
  }

  #namespaces(): Index<T> {
    return (this.#byNamespace ??= this.addIndex(namespaceOf));
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Whether everything that existed when the informer started is here. */
  get synced(): boolean {
    return this.#synced;
  }

  /** `valuesOf` must be a function of the object alone. An index by the same function is shared. */
  addIndex(valuesOf: (object: Stored<T>) => readonly string[]): Index<T> {
    const known = this.#indexes.find((index) => index.isBy(valuesOf));
    if (known !== undefined) return known;
    const index = new Index(valuesOf);
    for (const [key, object] of this.#objects) index.change(key, undefined, object);
    this.#indexes.push(index);
    return index;
  }

  /** Called for every change from now on, and at once for each object that is here already, as if it were just added. */
  subscribe(listener: Listener<T>): Cancel {
    this.#listeners.add(listener);
    for (const object of this.#objects.values()) this.#notify(listener, { before: undefined, after: object });
    return () => this.#listeners.delete(listener);
  }

  /** From the informer: the object exists, in this state. */
  observe(object: Stored<T>): void {
    if (this.#removed.has(uidOf(object))) return;
    this.#forward(object);
  }

  /** From the informer: the object was deleted, at the revision that it carries. */
  observeDeleted(object: Stored<T>): void {
    this.#removed.delete(uidOf(object));
    const key = keyOf(object.metadata);
    const known = this.#objects.get(key);
    if (known !== undefined && !isNewer(revisionOf(known), revisionOf(object))) this.#change(key, known, undefined);
  }

  /** From the informer: everything before this revision has been delivered. */
  advance(revision: string): void {
    if (this.#position === undefined || isNewer(revision, this.#position)) this.#position = revision;
  }

  /** From the informer: it has observed every object that existed at `revision`, and these uids are all of them. */
  finishList(uids: ReadonlySet<string>, revision: string): void {
    for (const [key, object] of this.#objects) {
      // An object that is newer than the list is an own write, which the list could not have.
      if (!uids.has(uidOf(object)) && !isNewer(revisionOf(object), revision)) this.#change(key, object, undefined);
    }
    for (const [uid, knownAt] of this.#removed) if (!uids.has(uid) && !isNewer(knownAt, revision)) this.#removed.delete(uid);
    this.#synced = true;
    this.advance(revision);
  }

  /** From the informer: the server's revisions have started anew (its data was replaced); all known objects are dropped. */
  clear(): void {
    this.#position = undefined;
    this.#removed.clear();
    for (const [key, object] of this.#objects) this.#change(key, object, undefined);
  }

  get position(): string | undefined {
    return this.#position;
  }

  /** From the client: its write was answered with this object. */
  written(object: Stored<T>): void {
    if (this.#removed.has(uidOf(object))) return;
    if (this.#position !== undefined && isNewer(this.#position, revisionOf(object))) return;
    if (this.#selects(object)) this.#forward(object);
    else this.#dropOutdated(object);
  }

  /** From the client: its write removed this object. */
  removed(gone: DeletedObject): void {
    const key = keyOf(gone);
    const known = this.#objects.get(key);
    const isKnown = known !== undefined && uidOf(known) === gone.uid;
    if (this.#removed.size >= removedLimit) this.#removed.delete(firstKey(this.#removed));
    this.#removed.set(gone.uid, isKnown ? revisionOf(known) : '0');
    if (isKnown) this.#change(key, known, undefined);
  }

  #forward(object: Stored<T>): void {
    const key = keyOf(object.metadata);
    const known = this.#objects.get(key);
    if (known === undefined || isNewer(revisionOf(object), revisionOf(known))) this.#change(key, known, object);
  }

  /** An own write took the object out of the cache's selection. */
  #dropOutdated(object: Stored<T>): void {
    const key = keyOf(object.metadata);
    const known = this.#objects.get(key);
    if (known !== undefined && isNewer(revisionOf(object), revisionOf(known))) this.#change(key, known, undefined);
  }

  #change(key: string, before: Stored<T> | undefined, after: Stored<T> | undefined): void {
    if (after === undefined) this.#objects.delete(key);
    else this.#objects.set(key, after);
    for (const index of this.#indexes) index.change(key, before, after);
    const change = { before, after };
    for (const listener of this.#listeners) this.#notify(listener, change);
  }

  /** A listener that fails must not keep the others, or the server that delivers in this very call, from going on. */
  #notify(listener: Listener<T>, change: Change<T>): void {
    try {
      listener(change);
    } catch (error) {
      this.#log.error('a cache listener failed', { key: keyOf(changedObject(change).metadata), error });
    }
  }
}

/** Both are there: the object changed, or another object of that name took its place (then the uids differ). */
export interface Change<T extends KubeObject> {
  readonly before: Stored<T> | undefined;
  readonly after: Stored<T> | undefined;
}

/** The object of a change: as it is now, or as it was before it was deleted. */
export function changedObject<T extends KubeObject>({ before, after }: Change<T>): Stored<T> {
  const object = after ?? before;
  if (object === undefined) throw new Error('a change has an object before or after it');
  return object;
}

export type Listener<T extends KubeObject> = (change: Change<T>) => void;

const none: readonly string[] = [];

/** Objects by the values that a function finds in them. Where a value has one object, as most have, it is kept without a map of its own. */
export class Index<T extends KubeObject> {
  readonly #valuesOf: (object: Stored<T>) => readonly string[];
  readonly #buckets = new Map<string, Stored<T> | Map<string, Stored<T>>>();

  constructor(valuesOf: (object: Stored<T>) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  isBy(valuesOf: (object: Stored<T>) => readonly string[]): boolean {
    return this.#valuesOf === valuesOf;
  }

  get(value: string): readonly Stored<T>[] {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) return [];
    return bucket instanceof Map ? [...bucket.values()] : [bucket];
  }

  has(value: string): boolean {
    return this.#buckets.has(value);
  }

  change(key: string, before: Stored<T> | undefined, after: Stored<T> | undefined): void {
    const from = before === undefined ? none : this.#valuesOf(before);
    const to = after === undefined ? none : this.#valuesOf(after);
    // Mostly an object keeps its values: its bucket is not thrown away and made again.
    for (const value of from) if (!to.includes(value)) this.#drop(value, key);
    if (after !== undefined) for (const value of to) this.#put(value, key, after);
  }

  #put(value: string, key: string, object: Stored<T>): void {
    const bucket = this.#buckets.get(value);
    if (bucket instanceof Map) {
      bucket.set(key, object);
    } else if (bucket === undefined || keyOf(bucket.metadata) === key) {
      this.#buckets.set(value, object);
    } else {
      const both = new Map([[keyOf(bucket.metadata), bucket]]);
      this.#buckets.set(value, both.set(key, object));
    }
  }

  #drop(value: string, key: string): void {
    const bucket = this.#buckets.get(value);
    if (bucket instanceof Map) bucket.delete(key);
    if (bucket instanceof Map ? bucket.size === 0 : bucket !== undefined && keyOf(bucket.metadata) === key) this.#buckets.delete(value);
  }
}

/** An index function: the uids of an object's owners. */
export const ownerUids = (object: KubeObject): readonly string[] => object.metadata.ownerReferences?.map((owner) => owner.uid) ?? [];

const namespaceOf = (object: KubeObject): readonly string[] => [object.metadata.namespace ?? ''];

/** 'namespace/name', or 'name' of a cluster-scoped object. */
export function keyOf(ref: { readonly namespace?: string | undefined; readonly name?: string | undefined }): string {
  return ref.namespace === undefined || ref.namespace === '' ? (ref.name ?? '') : `${ref.namespace}/${ref.name ?? ''}`;
}

/** Enough for what a client can delete while its informer lags behind; beyond it, a late event may show an object again for a moment. */
const removedLimit = 10_000;

const uidOf = (object: Stored): string => object.metadata.uid;
const revisionOf = (object: Stored): string => object.metadata.resourceVersion;
const firstKey = (map: ReadonlyMap<string, unknown>): string => map.keys().next().value ?? '';
