import type { PersistentVolume, PersistentVolumeClaim, Pod, VolumeAttributesClass } from '../../api/generated/types.ts';
import { type Kind, untypedKind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { readClaim } from '../volumes/claim.ts';
import { isKeptByProvisioner, readVolume } from '../volumes/volume.ts';
import { type Change, keyOf } from '../../client/informers/cache.ts';
import type { Client, Result } from '../../client/client.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { LiveLists } from '../../client/live-lists.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, outcomeOf, type Source, source } from '../../client/controller/loop.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { ProtectionAction } from './actions.ts';
import { decideProtection, type ProtectionSnapshot } from './decide.ts';
import { attributesClassesOfClaim, attributesClassesOfVolume, claimKeysOf, isAwaitedBy, isUsedBy, usesClaim } from './usage.ts';

export interface ProtectionOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly kinds: {
    readonly pod: Kind<Pod>;
    readonly claim: Kind<PersistentVolumeClaim>;
    readonly volume: Kind<PersistentVolume>;
    readonly attributesClass: Kind<VolumeAttributesClass>;
  };
}

/** A claim stays as long as a pod with a node uses it. Keys are 'namespace/name'. */
export function claimProtection({
  client,
  informers,
  kinds,
}: ProtectionOptions): Controller<string, ProtectionSnapshot<Stored<PersistentVolumeClaim>>, ProtectionAction> {
  const byClaim = informers.cache(kinds.pod).addIndex(claimKeysOf);
  const livePods = new LiveLists(client, kinds.pod);
  return protection({
    name: 'pvc-protection',
    finalizer: 'kubernetes.io/pvc-protection',
    kind: kinds.claim,
    client,
    informers,
    sources: [source(kinds.pod, ({ before }) => (before === undefined ? [] : claimKeysOf(before)))],
    usersOf: (claim) =>
      byClaim
        .get(keyOf(claim.metadata))
        .filter((pod) => usesClaim(pod, claim))
        .map((pod) => `pod ${keyOf(pod.metadata)}`),
    isUsed: async (claim) => map(await livePods.in(claim.metadata.namespace ?? ''), (pods) => pods.some((pod) => usesClaim(pod, claim))),
  });
}

/** A volume stays as long as it is bound, and if it was provisioned for a claim, until the claim has taken it or will not. Keys are names. */
export function volumeProtection({
  client,
  informers,
  kinds,
}: ProtectionOptions): Controller<string, ProtectionSnapshot<Stored<PersistentVolume>>, ProtectionAction> {
  const claims = informers.cache(kinds.claim);
  return protection({
    name: 'pv-protection',
    finalizer: 'kubernetes.io/pv-protection',
    kind: kinds.volume,
    client,
    informers,
    // If its claim is deleted, or gets another volume, the binder writes this volume.
    sources: [],
    usersOf: (object) => {
      const volume = readVolume(object);
      const key = volume.claim?.key ?? '';
      const claim = claims.getKey(key);
      return isUsedBy(volume, claim === undefined ? undefined : readClaim(claim)) ? [`claim ${key}`] : [];
    },
    // A bound volume has the phase Bound, and the update conflicts if that happened meanwhile.
    isUsed: async (object) => {
      const volume = readVolume(object);
      if (volume.claim === undefined || !isKeptByProvisioner(volume)) return { ok: true, value: false };
      const claim = await client.get(kinds.claim, volume.claim);
      return !claim.ok && claim.reason === 'notFound' ? { ok: true, value: false } : map(claim, (found) => isAwaitedBy(volume, readClaim(found)));
    },
  });
}

/** An attributes class stays as long as a claim or a volume names it. Keys are names. */
export function attributesClassProtection({
  client,
  informers,
  kinds,
}: ProtectionOptions): Controller<string, ProtectionSnapshot<Stored<VolumeAttributesClass>>, ProtectionAction> {
  const claims = informers.cache(kinds.claim).addIndex(attributesClassesOfClaim);
  const volumes = informers.cache(kinds.volume).addIndex(attributesClassesOfVolume);
  const liveClaims = new LiveLists(client, kinds.claim);
  const liveVolumes = new LiveLists(client, kinds.volume);
  return protection({
    name: 'vac-protection',
    finalizer: 'kubernetes.io/vac-protection',
    kind: kinds.attributesClass,
    client,
    informers,
    sources: [source(kinds.claim, noLongerNamed(attributesClassesOfClaim)), source(kinds.volume, noLongerNamed(attributesClassesOfVolume))],
    usersOf: ({ metadata: { name } }) => [
      ...claims.get(name).map((claim) => `claim ${keyOf(claim.metadata)}`),
      ...volumes.get(name).map((volume) => `volume ${keyOf(volume.metadata)}`),
    ],
    isUsed: async ({ metadata: { name } }) => {
      const named = map(await liveClaims.in(''), (all) => all.some((claim) => attributesClassesOfClaim(claim).includes(name)));
      if (!named.ok || named.value) return named;
      return map(await liveVolumes.in(''), (all) => all.some((volume) => attributesClassesOfVolume(volume).includes(name)));
    },
  });
}

interface Protection<T extends KubeObject> {
  readonly name: string;
  readonly finalizer: string;
  readonly kind: Kind<T>;
  readonly client: Client;
  readonly informers: Informers;
  /** Besides changes of the object itself. */
  readonly sources: readonly Source<string>[];
  readonly usersOf: (object: Stored<T>) => readonly string[];
  /** Asks the server. */
  readonly isUsed: (object: Stored<T>) => Promise<Result<boolean>>;
}

function protection<T extends KubeObject>({
  name,
  finalizer,
  kind,
  client,
  informers,
  sources,
  usersOf,
  isUsed,
}: Protection<T>): Controller<string, ProtectionSnapshot<Stored<T>>, ProtectionAction> {
  const objects = informers.cache(kind);
  return defineController<string, ProtectionSnapshot<Stored<T>>, ProtectionAction>({
    name,
    sources: [source(kind, ({ after }) => (after === undefined || isSettled(after, finalizer) ? [] : [keyOf(after.metadata)])), ...sources],
    snapshot(key) {
      const object = objects.getKey(key);
      // Users are listed only for objects that are being deleted: another claim may have thousands.
      return object === undefined ? undefined : { object, users: object.metadata.deletionTimestamp === undefined ? [] : usersOf(object) };
    },
    decide: (snapshot) => decideProtection(snapshot, finalizer),
    writer: new ObjectWriter(client, [untypedKind(kind)]),
    actions: {
      async 'confirm-unused'(_action, _key, { object }) {
        const used = await isUsed(object);
        if (!used.ok) return outcomeOf(used);
        // The caches will show the user soon; until then, the server is asked again now and then.
        return used.value ? { retry: 'it is in use, which the caches do not show yet' } : 'done';
      },
    },
    parallelism: 32,
  });
}

/** Most objects, most of the time: protected, and not being deleted. They are not worth a pass. */
const isSettled = ({ metadata }: KubeObject, finalizer: string) =>
  metadata.deletionTimestamp === undefined && (metadata.finalizers?.includes(finalizer) ?? false);

/** The names that an object no longer mentions. */
function noLongerNamed<T extends KubeObject>(namesOf: (object: T) => readonly string[]): (change: Change<T>) => readonly string[] {
  return ({ before, after }) => {
    if (before === undefined) return [];
    const still = new Set(after === undefined ? [] : namesOf(after));
    return namesOf(before).filter((name) => !still.has(name));
  };
}

const map = <A, B>(result: Result<A>, change: (value: A) => B): Result<B> => (result.ok ? { ok: true, value: change(result.value) } : result);
