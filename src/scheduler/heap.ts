/** A min-heap with removal of any item. */
export class Heap<T> {
  readonly #comesBefore: (a: T, b: T) => boolean;
  readonly #items: T[] = [];
  readonly #positions = new Map<T, number>();

  constructor(comesBefore: (a: T, b: T) => boolean) {
    this.#comesBefore = comesBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    if (this.#positions.has(item)) return;
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  take(): T | undefined {
    const item = this.#items[0];
    if (item !== undefined) this.delete(item);
    return item;
  }

  delete(item: T): boolean {
    const at = this.#positions.get(item);
    if (at === undefined) return false;
    this.#positions.delete(item);
    const last = this.#items.pop();
    if (last === undefined || last === item) return true;
    // The last item fills the gap; it may belong above or below it.
    this.#rise(last, at);
    this.#sink(last, this.#positions.get(last) ?? at);
    return true;
  }

  #rise(item: T, from: number): void {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#items[above];
      if (parent === undefined || !this.#comesBefore(item, parent)) break;
      this.#put(parent, at);
      at = above;
    }
    this.#put(item, at);
  }

  #sink(item: T, from: number): void {
    let at = from;
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const [a, b] = [this.#items[left], this.#items[right]];
      if (a === undefined) break;
      const [child, below] = b !== undefined && this.#comesBefore(b, a) ? [b, right] : [a, left];
      if (!this.#comesBefore(child, item)) break;
      this.#put(child, at);
      at = below;
    }
    this.#put(item, at);
  }

  #put(item: T, at: number): void {
    this.#items[at] = item;
    this.#positions.set(item, at);
  }
}
