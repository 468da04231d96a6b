/**
 * A least-recently-used map of limited size. Written here, and not lru-cache: that one allocates its
 * arrays for the whole limit at once, megabytes for each controller, where most remember a few entries.
 */
export class RecentMap<K, V> {
  readonly #limit: number;
  readonly #entries = new Map<K, V>();
  /** Kept: an iterator that starts anew steps over every entry removed since the map last shrank. */
  #oldest = this.#entries.keys();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#limit) this.#entries.delete(this.#oldest.next().value as K);
  }

  get size(): number {
    return this.#entries.size;
  }
}
