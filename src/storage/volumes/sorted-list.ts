/**
 * Items in order, for finding neighbours fast: two levels of arrays instead of a tree, because a few hundred slots are
 * moved faster than pointers are followed. Finding takes O(log n); adding and removing move at most one full chunk.
 *
 * Two items that compare as equal are the same item. The list must not change while an iterator reads it.
 */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  /** No chunk is empty, and all items of a chunk come before those of the next. */
  #chunks: T[][] = [];
  #size = 0;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  /** Puts the item in its place; replaces the one that is equal to it. */
  add(item: T): void {
    const isBefore = (other: T) => this.#compare(other, item) < 0;
    const at = Math.min(this.#chunkOf(isBefore), this.#chunks.length - 1);
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push([item]);
      this.#size++;
      return;
    }
    const place = partition(chunk, isBefore);
    const there = chunk[place];
    if (there !== undefined && this.#compare(there, item) === 0) {
      chunk[place] = item;
      return;
    }
    chunk.splice(place, 0, item);
    this.#size++;
    if (chunk.length > longestChunk) this.#chunks.splice(at + 1, 0, chunk.splice(chunk.length >> 1));
  }

  /** Whether the item was in the list. */
  remove(item: T): boolean {
    const isBefore = (other: T) => this.#compare(other, item) < 0;
    const at = this.#chunkOf(isBefore);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return false;
    const place = partition(chunk, isBefore);
    const there = chunk[place];
    if (there === undefined || this.#compare(there, item) !== 0) return false;
    chunk.splice(place, 1);
    this.#size--;
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    return true;
  }

  /** Upwards from the first item of which `isBefore` no longer holds. It must hold for a beginning of the list and for nothing else. */
  *from(isBefore: (item: T) => boolean): Generator<T, void, undefined> {
    const first = this.#chunkOf(isBefore);
    for (let at = first; at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at] ?? [];
      for (let place = at === first ? partition(chunk, isBefore) : 0; place < chunk.length; place++) yield chunk[place] as T;
    }
  }

  /** Downwards from the last item of which `isBefore` still holds. */
  *downFrom(isBefore: (item: T) => boolean): Generator<T, void, undefined> {
    const last = this.#chunkOf(isBefore);
    for (let at = Math.min(last, this.#chunks.length - 1); at >= 0; at--) {
      const chunk = this.#chunks[at] ?? [];
      const end = at === last ? partition(chunk, isBefore) : chunk.length;
      for (let place = end - 1; place >= 0; place--) yield chunk[place] as T;
    }
  }

  /** The first chunk with an item of which `isBefore` does not hold; behind the last one if there is none. */
  #chunkOf(isBefore: (item: T) => boolean): number {
    return partition(this.#chunks, (chunk) => isBefore(chunk[chunk.length - 1] as T));
  }
}

const longestChunk = 256;

/** How many items at the beginning meet the condition; no item behind them does. */
function partition<T>(items: readonly T[], condition: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (condition(items[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
