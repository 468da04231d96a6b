import { compareQuantities } from '../../api/quantity.ts';
import { claimKeyOf } from './facts.ts';
import type { Invariant } from './invariant.ts';

/** Users may clear a claimRef or write any volumeName; controllers may not, and must check both sides. */
export const boundMutually: Invariant = {
  name: 'Bound is mutual and by UID',
  check: (change, facts) => {
    if (change.type !== 'claim' || change.after?.status.phase !== 'Bound') return undefined;
    const { after, before } = change;
    if (before?.status.phase === 'Bound' && before.spec.volumeName === after.spec.volumeName) return undefined;
    const volume = facts.volumes.get(after.spec.volumeName ?? '');
    if (volume === undefined) return `claim ${change.key} became Bound to volume ${after.spec.volumeName}, which does not exist`;
    if (volume.spec.claimRef?.uid === after.metadata.uid) return undefined;
    return `claim ${change.key} became Bound to volume ${after.spec.volumeName}, which belongs to ${claimKeyOf(volume)} ${volume.spec.claimRef?.uid ?? '(no uid)'}`;
  },
};

export const boundOnce: Invariant = {
  name: 'a volume is bound to at most one claim, and a claim to at most one volume',
  check: (change, facts) => {
    if (change.type === 'volume') {
      const [was, is] = [change.before?.spec.claimRef?.uid, change.after?.spec.claimRef?.uid];
      if (was === undefined || is === undefined || was === is) return undefined;
      return `volume ${change.key} went from claim ${was} to claim ${is} without being released`;
    }
    if (change.type !== 'claim' || change.after?.status.phase !== 'Bound') return undefined;
    const { after, before } = change;
    if (before?.status.phase === 'Bound' && before.spec.volumeName !== after.spec.volumeName)
      return `claim ${change.key} went from volume ${before.spec.volumeName} to volume ${after.spec.volumeName}`;
    if (before?.status.phase === 'Bound') return undefined;
    const others = Array.from(facts.claims).filter(
      ([key, claim]) =>
        key !== change.key &&
        claim.status.phase === 'Bound' &&
        claim.spec.volumeName === after.spec.volumeName &&
        facts.volumes.get(claim.spec.volumeName ?? '')?.spec.claimRef?.uid === claim.metadata.uid,
    );
    return others.length === 0 ? undefined : `volume ${after.spec.volumeName} is bound to ${[change.key, ...others.map(([key]) => key)].join(' and ')}`;
  },
};

const byController = 'pv.kubernetes.io/bound-by-controller';

/** A claim that names a volume in spec.volumeName gets it, terminating or not: that is the user's decision. */
export const terminatingIsNotBound: Invariant = {
  name: 'a terminating volume is bound to no claim',
  check: (change, facts) => {
    if (change.type !== 'volume' || change.before?.spec.claimRef !== undefined || change.after?.metadata.deletionTimestamp === undefined) return undefined;
    const claim = facts.claimByUid(change.after.spec.claimRef?.uid, claimKeyOf(change.after));
    const isChosen = claim !== undefined && ((claim.spec.volumeName ?? '') === '' || claim.metadata.annotations?.[byController] !== undefined);
    return isChosen ? `volume ${change.key} is terminating, and was bound to claim ${claimKeyOf(change.after)}` : undefined;
  },
};

export const releasedAfterClaim: Invariant = {
  name: 'a volume is released only once its claim is gone',
  check: (change, facts) => {
    if (change.type !== 'volume' || change.after?.status.phase !== 'Released' || change.before?.status.phase === 'Released') return undefined;
    const claim = facts.claimByUid(change.after.spec.claimRef?.uid, claimKeyOf(change.after));
    if (claim === undefined) return undefined;
    const has = claim.spec.volumeName ?? '';
    return has === '' || has === change.key ? `volume ${change.key} is Released, and its claim ${claimKeyOf(change.after)} exists` : undefined;
  },
};

export const noMoreThanTheDisk: Invariant = {
  name: 'no claim reports more capacity than its disk has',
  check: (change, facts) => {
    if (change.type !== 'claim' || change.after?.status.phase !== 'Bound') return undefined;
    const [reported, before] = [change.after.status.capacity?.['storage'], change.before?.status.capacity?.['storage']];
    const size = facts.disks.get(facts.volumes.get(change.after.spec.volumeName ?? '')?.spec.csi?.volumeHandle ?? '');
    if (reported === undefined || reported === before || size === undefined || compareQuantities(reported, size) <= 0) return undefined;
    return `claim ${change.key} reports ${reported}, and its disk has ${size}`;
  },
};
