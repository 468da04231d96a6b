import { isJsonObject } from '../json.ts';
import { badType, failed, noListsOfLists, noMergeKey } from './strategic-error.ts';
import { goText } from './go-text.ts';

/** The identity of a list element: the value of its merge key, or the scalar itself. */
export type Identity = (item: unknown) => unknown;

export function identityBy(mergeKey: string): Identity {
  return mergeKey === '' ? (item) => item : (item) => (isJsonObject(item) && Object.hasOwn(item, mergeKey) ? item[mergeKey] : undefined);
}

/** Whether the elements are objects; all must be objects or none. */
export function holdObjects(...lists: readonly (readonly unknown[])[]): boolean {
  const items = lists.flat(1);
  const [first] = items;
  if (items.length === 0) throw failed('no elements in any of the given slices');
  if (Array.isArray(first)) throw noListsOfLists();
  if (items.some((item) => typeof item !== typeof first || isJsonObject(item) !== isJsonObject(first) || item === null)) {
    throw failed(`list element types are not identical: ${goText(lists)}`);
  }
  return isJsonObject(first);
}

/** Every element an object with the merge key. */
export function requireMergeKey(mergeKey: string, ...lists: readonly (readonly unknown[])[]): void {
  for (const item of lists.flat(1)) {
    if (!isJsonObject(item)) throw badType('map[string]interface {}', item);
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
  }
}

export interface Ordering {
  /** The order in the patch. */
  readonly wanted: readonly unknown[];
  /** The order in the object before. */
  readonly before: readonly unknown[];
  readonly identity: Identity;
}

/**
 * The patch's elements in its order; the others stay between them, each before the first patched
 * element that it preceded.
 */
export function inOrder(merged: readonly unknown[], { wanted, before, identity }: Ordering): unknown[] {
  const wantedPlaces = placesOf(wanted, identity);
  const places = placesOf(before, identity);
  const named = sortedBy(
    merged.filter((item) => wantedPlaces.has(identity(item))),
    wantedPlaces,
    identity,
  );
  const others = sortedBy(
    merged.filter((item) => !wantedPlaces.has(identity(item))),
    places,
    identity,
  );
  const result: unknown[] = [];
  let next = 0;
  for (const item of named) {
    const place = places.get(identity(item)) ?? -1;
    while (next < others.length && (places.get(identity(others[next])) ?? Infinity) < place) result.push(others[next++]);
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

/** Of elements with the same identity the first counts. */
function placesOf(list: readonly unknown[], identity: Identity): ReadonlyMap<unknown, number> {
  const places = new Map<unknown, number>();
  for (const [index, item] of list.entries()) if (!places.has(identity(item))) places.set(identity(item), index);
  return places;
}

function sortedBy(list: readonly unknown[], places: ReadonlyMap<unknown, number>, identity: Identity): unknown[] {
  return [...list].sort((a, b) => (places.get(identity(a)) ?? Infinity) - (places.get(identity(b)) ?? Infinity) || 0);
}
