import { isJsonObject, quoteGo } from '../json.ts';
import { keyElement, type PathElement, valueElement } from './path-element.ts';
import type { ListShape } from './shape.ts';

/** An item without a usable key. */
export class ItemError extends Error {}

/** The path element of a list item. @throws ItemError */
export function itemElement(list: ListShape, item: unknown): PathElement {
  return list.keys.length > 0 ? keyed(list, item) : inSet(item);
}

function keyed(list: ListShape, item: unknown): PathElement {
  if (item === null || item === undefined) throw new ItemError('associative list with keys may not have a null element');
  if (!isJsonObject(item)) throw new ItemError('associative list with keys may not have non-map elements');
  const keys: [string, unknown][] = [];
  for (const name of list.keys) {
    const value = Object.hasOwn(item, name) ? item[name] : list.element().map?.field(name)?.default;
    // A key without value and default is left out of the element.
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

/** The same; undefined for an item without a usable key. */
export function itemElementOrNone(list: ListShape, item: unknown): PathElement | undefined {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (error instanceof ItemError) return undefined;
    throw error;
  }
}
