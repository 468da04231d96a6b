import { differenceWithin, type FieldSet, FieldSetBuilder, isEmpty } from './field-set.ts';
import { itemElementOrNone } from './list-item.ts';
import { fieldElement, type PathElement } from './path-element.ts';
import { sameValue } from './same-value.ts';
import { asList, asMap, type Form, formOf, isEmptyMap, type JsonMap, type ListShape, type MapShape, memberShape, ownMember, type Shape } from './shape.ts';

/** The differences of two values. The sets are disjoint. */
export interface Comparison {
  readonly removed: FieldSet;
  readonly modified: FieldSet;
  readonly added: FieldSet;
}

export function compare(shape: Shape, before: unknown, after: unknown): Comparison {
  const comparer = new Comparer();
  comparer.compare(shape, before, after);
  return comparer.result();
}

/** Without the paths of a set and those below. */
export function excluding({ removed, modified, added }: Comparison, ignored: FieldSet): Comparison {
  if (isEmpty(ignored)) return { removed, modified, added };
  return { removed: differenceWithin(removed, ignored), modified: differenceWithin(modified, ignored), added: differenceWithin(added, ignored) };
}

class Comparer {
  readonly #removed = new FieldSetBuilder();
  readonly #modified = new FieldSetBuilder();
  readonly #added = new FieldSetBuilder();
  readonly #path: PathElement[] = [];

  result(): Comparison {
    return { removed: this.#removed.build(), modified: this.#modified.build(), added: this.#added.build() };
  }

  /** undefined: the value does not exist, or did not. */
  compare(shape: Shape, before: unknown, after: unknown): void {
    if (before === undefined && after === undefined) return;
    const form = formOf(shape, after === undefined ? before : after);
    if (before !== undefined && after !== undefined) {
      const old = formOf(shape, before);
      if (old.type !== form.type) this.#inForm(old, before, after);
    }
    if (this.#inForm(form, before, after)) return;
    if (before === undefined) this.#added.add(this.#path);
    else if (after === undefined) this.#removed.add(this.#path);
  }

  /** @returns whether the value is atomic */
  #inForm(form: Form, before: unknown, after: unknown): boolean {
    switch (form.type) {
      case 'scalar':
        return this.#leaf(before, after);
      case 'list': {
        const old = asList(before);
        const now = asList(after);
        const empty = (old?.length ?? 0) === 0 && (now?.length ?? 0) === 0;
        if (form.list.atomic || empty) return this.#leaf(before, after);
        this.#items(form.list, old ?? [], now ?? []);
        return false;
      }
      case 'map': {
        const old = asMap(before);
        const now = asMap(after);
        if (form.map.atomic || (isEmptyMap(old) && isEmptyMap(now))) return this.#leaf(before, after);
        this.#members(form.map, old, now);
        return false;
      }
    }
  }

  #leaf(before: unknown, after: unknown): true {
    if (before === undefined) this.#added.add(this.#path);
    else if (after === undefined) this.#removed.add(this.#path);
    else if (!sameValue(before, after)) this.#modified.add(this.#path);
    return true;
  }

  #members(map: MapShape, before: JsonMap | undefined, after: JsonMap | undefined): void {
    for (const name in before) this.#below(fieldElement(name), memberShape(map, name), before[name], ownMember(after, name));
    for (const name in after) {
      if (before === undefined || !Object.hasOwn(before, name)) this.#below(fieldElement(name), memberShape(map, name), undefined, after[name]);
    }
  }

  #below(element: PathElement, shape: Shape, before: unknown, after: unknown): void {
    this.#path.push(element);
    this.compare(shape, before, after);
    this.#path.pop();
  }

  #items(list: ListShape, before: readonly unknown[], after: readonly unknown[]): void {
    const old = byElement(list, before);
    const now = byElement(list, after);
    for (const element of new Set([...old.keys(), ...now.keys()])) this.#item(list, element, [old.get(element) ?? [], now.get(element) ?? []]);
  }

  /** Items with the same key are compared together, as an atomic value. */
  #item(list: ListShape, element: PathElement, [before, after]: readonly [readonly unknown[], readonly unknown[]]): void {
    const path = [...this.#path, element];
    if (before.length < 2 && after.length < 2) this.#below(element, list.element(), before[0], after[0]);
    else if (before.length >= 2 && after.length >= 2) {
      if (!sameValue(before, after)) this.#modified.add(path);
    } else if (before.length >= 2) {
      if (after.length > 0) this.#below(element, list.element(), undefined, after[0]);
      this.#removed.add(path);
    } else {
      if (before.length > 0) this.#below(element, list.element(), before[0], undefined);
      this.#added.add(path);
    }
  }
}

function byElement(list: ListShape, items: readonly unknown[]): Map<PathElement, unknown[]> {
  const found = new Map<PathElement, unknown[]>();
  for (const item of items) {
    const element = itemElementOrNone(list, item);
    if (element === undefined) continue;
    const others = found.get(element);
    if (others === undefined) found.set(element, [item]);
    else others.push(item);
  }
  return found;
}
