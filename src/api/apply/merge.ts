import { setOwn } from '../json.ts';
import { itemElementOrNone } from './list-item.ts';
import type { PathElement } from './path-element.ts';
import { asList, asMap, formOf, isEmptyMap, type JsonMap, type ListShape, type MapShape, memberShape, ownMember, type Shape } from './shape.ts';

/**
 * Merges an applied value into a live one: applied fields get the applied values, the others stay. Nothing
 * is removed. undefined: the value does not exist. The result shares parts with both.
 */
export function merge(shape: Shape, live: unknown, applied: unknown): unknown {
  const form = formOf(shape, applied === undefined ? live : applied);
  switch (form.type) {
    case 'scalar':
      return latest(live, applied);
    case 'list': {
      const before = asList(live) ?? [];
      const after = asList(applied) ?? [];
      // Null and an empty list stay different.
      if (form.list.atomic || (before.length === 0 && after.length === 0)) return latest(live, applied);
      return mergeItems(form.list, before, after);
    }
    case 'map': {
      const before = asMap(live);
      const after = asMap(applied);
      if (form.map.atomic || (isEmptyMap(before) && isEmptyMap(after))) return latest(live, applied);
      return mergeMembers(form.map, before, after);
    }
  }
}

const latest = (live: unknown, applied: unknown): unknown => (applied === undefined ? live : applied);

function mergeMembers(map: MapShape, live: JsonMap | undefined, applied: JsonMap | undefined): unknown {
  const merged: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(live ?? {}), ...Object.keys(applied ?? {})])) {
    const value = merge(memberShape(map, name), ownMember(live, name), ownMember(applied, name));
    if (value !== undefined) setOwn(merged, name, value);
  }
  return isEmptyMap(merged) ? undefined : merged;
}

interface Indexed {
  readonly elements: readonly PathElement[];
  readonly items: readonly unknown[];
  /** null: several items have the same key; they are not merged. */
  readonly byElement: ReadonlyMap<PathElement, unknown>;
}

function index(list: ListShape, given: readonly unknown[]): Indexed {
  const byElement = new Map<PathElement, unknown>();
  const elements: PathElement[] = [];
  const items: unknown[] = [];
  for (const item of given) {
    const element = itemElementOrNone(list, item);
    if (element === undefined) continue;
    byElement.set(element, byElement.has(element) ? null : item);
    elements.push(element);
    items.push(item);
  }
  return { elements, items, byElement };
}

/** Items of both lists are in the applied order; the others keep their place between them. */
function mergeItems(list: ListShape, liveItems: readonly unknown[], appliedItems: readonly unknown[]): unknown {
  const live = index(list, liveItems);
  const applied = index(list, appliedItems);
  const shared = applied.elements.filter((element) => live.byElement.has(element));
  const done = new Set<PathElement>();
  const merged: unknown[] = [];
  const take = (before: unknown, after: unknown): void => {
    const value = merge(list.element(), before, after);
    if (value !== undefined) merged.push(value);
  };
  const takeApplied = (element: PathElement): void => {
    done.add(element);
    take(live.byElement.get(element), applied.byElement.get(element));
    if (shared[0] === element) shared.shift();
  };
  let l = 0;
  let r = 0;
  while (l < live.elements.length || r < applied.elements.length) {
    const mine = live.elements[l];
    const theirs = applied.elements[r];
    if (mine !== undefined && mine === theirs) {
      takeApplied(mine);
      l++;
      r++;
    } else if (mine !== undefined && theirs !== undefined && applied.byElement.has(mine) && shared[0] !== undefined && shared[0] !== mine) {
      // It comes later, in the applied order.
      l++;
    } else if (mine !== undefined && !applied.byElement.has(mine)) {
      take(live.items[l], undefined);
      l++;
    } else {
      if (mine !== undefined && done.has(mine)) l++;
      if (theirs !== undefined) {
        takeApplied(theirs);
        r++;
      }
    }
  }
  return merged.length === 0 ? undefined : merged;
}
