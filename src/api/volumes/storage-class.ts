import type { ObjectMeta, PersistentVolume, PersistentVolumeClaim, StorageClass } from '../generated/types.ts';
import { annotations } from './annotations.ts';
import { knowsZoneParameters } from './csi-migration.ts';

/**
 * The class of a claim.
 * - `unset`: the claim gets the default class as soon as there is one
 * - `none`:  "": only volumes without a class match
 */
export type ClaimClass = { readonly type: 'unset' } | { readonly type: 'none' } | { readonly type: 'named'; readonly name: string };

export function classOfClaim(claim: PersistentVolumeClaim): ClaimClass {
  const name = claim.metadata.annotations?.[annotations.betaStorageClass] ?? claim.spec.storageClassName;
  if (name === undefined) return { type: 'unset' };
  return name === '' ? { type: 'none' } : { type: 'named', name };
}

/** '' for `unset` and `none`, between which volumes make no difference. */
export const nameOfClass = (asked: ClaimClass): string => (asked.type === 'named' ? asked.name : '');

export function classNameOfVolume(volume: PersistentVolume): string {
  return volume.metadata.annotations?.[annotations.betaStorageClass] ?? volume.spec.storageClassName ?? '';
}

/** WaitForFirstConsumer: the scheduler chooses the volumes of claims, or the node for which they are provisioned. */
export const waitsForConsumer = (storageClass: StorageClass | undefined): boolean => storageClass?.volumeBindingMode === 'WaitForFirstConsumer';

/**
 * The zones that a class of an old plugin names in its parameters. WaitForFirstConsumer cannot honour them: they say
 * where, and so does the scheduler.
 */
export function zonesInParameters({ provisioner, parameters = {} }: StorageClass): readonly string[] {
  if (!knowsZoneParameters(provisioner)) return [];
  return Object.entries(parameters).flatMap(([name, value]) => (zoneParameters.has(name.toLowerCase()) ? value.split(',').map((zone) => zone.trim()) : []));
}

const zoneParameters: ReadonlySet<string> = new Set(['zone', 'zones']);

export function isDefaultClass({ annotations: given }: ObjectMeta): boolean {
  return given?.[annotations.defaultClass] === 'true' || given?.[annotations.betaDefaultClass] === 'true';
}

/** The newest of several defaults; of equally new ones the first by name. */
export function defaultClassOf(classes: Iterable<StorageClass>): StorageClass | undefined {
  let chosen: StorageClass | undefined;
  for (const candidate of classes) {
    if (isDefaultClass(candidate.metadata) && (chosen === undefined || isPreferred(candidate, chosen))) chosen = candidate;
  }
  return chosen;
}

function isPreferred({ metadata: a }: StorageClass, { metadata: b }: StorageClass): boolean {
  const [createdA, createdB] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  return createdA === createdB ? (a.name ?? '') < (b.name ?? '') : createdA > createdB;
}
