/**
 * The only owned field of a Scale is the number of replicas. Its owners are those of that field in
 * the object; the owners after a write of the scale are mapped back (upstream: managedfields/scalehandler.go).
 */
import type { ManagedFieldsEntry } from '../generated/types.ts';
import { difference, has, isEmpty, setOf } from './field-set.ts';
import { type Owner, type Owners, readOwners, writeOwners } from './managed-entries.ts';
import { fieldElement, type PathElement } from './path-element.ts';

export const scaleVersion = 'autoscaling/v1';
const inScale: readonly PathElement[] = ['spec', 'replicas'].map(fieldElement);

/** `replicas`: the path in the object; `version`: of the object in the request. */
export interface ScaleMapping {
  readonly version: string;
  readonly replicas: readonly PathElement[];
}

export function ownersInScale(entries: readonly ManagedFieldsEntry[], { replicas }: ScaleMapping): ManagedFieldsEntry[] | undefined {
  const owners = new Map<string, Owner>();
  for (const [id, owner] of readOwners(entries)) {
    if (has(owner.set, replicas)) owners.set(id, { ...owner, version: scaleVersion, set: setOf(inScale) });
  }
  return writeScaled(owners);
}

/** An updater keeps its id in the object, so that it is mapped back to the same owner. */
const writeScaled = (owners: Owners): ManagedFieldsEntry[] | undefined => writeOwners(owners);

export function ownersInObject(
  entries: readonly ManagedFieldsEntry[],
  scaled: readonly ManagedFieldsEntry[],
  { version, replicas }: ScaleMapping,
): ManagedFieldsEntry[] | undefined {
  const left = new Map([...readOwners(scaled).values()].map((owner) => [scaleId(owner), owner]));
  const owners = new Map<string, Owner>();
  for (const [id, owner] of readOwners(entries)) {
    const there = has(owner.set, replicas);
    const kept = !there || left.delete(scaleId(owner));
    const set = kept ? owner.set : difference(owner.set, setOf(replicas));
    if (!isEmpty(set)) owners.set(id, { ...owner, set });
  }
  for (const [id, owner] of left) if (has(owner.set, inScale)) owners.set(id, { ...owner, version, set: setOf(replicas) });
  return writeOwners(owners);
}

/** Identifies an owner without its version, which differs between the object and the scale. */
const scaleId = ({ manager, operation, subresource }: Owner): string => JSON.stringify([manager, operation, subresource]);
