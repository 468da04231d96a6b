/**
 * How ownership of fields changes hands. Two ways to write: an update owns what it changed, and takes it from whoever had
 * it; an apply owns exactly what it mentions, conflicts with others who have another value for it, and gives up what it
 * no longer mentions, which is removed if nobody else owns it.
 */
import { compare, type Comparison, excluding } from './compare.ts';
import { type Conflict, conflictsOf } from './conflict.ts';
import { difference, differenceWithin, emptySet, type FieldSet, intersection, isEmpty, union } from './field-set.ts';
import { fieldsOf, underSchema, withStructs } from './fields-of.ts';
import { type Owner, type Owners, withoutEmpty } from './managed-entries.ts';
import { merge } from './merge.ts';
import { removeFields } from './remove.ts';
import { sameValue } from './same-value.ts';
import type { JsonMap, Shape } from './shape.ts';

/** What is known of the type of an object, in all of its versions. */
export interface Typing {
  /** undefined: there is no such version (any more). */
  readonly shape: (version: string) => Shape | undefined;
  /** Between versions that there are. */
  readonly convert: (object: JsonMap, from: string, to: string) => JsonMap;
  /** What the server sets back whatever a request of this kind says: nobody comes to own it. */
  readonly ignored: FieldSet;
}

export interface Versioned {
  readonly version: string;
  readonly object: JsonMap;
}

const shapeAt = (typing: Typing, version: string): Shape => {
  const shape = typing.shape(version);
  if (shape === undefined) throw new Error(`no shape for version ${version}`);
  return shape;
};

const at = (typing: Typing, { object, version }: Versioned, to: string): JsonMap => (version === to ? object : typing.convert(object, version, to));

/** Owners as the schema of today has them; those of versions that are gone are gone. */
function current(typing: Typing, owners: Owners): Map<string, Owner> {
  const kept = new Map<string, Owner>();
  for (const [id, owner] of owners) {
    const shape = typing.shape(owner.version);
    if (shape === undefined) continue;
    const set = underSchema(owner.set, shape);
    kept.set(id, set === owner.set ? owner : { ...owner, set });
  }
  return kept;
}

