import type { PersistentVolume } from '../../api/generated/types.ts';
import type { VolumeIntent } from '../../api/kinds/mooring/volume-intent.ts';
import { claimKeyOf, type Facts, isProvisioned } from './facts.ts';
import type { Invariant } from './invariant.ts';

/** The existing claim of a volume. If the claim was bound to another volume meanwhile, this one is deleted, as in Kubernetes (v1.36.4, `syncVolume`). */
function owner(facts: Facts, handle: string): string | undefined {
  for (const volume of facts.volumesOf(handle)) {
    const key = claimKeyOf(volume);
    const claim = facts.claimByUid(volume.spec.claimRef?.uid, key);
    if (claim !== undefined && ['', volume.metadata.name].includes(claim.spec.volumeName ?? '')) return key;
  }
  return undefined;
}

/** Also if the PersistentVolume is deleted, its disk stays. A driver call from before the policy became Retain cannot be taken back. */
export function retained(): Invariant {
  const lastVolumes = new Map<string, PersistentVolume>();
  /** Calls that were allowed when they were made, and the disk that one of them deletes now. */
  const allowed = new Set<number>();
  let deleting: string | undefined;
  const retainedVolume = (handle: string, facts: Facts): PersistentVolume | undefined => {
    const present = facts.volumesOf(handle);
    const volumes = present.length > 0 ? present : [lastVolumes.get(handle)];
    return volumes.find((volume) => volume?.spec.persistentVolumeReclaimPolicy === 'Retain');
  };
  return {
    name: 'Retain: no backend data is ever deleted',
    check: (change, facts) => {
      const gone = change.type === 'volume' && change.after === undefined ? change.before : undefined;
      if (gone?.spec.csi !== undefined) lastVolumes.set(gone.spec.csi.volumeHandle, gone);
      if (change.type === 'call') {
        const { id, deletes, arrives } = change.call;
        if (arrives) deleting = allowed.has(id) ? deletes : undefined;
        else if (retainedVolume(deletes, facts) === undefined) allowed.add(id);
      }
      if (change.type !== 'disk' || change.change.type !== 'deleted') return undefined;
      const { handle } = change.change;
      const kept = retainedVolume(handle, facts);
      const isAllowed = deleting === handle;
      deleting = undefined;
      return kept === undefined || isAllowed ? undefined : `disk ${handle} of volume ${kept.metadata.name} was deleted, and its policy is Retain`;
    },
  };
}

export const deletedAfterClaim: Invariant = {
  name: 'Delete: only after the claim is gone',
  check: (change, facts) => {
    if (change.type !== 'disk' || change.change.type !== 'deleted') return undefined;
    const { handle } = change.change;
    const claim = owner(facts, handle);
    return claim === undefined ? undefined : `disk ${handle} was deleted while claim ${claim} is bound to it`;
  },
};

/** A handle contains the uid of a claim: a deleted disk is never created again. */
export function deletedOnce(): Invariant {
  const deleted = new Set<string>();
  return {
    name: 'Delete: exactly once',
    check: (change) => {
      if (change.type !== 'disk') return undefined;
      const { handle, type } = change.change;
      if (type === 'created' && deleted.has(handle)) return `disk ${handle} was created again after it had been deleted`;
      if (type === 'deleted') deleted.add(handle);
      return undefined;
    },
  };
}

/** Only the reclaimer clears the claimRef of a Released volume with policy Recycle, after a recycler pod has succeeded. */
export function notOfferedUnscrubbed(): Invariant {
  const scrubbed = new Set<string>();
  return {
    name: 'Recycle: never offered to another claim before the scrub is complete',
    check: (change) => {
      if (change.type === 'pod' && change.after?.status.phase === 'Succeeded') scrubbed.add(change.after.metadata.name);
      if (change.type !== 'volume' || change.before === undefined || change.after === undefined) return undefined;
      const { before, after } = change;
      const recycler = `recycler-for-${change.key}`;
      if (after.status.phase === 'Bound') scrubbed.delete(recycler);
      const isUnclaimed = before.status.phase === 'Released' || before.status.phase === 'Failed';
      const isGivenBack = isUnclaimed && before.spec.claimRef !== undefined && after.spec.claimRef === undefined;
      if (!isGivenBack || after.spec.persistentVolumeReclaimPolicy !== 'Recycle' || scrubbed.has(recycler)) return undefined;
      return `volume ${change.key} is offered again, and no recycler pod has succeeded since it was bound`;
    },
  };
}

