/** Items by group. Most groups have one item, which is kept without a Set: there would be tens of thousands of them. */
export class Groups<T> {
  readonly #groups = new Map<string, T | Set<T>>();

  of(group: string): Iterable<T> {
    const items = this.#groups.get(group);
    if (items === undefined) return [];
    return items instanceof Set ? items : [items];
  }

  /** The item that has been in the group for longest. */
  firstOf(group: string): T | undefined {
    const items = this.#groups.get(group);
    return items instanceof Set ? items.values().next().value : items;
  }

  has(group: string): boolean {
    return this.#groups.has(group);
  }

  add(group: string, item: T): void {
    const items = this.#groups.get(group);
    if (items === undefined) this.#groups.set(group, item);
    else if (items instanceof Set) items.add(item);
    else if (items !== item) this.#groups.set(group, new Set([items, item]));
  }

  remove(group: string, item: T): void {
    const items = this.#groups.get(group);
    if (items instanceof Set) items.delete(item);
    if (items instanceof Set ? items.size === 0 : items === item) this.#groups.delete(group);
  }
}
