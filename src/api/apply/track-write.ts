/** managedFields of updates: the manager that changes a field owns it from then on. */
import type { ManagedFieldsEntry } from '../generated/types.ts';
import { difference, type FieldSet, isEmpty, setOf, union, unionOf } from './field-set.ts';
import { noOwners, oldestFirst, type Owner, ownerId, type Owners, readOwners, writeOwners } from './managed-entries.ts';
import { type Typing, update } from './ownership.ts';
import { fieldElement } from './path-element.ts';
import type { JsonMap } from './shape.ts';

/** The version, subresource and time of a write. */
export interface WriteContext {
  readonly typing: Typing;
  /** Of the request: 'apps/v1'. */
  readonly version: string;
  readonly subresource: string;
  /** As it is printed. */
  readonly now: string;
  /** An empty object of the kind. */
  readonly blank: () => JsonMap;
}

const ofMetadata = ['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion'];

/** Fields that identify an object or that only the server sets: they have no owner (upstream: stripmeta.go). */
export const strippedFields = setOf(
  [fieldElement('apiVersion')],
  [fieldElement('kind')],
  [fieldElement('metadata')],
  ...ofMetadata.map((name) => [fieldElement('metadata'), fieldElement(name)]),
);

/** The owner of fields from before the first tracked write. */
export const beforeFirstApply = 'before-first-apply';

export interface Update {
  /** Both without managedFields. */
  readonly live: JsonMap;
  readonly next: JsonMap;
  readonly manager: string;
}

export function recordUpdate(context: WriteContext, owners: Owners, { live, next, manager }: Update): Owners {
  const { typing, version, subresource, now } = context;
  const updated = update(typing, owners, { live, next, version });
  const changed = difference(updated.changed, strippedFields);
  if (!isEmpty(changed)) {
    const owner = { manager: manager === '' ? 'unknown' : manager, operation: 'Update', version, subresource } as const;
    const id = ownerId(owner);
    const before = updated.owners.get(id);
    updated.owners.set(id, { ...owner, time: now, set: before === undefined ? changed : union(changed, before.set) });
  }
  return capped(updated.owners);
}

const maxUpdaters = 10;
const oldUpdates = 'ancient-changes';

/** The bound of updaters: the oldest are merged into one per version (upstream: capmanagers.go). */
function capped(owners: Map<string, Owner>): Owners {
  const updaters = oldestFirst(new Map([...owners].filter(([, { operation }]) => operation === 'Update')));
  let count = updaters.length;
  const firstOf = new Map<string, string>();
  /** By id: what is merged into one owner. */
  const merged = new Map<string, FieldSet[]>();
  for (const [id, owner] of updaters) {
    if (count <= maxUpdaters) break;
    const { version } = owner;
    const first = firstOf.get(version);
    if (first === undefined) {
      firstOf.set(version, id);
      continue;
    }
    const bucket = { manager: oldUpdates, operation: 'Update', version, subresource: '' } as const;
    const bucketId = ownerId(bucket);
    const collected = owners.get(bucketId) ?? owners.get(first);
    const sets = merged.get(bucketId) ?? (collected === undefined ? [] : [collected.set]);
    sets.push(owner.set);
    merged.set(bucketId, sets);
    owners.delete(first);
    owners.delete(id);
    owners.set(bucketId, { ...bucket, time: owner.time, set: owner.set });
    firstOf.set(version, bucketId);
    count--;
  }
  for (const [id, sets] of merged) {
    const bucket = owners.get(id);
    if (bucket !== undefined) owners.set(id, { ...bucket, set: unionOf(sets) });
  }
  return owners;
}

export interface TrackedWrite extends Update {
  /** metadata.managedFields of the stored object, and of the request. */
  readonly liveEntries: readonly ManagedFieldsEntry[] | undefined;
  readonly givenEntries: readonly ManagedFieldsEntry[] | undefined;
  /** Whether the object exists. */
  readonly exists: boolean;
  /** Whether the request names its manager: then an untracked object becomes tracked. */
  readonly explicit: boolean;
}

/** @returns the new managedFields; undefined: none */
export function trackWrite(context: WriteContext, write: TrackedWrite): ManagedFieldsEntry[] | undefined {
  const { liveEntries = [], givenEntries, exists, explicit, live, next, manager } = write;
  if (context.subresource === '' && isReset(givenEntries)) {
    // A reset leaves no managers; but a new object gets its creator.
    return exists || !explicit ? undefined : writeOwners(recordUpdate(context, noOwners, { live, next, manager }));
  }
  let owners = ownersOf(context.subresource === '' ? givenEntries : undefined, liveEntries);
  if (owners.size === 0) {
    if (!explicit) return undefined;
    if (exists) owners = recordUpdate(context, noOwners, { live: context.blank(), next: live, manager: beforeFirstApply });
  }
  return writeOwners(recordUpdate(context, owners, { live, next, manager }));
}

/** The request's entries, since clients may edit them. Absent or invalid ones do not delete the stored entries. */
function ownersOf(given: readonly ManagedFieldsEntry[] | undefined, live: readonly ManagedFieldsEntry[]): Owners {
  const requested = given === undefined || given.length === 0 ? noOwners : readOrNone(given);
  return requested.size > 0 ? requested : readOrNone(live);
}

function readOrNone(entries: readonly ManagedFieldsEntry[]): Owners {
  try {
    return readOwners(entries);
  } catch (error) {
    if (error instanceof SyntaxError) return noOwners;
    throw error;
  }
}

/** A reset: an empty list, or one empty entry, since a merge patch cannot express the first. */
function isReset(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (entries === undefined) return false;
  const [only] = entries;
  return only === undefined || (entries.length === 1 && Object.keys(only).length === 0);
}
