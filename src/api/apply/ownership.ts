/**
 * How fields change their owners (upstream: structured-merge-diff, merge/update.go). An update owns the fields that it changed, and the
 * others lose them. An apply owns exactly its fields, conflicts with owners of other values, and gives up fields that it
 * no longer has; these are removed if they have no other owner.
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

/** The types of an object, in all of its versions. */
export interface Typing {
  /** undefined: the version is not served. */
  readonly shape: (version: string) => Shape | undefined;
  /** Between served versions. */
  readonly convert: (object: JsonMap, from: string, to: string) => JsonMap;
  /** The fields that the server resets in such a request: it gives no ownership of them (upstream: resetFields). */
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

/** Owners in terms of the current schema; those of versions that are not served are dropped. */
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

/** Compares two states of an object in each version in which fields are owned. */
class Comparisons {
  readonly #typing: Typing;
  readonly #before: Versioned;
  readonly #after: Versioned;
  readonly #made = new Map<string, Comparison>();
  readonly #changed = new Map<string, FieldSet>();
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
  /** Modified and added fields: made once, and not for each of many owners. */
  changedIn(version: string): FieldSet {
    let changed = this.#changed.get(version);
    if (changed === undefined) {
      const { modified, added } = this.in(version);
      changed = union(modified, added);
      this.#changed.set(version, changed);
    }
    return changed;
  }
}

export interface Updated {
  readonly owners: Map<string, Owner>;
  /** The changed fields, which the updater now owns. */
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
  /** The applier. */
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
  const conflicts = takeChanged(owners, { id, force, comparisons: new Comparisons(typing, { object: live, version }, { object, version }) });
  if (conflicts.length > 0) return { type: 'conflict', conflicts };
  return { type: 'applied', object, changed: !sameValue(live, object), owners: withoutEmpty(owners) };
}

interface Transfer {
  readonly id: string;
  readonly force: boolean;
  readonly comparisons: Comparisons;
}

/** Takes changed fields from the other owners: by force, or if the fields do not exist any more. */
function takeChanged(owners: Map<string, Owner>, { id, force, comparisons }: Transfer): Conflict[] {
  const taken = new Map<string, { owner: Owner; set: FieldSet }>();
  const left = new Map<string, Owner>();
  for (const [other, owner] of owners) {
    if (other === id) continue;
    const { removed } = comparisons.in(owner.version);
    const set = intersection(owner.set, comparisons.changedIn(owner.version));
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

/** Removes fields of the last apply that are not in this one and have no other owner. */
function prune(typing: Typing, { merged, version, last, owners }: Pruning): JsonMap {
  const shape = shapeAt(typing, last.version);
  const whole = at(typing, { object: merged, version }, last.version);
  const lastFields = withStructs(last.set, shape);
  const bare = removed(shape, whole, lastFields);
  const owned = addBackOwned(typing, { whole, bare, version: last.version, owners });
  // Only items that the applier owned are removed: items without an owner stay.
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

/** Restores removed fields that have another owner, version by version; that of the removal comes first. */
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
