/** A map that forgets what was not used for longest once it is full. */
export class RecentMap<K, V> {
  readonly #limit: number;
  readonly #entries = new Map<K, V>();
  /** Behind everything that was forgotten. Kept: an iterator that starts anew steps over every entry removed since the map last shrank. */
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
