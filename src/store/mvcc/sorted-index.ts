/**
 * Items in the order of their keys, as a list of sorted chunks. With 100,000 items that is about 300 chunks: finding a
 * place is two binary searches, inserting moves at most one chunk's worth of pointers, counting a range adds chunk sizes.
 */
export class SortedIndex<Item extends { readonly key: string }> {
  readonly #chunks: Item[][] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The key must not be there yet. */
  add(item: Item): void {
    this.#insert(item);
    this.#size++;
  }

  #insert(item: Item): void {
    const last = this.#chunks.at(-1);
    if (last === undefined) {
      this.#chunks.push([item]);
      return;
    }
    if (keyOfLast(last) < item.key) {
      // Keys that arrive in order (loading a snapshot, names with a counter) fill chunks completely.
      if (last.length < CHUNK_LIMIT) last.push(item);
      else this.#chunks.push([item]);
      return;
    }
    const place = this.#locate(item.key);
    const chunk = this.#chunk(place.chunk);
    if (chunk[place.index]?.key === item.key) throw new Error(`${item.key} is in the index already`);
    chunk.splice(place.index, 0, item);
    if (chunk.length > CHUNK_LIMIT) this.#chunks.splice(place.chunk + 1, 0, chunk.splice(CHUNK_LIMIT / 2));
  }

  /** Removes the item with this key, which must be there. */
  delete(key: string): void {
    const place = this.#locate(key);
    const chunk = this.#chunks[place.chunk];
    if (chunk?.[place.index]?.key !== key) throw new Error(`${key} is not in the index`);
    chunk.splice(place.index, 1);
    this.#size--;
    if (chunk.length === 0) this.#chunks.splice(place.chunk, 1);
    else if (chunk.length < CHUNK_LIMIT / 8) this.#joinWithNext(place.chunk);
  }

  /** How many keys lie in [from, to). */
  count(from: string, to: string): number {
    const { start, end } = this.#between(from, to);
    let count = end.index - start.index;
    for (let chunk = start.chunk; chunk < end.chunk; chunk++) count += this.#chunk(chunk).length;
    return count;
  }

  /** The first `limit` items with a key in [from, to), each turned into something. */
  slice<Result>(range: { from: string; to: string; limit: number }, pick: (item: Item) => Result): Result[] {
    const { start, end } = this.#between(range.from, range.to);
    const picked: Result[] = [];
    for (let at = start.chunk; at <= end.chunk && at < this.#chunks.length && picked.length < range.limit; at++) {
      const chunk = this.#chunk(at);
      const first = at === start.chunk ? start.index : 0;
      const behind = Math.min(at === end.chunk ? end.index : chunk.length, first + range.limit - picked.length);
      for (let index = first; index < behind; index++) picked.push(pick(chunk[index] as Item));
    }
    return picked;
  }

  /** Walks over the items with a key in [from, to), to the end without `to`. The index must not change meanwhile. */
  cursor(from: string, to: string | undefined): Cursor<Item> {
    return new Cursor(this.#chunks, this.#between(from, to));
  }

  #between(from: string, to: string | undefined): { start: Place; end: Place } {
    const start = this.#locate(from);
    if (to === undefined) return { start, end: { chunk: this.#chunks.length, index: 0 } };
    const first = this.#chunks[start.chunk]?.[start.index];
    // Nothing lies between them: most ranges that are asked for on every write are empty.
    const isEmpty = first === undefined || first.key >= to;
    return { start, end: isEmpty ? start : this.#locate(to) };
  }

  /** The place of the first item whose key is not before `key`. */
  #locate(key: string): Place {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (keyOfLast(this.#chunk(middle)) < key) low = middle + 1;
      else high = middle;
    }
    const chunk = chunks[low];
    return { chunk: low, index: chunk === undefined ? 0 : indexIn(chunk, key) };
  }

  #joinWithNext(at: number): void {
    const next = this.#chunks[at + 1];
    if (next === undefined || next.length > CHUNK_LIMIT / 2) return;
    this.#chunk(at).push(...next);
    this.#chunks.splice(at + 1, 1);
  }

  #chunk(at: number): Item[] {
    return this.#chunks[at] as Item[];
  }
}

interface Place {
  readonly chunk: number;
  readonly index: number;
}

/** A place in a sorted index that moves forward. */
export class Cursor<Item> {
  readonly #chunks: readonly (readonly Item[])[];
  readonly #end: Place;
  #chunk: number;
  #index: number;
  /** The item at this place; undefined at the end. */
  item: Item | undefined;

  constructor(chunks: readonly (readonly Item[])[], { start, end }: { start: Place; end: Place }) {
    this.#chunks = chunks;
    this.#chunk = start.chunk;
    this.#index = start.index - 1;
    this.#end = end;
    this.advance();
  }

  advance(): void {
    this.#index++;
    const chunk = this.#chunks[this.#chunk];
    if (chunk !== undefined && this.#index >= chunk.length) {
      this.#chunk++;
      this.#index = 0;
    }
    const atEnd = this.#chunk > this.#end.chunk || (this.#chunk === this.#end.chunk && this.#index >= this.#end.index);
    this.item = atEnd ? undefined : this.#chunks[this.#chunk]?.[this.#index];
  }
}

const CHUNK_LIMIT = 512;

function indexIn(chunk: readonly { readonly key: string }[], key: string): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((chunk[middle] as { readonly key: string }).key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

const keyOfLast = (chunk: readonly { readonly key: string }[]): string => (chunk[chunk.length - 1] as { readonly key: string }).key;
