/** By place: whether an item equals an earlier one. Looking each of them up in the list would take time that grows with the square of its length. */
export function repeats(items: readonly unknown[]): readonly boolean[] {
  const known = new Set<unknown>();
  return items.map((item) => known.size === known.add(item).size);
}
