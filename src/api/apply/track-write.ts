/** Tracking of writes that are no applies: whoever changes a field owns it from then on. */
import type { ManagedFieldsEntry } from '../generated/types.ts';
import { difference, isEmpty, setOf, union } from './field-set.ts';
import { noOwners, oldestFirst, type Owner, ownerId, type Owners, readOwners, writeOwners } from './managed-entries.ts';
import { type Typing, update } from './ownership.ts';
import { fieldElement } from './path-element.ts';
import type { JsonMap } from './shape.ts';

/** Where and when a write happens. */
export interface WriteContext {
  readonly typing: Typing;
  /** Of the request: 'apps/v1'. */
  readonly version: string;
  readonly subresource: string;
  /** As it is printed. */
  readonly now: string;
  /** What an object of the kind looks like of which nothing is said. */
  readonly blank: () => JsonMap;
}

const ofMetadata = ['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion'];

/** What identifies an object, or only the server sets: nobody owns it. */
export const strippedFields = setOf(
  [fieldElement('apiVersion')],
  [fieldElement('kind')],
  [fieldElement('metadata')],
  ...ofMetadata.map((name) => [fieldElement('metadata'), fieldElement(name)]),
);

/** The owner of all that was there before anybody kept track. */
export const beforeFirstApply = 'before-first-apply';

export interface Update {
  /** Both without managedFields. */
  readonly live: JsonMap;
  readonly next: JsonMap;
  readonly manager: string;
}

export function recordUpdate(scene: WriteContext, owners: Owners, { live, next, manager }: Update): Owners {
  const { typing, version, subresource, now } = scene;
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

/** A bound on the number of updaters: the oldest become one, in each version. */
function capped(owners: Map<string, Owner>): Owners {
  const updaters = oldestFirst(new Map([...owners].filter(([, { operation }]) => operation === 'Update')));
  let count = updaters.length;
  const firstOf = new Map<string, string>();
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
    owners.delete(first);
    owners.delete(id);
    owners.set(bucketId, { ...bucket, time: owner.time, set: collected === undefined ? owner.set : union(owner.set, collected.set) });
    firstOf.set(version, bucketId);
    count--;
  }
  return owners;
}

export interface TrackedWrite extends Update {
  /** metadata.managedFields of the object as it is stored, and as the request has it. */
  readonly liveEntries: readonly ManagedFieldsEntry[] | undefined;
  readonly givenEntries: readonly ManagedFieldsEntry[] | undefined;
  /** Whether the object is there already. */
  readonly exists: boolean;
  /** Whether the request names its manager: then the object is tracked from now on, if it was not before. */
  readonly explicit: boolean;
}

/** @returns the entries that the object is to have; undefined: none */
export function trackWrite(scene: WriteContext, write: TrackedWrite): ManagedFieldsEntry[] | undefined {
  const { liveEntries = [], givenEntries, exists, explicit, live, next, manager } = write;
  if (scene.subresource === '' && isReset(givenEntries)) {
    // Whoever wipes the slate wants it clean; a new object has its own maker on it all the same.
    return exists || !explicit ? undefined : writeOwners(recordUpdate(scene, noOwners, { live, next, manager }));
  }
  let owners = ownersOf(scene.subresource === '' ? givenEntries : undefined, liveEntries);
  if (owners.size === 0) {
    if (!explicit) return undefined;
    if (exists) owners = recordUpdate(scene, noOwners, { live: scene.blank(), next: live, manager: beforeFirstApply });
  }
  return writeOwners(recordUpdate(scene, owners, { live, next, manager }));
}

/** Those of the request, so that entries can be edited; but a client that knows nothing of them, or writes nonsense, does not delete them. */
function ownersOf(given: readonly ManagedFieldsEntry[] | undefined, live: readonly ManagedFieldsEntry[]): Owners {
  const asked = given === undefined || given.length === 0 ? noOwners : readOrNobody(given);
  return asked.size > 0 ? asked : readOrNobody(live);
}

function readOrNobody(entries: readonly ManagedFieldsEntry[]): Owners {
  try {
    return readOwners(entries);
  } catch (error) {
    if (error instanceof SyntaxError) return noOwners;
    throw error;
  }
}

/** An empty list, or one empty entry (a merge patch cannot say the other). */
function isReset(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (entries === undefined) return false;
  const [only] = entries;
  return only === undefined || (entries.length === 1 && Object.keys(only).length === 0);
}
