import { isJsonObject, quoteGo } from '../json.ts';
import { keyElement, type PathElement, valueElement } from './path-element.ts';
import type { ListShape } from './shape.ts';

/** An item that nothing tells apart from others. */
export class ItemError extends Error {}

/** The element that leads to an item of a list. @throws ItemError */
export function itemElement(list: ListShape, item: unknown): PathElement {
  return list.keys.length > 0 ? keyed(list, item) : inSet(item);
}

function keyed(list: ListShape, item: unknown): PathElement {
  if (item === null || item === undefined) throw new ItemError('associative list with keys may not have a null element');
  if (!isJsonObject(item)) throw new ItemError('associative list with keys may not have non-map elements');
  const keys: [string, unknown][] = [];
  for (const name of list.keys) {
    const value = Object.hasOwn(item, name) ? item[name] : list.element().map?.field(name)?.default;
    // An item without the key is another one than the item in which it is set.
    if (value !== undefined) keys.push([name, value]);
  }
  if (keys.length > 0) return keyElement(keys);
  const names = `[${list.keys.map(quoteGo).join(' ')}]`;
  throw new ItemError(`associative list with keys has an element that omits all key fields ${names} (and doesn't have default values for any key fields)`);
}

function inSet(item: unknown): PathElement {
  if (isJsonObject(item)) throw new ItemError("associative list without keys has an element that's a map type");
  if (Array.isArray(item)) throw new ItemError('not supported: associative list with lists as elements');
  if (item === null || item === undefined) throw new ItemError("associative list without keys has an element that's an explicit null");
  return valueElement(item);
}

/** The same for values that were checked before: what cannot be told apart has no element. */
export function itemElementOrNone(list: ListShape, item: unknown): PathElement | undefined {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (error instanceof ItemError) return undefined;
    throw error;
  }
}
