import { claimKeyOf, isRunning } from './facts.ts';
import type { Invariant } from './invariant.ts';

export const claimInUseStays: Invariant = {
  name: 'a claim is never removed while a pod runs with it',
  check: (change, facts) => {
    if (change.type !== 'claim' || change.after !== undefined) return undefined;
    const [namespace, name] = change.key.split('/');
    for (const [key, { spec, metadata, ...pod }] of facts.pods) {
      if (metadata.namespace !== namespace || !isRunning({ spec, metadata, ...pod })) continue;
      if (spec.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name) === true)
        return `claim ${change.key} is gone, and pod ${key} runs with it`;
    }
    return undefined;
  },
};

export const boundVolumeStays: Invariant = {
  name: 'a volume is never removed while a claim is bound to it',
  check: (change, facts) => {
    if (change.type !== 'volume' || change.after !== undefined || change.before === undefined) return undefined;
    const claim = facts.claimByUid(change.before.spec.claimRef?.uid, claimKeyOf(change.before));
    return claim?.status.phase === 'Bound' && claim.spec.volumeName === change.key
      ? `volume ${change.key} is gone, and claim ${claim.metadata.name} is bound to it`
      : undefined;
  },
};

/** The epoch of a fenced write is the current one when the write is committed. */
export const deposedWriteNothing: Invariant = {
  name: 'a deposed leader cannot write',
  check: (change, facts) => {
    if (change.type !== 'fenced-write') return undefined;
    const epoch = facts.epochs.get(change.lease);
    if (epoch === undefined || epoch === change.epoch || epoch > change.revision) return undefined;
    return `a write of epoch ${change.epoch} of ${change.lease} became revision ${change.revision}, when epoch ${epoch} was current`;
  },
};