/** Compares two states of an object in the terms of each version that somebody owns fields in. */
class Comparisons {
  readonly #typing: Typing;
  readonly #before: Versioned;
  readonly #after: Versioned;
  readonly #made = new Map<string, Comparison>();
  constructor(typing: Typing, before: Versioned, after: Versioned) {
    this.#typing = typing;
    this.#before = before;
    this.#after = after;
  }
  in(version: string): Comparison {
    let made = this.#made.get(version);
    if (made === undefined) {
      const [before, after] = [at(this.#typing, this.#before, version), at(this.#typing, this.#after, version)];
      made = excluding(compare(shapeAt(this.#typing, version), before, after), this.#typing.ignored);
      this.#made.set(version, made);
    }
    return made;
  }
}

export interface Updated {
  readonly owners: Map<string, Owner>;
  /** What the update changed, and whoever made it now owns. */
  readonly changed: FieldSet;
}

export function update(typing: Typing, given: Owners, { live, next, version }: { live: JsonMap; next: JsonMap; version: string }): Updated {
  const comparisons = new Comparisons(typing, { object: live, version }, { object: next, version });
  const owners = current(typing, given);
  for (const [id, owner] of owners) {
    const { removed, modified, added } = comparisons.in(owner.version);
    owners.set(id, { ...owner, set: difference(difference(difference(owner.set, modified), added), removed) });
  }
  const { modified, added } = comparisons.in(version);
  return { owners: withoutEmpty(owners), changed: union(modified, added) };
}

export interface Application {
  readonly live: JsonMap;
  readonly applied: JsonMap;
  readonly version: string;
  /** Who applies. */
  readonly id: string;
  readonly owner: Omit<Owner, 'set' | 'time' | 'version' | 'operation'>;
  readonly force: boolean;
}

export type Applied =
  | { readonly type: 'applied'; readonly object: JsonMap; readonly changed: boolean; readonly owners: Map<string, Owner> }
  | { readonly type: 'conflict'; readonly conflicts: readonly Conflict[] };

export function applyTo(typing: Typing, given: Owners, application: Application): Applied {
  const { live, applied, version, id, owner, force } = application;
  const shape = shapeAt(typing, version);
  const owners = current(typing, given);
  const last = owners.get(id);
  const set = differenceWithin(fieldsOf(shape, applied), typing.ignored);
  owners.set(id, { ...owner, operation: 'Apply', version, time: last?.time, set });
  const merged = (merge(shape, live, applied) ?? {}) as JsonMap;
  const object = last === undefined || isEmpty(last.set) ? merged : prune(typing, { merged, version, last, owners });
  const conflicts = settle(owners, { id, force, comparisons: new Comparisons(typing, { object: live, version }, { object, version }) });
  if (conflicts.length > 0) return { type: 'conflict', conflicts };
  return { type: 'applied', object, changed: !sameValue(live, object), owners: withoutEmpty(owners) };
}

interface Settling {
  readonly id: string;
  readonly force: boolean;
  readonly comparisons: Comparisons;
}

/** Takes from the others what changed: by force, or if they lose nothing but what is no longer there. */
function settle(owners: Map<string, Owner>, { id, force, comparisons }: Settling): Conflict[] {
  const taken = new Map<string, { owner: Owner; set: FieldSet }>();
  const left = new Map<string, Owner>();
  for (const [other, owner] of owners) {
    if (other === id) continue;
    const { removed, modified, added } = comparisons.in(owner.version);
    const set = intersection(owner.set, union(modified, added));
    if (!isEmpty(set)) taken.set(other, { owner, set });
    left.set(other, { ...owner, set: difference(difference(owner.set, set), removed) });
  }
  if (taken.size > 0 && !force) return conflictsOf(taken);
  for (const [other, owner] of left) owners.set(other, owner);
  return [];
}

interface Pruning {
  readonly merged: JsonMap;
  readonly version: string;
  readonly last: Owner;
  readonly owners: Owners;
}

/** Removes what was applied last time, is not applied this time, and is owned by nobody else. */
function prune(typing: Typing, { merged, version, last, owners }: Pruning): JsonMap {
  const shape = shapeAt(typing, last.version);
  const whole = at(typing, { object: merged, version }, last.version);
  const lastFields = withStructs(last.set, shape);
  const bare = removed(shape, whole, lastFields);
  const owned = addBackOwned(typing, { whole, bare, version: last.version, owners });
  // What goes away must be what its owner gave up: items without an owner stay.
  const before = withStructs(fieldsOf(shape, whole), shape);
  const after = withStructs(fieldsOf(shape, owned), shape);
  const pruned = removed(shape, whole, intersection(difference(before, after), lastFields));
  return at(typing, { object: pruned, version: last.version }, version);
}

const removed = (shape: Shape, object: JsonMap, set: FieldSet): JsonMap => (removeFields(shape, object, set) ?? {}) as JsonMap;

interface AddingBack {
  readonly whole: JsonMap;
  readonly bare: JsonMap;
  readonly version: string;
  readonly owners: Owners;
}

/** Puts back what was removed although somebody owns it, version by version; that of the removal comes first. */
function addBackOwned(typing: Typing, { whole, bare, version, owners }: AddingBack): JsonMap {
  const byVersion = new Map<string, FieldSet>([[version, emptySet]]);
  for (const owner of owners.values()) byVersion.set(owner.version, union(byVersion.get(owner.version) ?? emptySet, owner.set));
  let kept: Versioned = { object: bare, version };
  for (const [each, owned] of byVersion) {
    const shape = shapeAt(typing, each);
    const all = at(typing, { object: whole, version }, each);
    const named = (set: FieldSet): FieldSet => withStructs(set, shape);
    const present = named(fieldsOf(shape, all));
    const staying = union(named(fieldsOf(shape, at(typing, kept, each))), named(owned));
    kept = { object: removed(shape, all, difference(present, staying)), version: each };
  }
  return at(typing, kept, version);
}