/** With the annotation bound-by-controller, the next reservation by hand would look like the binder's own. */
export const givenBackClean: Invariant = {
  name: 'Recycle: nothing of the last claim is left',
  check: (change) => {
    if (change.type !== 'volume' || change.before?.status.phase !== 'Released' || change.before.spec.claimRef === undefined) return undefined;
    const { after } = change;
    if (after?.spec.persistentVolumeReclaimPolicy !== 'Recycle' || after.spec.claimRef !== undefined) return undefined;
    const isMarked = after.metadata.annotations?.['pv.kubernetes.io/bound-by-controller'] !== undefined;
    return isMarked ? `volume ${change.key} is available again, and annotated as bound by a controller` : undefined;
  },
};

export const madeOnce: Invariant = {
  name: 'for a claim, one volume is provisioned',
  check: (change, facts) => {
    if (change.type !== 'intent' || change.before !== undefined || change.after?.spec.operation !== 'Create') return undefined;
    const { claimRef } = change.after.spec;
    const other = Array.from(facts.intents).find(([key, { spec }]) => key !== change.key && spec.operation === 'Create' && spec.claimRef.uid === claimRef.uid);
    return other === undefined ? undefined : `${other[0]} and ${change.key} are both provisioned for claim ${claimRef.namespace}/${claimRef.name}`;
  },
};

export function intentBeforeEffect(): Invariant {
  const unguarded = new UnguardedVolumes();
  return {
    name: 'every backend volume is reachable from an intent or a PersistentVolume',
    check: (change, facts) => {
      if (change.type === 'disk') return change.change.type === 'created' ? orphan(facts, change.change.handle) : undefined;
      if (change.type !== 'intent' && change.type !== 'volume') return undefined;
      if (change.type === 'volume' && change.after !== undefined) unguarded.observe(change.key, change.after);
      if (change.after !== undefined || change.before === undefined) return undefined;
      // The disk of a retained volume, or of one created by hand, stays when the PersistentVolume is deleted.
      if (unguarded.has(change.key) || (change.type === 'volume' && !isProvisioned(change.before))) return undefined;
      const handle = change.type === 'volume' ? change.before.spec.csi?.volumeHandle : handleOfIntent(change.before, change.key);
      return handle === undefined ? undefined : orphan(facts, handle);
    },
  };
}

const guard = 'external-provisioner.volume.kubernetes.io/finalizer';

/**
 * The provisioner's finalizer keeps a volume until its disk is deleted. It is removed if the policy is not Delete, and cannot be added to a terminating
 * volume: as with external provisioners (v13, `shouldDelete`) the disk then stays, even if the policy becomes Delete later.
 */
class UnguardedVolumes {
  readonly #names = new Set<string>();

  observe(name: string, { metadata, spec }: PersistentVolume): void {
    if (spec.persistentVolumeReclaimPolicy !== 'Delete') this.#names.add(name);
    else if (metadata.finalizers?.includes(guard) === true) this.#names.delete(name);
  }

  /** Also after the volume is gone: its intent is deleted later. */
  has(name: string): boolean {
    return this.#names.has(name);
  }
}

/** As the simulated drivers name volumes. */
function handleOfIntent({ spec }: VolumeIntent, name: string): string {
  const [, prefix] = spec.operation === 'Scrub' ? [] : (/^(\w)\.csi\./.exec(spec.driver) ?? []);
  return prefix === undefined ? `disk-${name}` : `${prefix}.disk-${name}`;
}

function orphan(facts: Facts, handle: string): string | undefined {
  if (!facts.disks.has(handle) || facts.volumesOf(handle).length > 0) return undefined;
  const intent = facts.intents.get(handle.replace(/^(?:\w\.)?disk-/, ''));
  return intent === undefined ? `disk ${handle} exists, and neither an intent nor a volume names it` : undefined;
}
