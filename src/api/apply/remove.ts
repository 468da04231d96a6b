import { setOwn } from '../json.ts';
import type { FieldSet } from './field-set.ts';
import { itemElementOrNone } from './list-item.ts';
import { fieldElement } from './path-element.ts';
import { asList, asMap, formOf, isEmptyMap, type JsonMap, type ListShape, type MapShape, memberShape, type Shape } from './shape.ts';

/** A value without the fields and items of a set. undefined: nothing is left. Shares parts with the original. */
export function removeFields(shape: Shape, value: unknown, set: FieldSet): unknown {
  const form = formOf(shape, value);
  switch (form.type) {
    case 'scalar':
      return value;
    case 'list': {
      const list = asList(value);
      // An atomic value is removed as a whole.
      if (list === undefined || list.length === 0 || form.list.atomic) return undefined;
      return removeItems(form.list, list, set);
    }
    case 'map': {
      const map = asMap(value);
      if (isEmptyMap(map) || map === undefined || form.map.atomic) return undefined;
      return removeMembers(form.map, map, set);
    }
  }
}

function removeItems(list: ListShape, items: readonly unknown[], set: FieldSet): unknown {
  const kept: unknown[] = [];
  for (const item of items) {
    const element = itemElementOrNone(list, item);
    const named = element === undefined ? undefined : set.children.get(element);
    if (named?.member === true) continue;
    kept.push(named === undefined ? item : (removeFields(list.element(), item, named) ?? null));
  }
  return kept.length === 0 ? undefined : kept;
}

function removeMembers(map: MapShape, members: JsonMap, set: FieldSet): unknown {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) {
    const named = set.children.get(fieldElement(name));
    if (named?.member === true) continue;
    setOwn(kept, name, named === undefined ? value : (removeFields(memberShape(map, name), value, named) ?? null));
  }
  return isEmptyMap(kept) ? undefined : kept;
}
