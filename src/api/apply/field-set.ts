/**
 * A set of paths through an object, as a tree. A node stands for the path that leads to it; `member` says whether that
 * path itself is in the set, `children` what is below it. So {.spec, .spec.replicas} is
 *
 *     root ─ f:spec (member) ─ f:replicas (member)
 *
 * Sets are immutable, and operations share nodes. A node that is no member
 * and has no member below does not exist, except for the empty set itself. The root is never a member: no manager owns a whole object.
 */
import type { PathElement } from './path-element.ts';
import { compareElements } from './path-element.ts';

export interface FieldSet {
  readonly member: boolean;
  readonly children: ReadonlyMap<PathElement, FieldSet>;
}

const noChildren: ReadonlyMap<PathElement, FieldSet> = new Map();

export const emptySet: FieldSet = { member: false, children: noChildren };
/** A member without children. */
export const leaf: FieldSet = { member: true, children: noChildren };

export const isEmpty = (set: FieldSet): boolean => !set.member && set.children.size === 0;

/** A node; empty children are left out. */
export function node(member: boolean, children: Iterable<readonly [PathElement, FieldSet]>): FieldSet {
  const kept = new Map<PathElement, FieldSet>();
  for (const [element, child] of children) if (!isEmpty(child)) kept.set(element, child);
  if (kept.size === 0) return member ? leaf : emptySet;
  return { member, children: kept };
}

export const asMember = (set: FieldSet): FieldSet => (set.member ? set : { member: true, children: set.children });

/** Collects paths. The empty path is ignored. */
export class FieldSetBuilder {
  readonly #root: Growing = { member: false, children: new Map() };

  add(path: readonly PathElement[]): void {
    if (path.length === 0) return;
    let at = this.#root;
    for (const element of path) {
      let next = at.children.get(element);
      if (next === undefined) {
        next = { member: false, children: new Map() };
        at.children.set(element, next);
      }
      at = next;
    }
    at.member = true;
  }

  /** The builder must not be used afterwards. */
  build(): FieldSet {
    return this.#root;
  }
}

interface Growing extends FieldSet {
  member: boolean;
  readonly children: Map<PathElement, Growing>;
}

export function setOf(...paths: readonly (readonly PathElement[])[]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) builder.add(path);
  return builder.build();
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  if (isEmpty(a)) return b;
  const children = new Map(a.children);
  for (const [element, child] of b.children) {
    const other = children.get(element);
    children.set(element, other === undefined ? child : union(other, child));
  }
  return { member: a.member || b.member, children };
}

/** Of many sets, by halves: one after the other would copy the growing result for each. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [first = emptySet, second] = sets;
  if (second === undefined) return first;
  const half = Math.ceil(sets.length / 2);
  return union(unionOf(sets.slice(0, half)), unionOf(sets.slice(half)));
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const children: [PathElement, FieldSet][] = [];
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other !== undefined) children.push([element, intersection(child, other)]);
  }
  return node(a.member && b.member, children);
}

/** Removes the paths of `b`, but not those below them. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a;
  const children: [PathElement, FieldSet][] = [];
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    children.push([element, other === undefined ? child : difference(child, other)]);
  }
  return node(a.member && !b.member, children);
}

/** Removes the paths of `b` and those below them. */
export function differenceWithin(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a;
  const children: [PathElement, FieldSet][] = [];
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined) children.push([element, child]);
    else if (!other.member) children.push([element, differenceWithin(child, other)]);
  }
  return node(a.member, children);
}

export function has(set: FieldSet, path: readonly PathElement[]): boolean {
  let at: FieldSet | undefined = set;
  for (const element of path) {
    at = at.children.get(element);
    if (at === undefined) return false;
  }
  return path.length > 0 && at.member;
}

/** The elements below a node, in printing order. */
export function ordered(set: FieldSet): [PathElement, FieldSet][] {
  return [...set.children].sort(([a], [b]) => compareElements(a, b));
}

/** All paths: those of a level first, then those below each of them. */
export function* pathsOf(set: FieldSet, prefix: readonly PathElement[] = []): Generator<readonly PathElement[]> {
  const children = ordered(set);
  for (const [element, child] of children) if (child.member) yield [...prefix, element];
  for (const [element, child] of children) yield* pathsOf(child, [...prefix, element]);
}

export function sameSet(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.member !== b.member || a.children.size !== b.children.size) return false;
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined || !sameSet(child, other)) return false;
  }
  return true;
}
