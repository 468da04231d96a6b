/** The metadata that the API server sets or keeps, for objects of all kinds. */
import type { OwnerReference } from '../../api/generated/types.ts';
import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { deepEqual } from '../../api/schema/index.ts';
import { statusErrors } from '../../api/status.ts';
import type { Clock, Random } from '../../world/world.ts';

/** The timestamp of the last second: of many writes in one second only the first formats it. */
let lastSecond = { second: Number.NaN, text: '' };

/** A time as Kubernetes prints it: whole seconds, UTC. */
export function timestamp(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond.second) lastSecond = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` };
  return lastSecond.text;
}

/** An object without a namespace gets the request's; a different one is an error. Cluster-scoped objects have none. */
export function adoptNamespace({ metadata }: KubeObject, kind: Kind, requested: string): void {
  const expected = kind.namespaced ? requested : '';
  const given = metadata.namespace ?? '';
  if (given === expected) return;
  if (expected === '') delete metadata.namespace;
  else if (given === '') metadata.namespace = expected;
  else throw statusErrors.badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** The object's name must be the one of the URL. */
export function checkName({ metadata }: KubeObject, name: string): void {
  const given = metadata.name ?? '';
  if (given === '') throw statusErrors.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (given !== name) throw statusErrors.badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
}

/** Fields that only the server sets are not taken from the client. */
export function wipeSystemFields({ metadata }: KubeObject): void {
  delete metadata.creationTimestamp;
  delete metadata.uid;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
}

export function fillSystemFields({ metadata }: KubeObject, world: { readonly clock: Clock; readonly random: Random }): void {
  metadata.creationTimestamp = timestamp(world.clock.now());
  metadata.uid = world.random.uuid();
}

const NAME_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const RANDOM_LENGTH = 5;
const MAX_GENERATED_BASE = 63 - RANDOM_LENGTH;

export function generateName(base: string, random: Random): string {
  return base.slice(0, MAX_GENERATED_BASE) + randomSuffix(random);
}

/** Five characters without vowels and look-alikes (upstream: util/rand). */
export function randomSuffix(random: Random): string {
  let suffix = '';
  for (let i = 0; i < RANDOM_LENGTH; i++) suffix += NAME_ALPHABET.charAt(Math.floor(random.float() * NAME_ALPHABET.length));
  return suffix;
}

/** Removes repeated owner references. @returns warnings */
export function dedupeOwners({ metadata }: KubeObject, when: 'given' | 'admitted'): string[] {
  const references = metadata.ownerReferences;
  if (references === undefined || references.length < 2) return [];
  const kept: OwnerReference[] = [];
  const duplicates: string[] = [];
  const known = new Set<string>();
  for (const reference of references) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = reference;
    const identity = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
    if (known.has(identity)) duplicates.push(uid);
    else kept.push(reference);
    known.add(identity);
  }
  if (duplicates.length === 0) return [];
  metadata.ownerReferences = kept;
  const after = when === 'admitted' ? ' after mutating admission happens' : '';
  return [
    `.metadata.ownerReferences contains duplicate entries${after}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`,
  ];
}

/** Fields that an update may not change keep their values. */
export function keepSystemFields({ metadata }: KubeObject, { metadata: old }: KubeObject): void {
  if ((metadata.uid ?? '') === '' && old.uid !== undefined) metadata.uid = old.uid;
  if (old.creationTimestamp !== undefined) metadata.creationTimestamp = old.creationTimestamp;
  if (old.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
}

export function keepGeneration({ metadata }: KubeObject, { metadata: old }: KubeObject): void {
  if (old.generation === undefined) delete metadata.generation;
  else metadata.generation = old.generation;
}

/** The generation counts changes of everything but metadata and status. */
export function growGeneration(kind: Kind, object: KubeObject, old: KubeObject): void {
  if (!kind.hasGeneration || object.metadata.generation !== old.metadata.generation) return;
  if (desiredEqual(object, old) && kind.generationAlsoGrows?.(object, old) !== true) return;
  object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

function desiredEqual(a: KubeObject, b: KubeObject): boolean {
  const x: Readonly<Record<string, unknown>> = { ...a };
  const y: Readonly<Record<string, unknown>> = { ...b };
  for (const key of new Set([...Object.keys(x), ...Object.keys(y)])) {
    if (key !== 'metadata' && key !== 'status' && !deepEqual(x[key], y[key])) return false;
  }
  return true;
}
