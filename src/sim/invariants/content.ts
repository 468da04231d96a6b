import type { Invariant } from './invariant.ts';

/** The intent says what the driver is asked to fill the volume with. */
export const neverEmptyInstead: Invariant = {
  name: 'a claim with a data source never gets an empty volume in its place',
  check: (change, facts) => {
    if (change.type !== 'intent' || change.before !== undefined || change.after?.spec.operation !== 'Create') return undefined;
    const { claimRef } = change.after.spec;
    const claim = facts.claimByUid(claimRef.uid, `${claimRef.namespace}/${claimRef.name}`);
    const source = claim?.spec.dataSource ?? claim?.spec.dataSourceRef;
    const isFilled = change.after.spec.request.source !== undefined;
    return source === undefined || isFilled
      ? undefined
      : `an empty volume is provisioned for claim ${claimRef.name}, which names ${source.kind} ${source.name}`;
  },
};

/** Set by the hostile user of a world on the recycler pods that it creates. */
export const forgedLabel = 'forged';

/** What a hostile user says about a volume frees it never. */
export function neverFreedByForgery(): Invariant {
  /** The uids of forged pods. */
  const forged = new Set<string>();
  return {
    name: 'Recycle: no pod of another client counts as a scrub',
    check: (change, facts) => {
      if (change.type === 'pod' && change.after?.metadata.labels?.[forgedLabel] !== undefined) forged.add(change.after.metadata.uid ?? '');
      if (change.type !== 'volume' || change.before?.spec.claimRef === undefined || change.after === undefined) return undefined;
      const { before, after } = change;
      const isUnclaimed = before.status.phase === 'Released' || before.status.phase === 'Failed';
      if (!isUnclaimed || after.spec.claimRef !== undefined || after.spec.persistentVolumeReclaimPolicy !== 'Recycle') return undefined;
      const uid = facts.intents.get(change.key)?.status.podUID;
      if (uid !== undefined && !forged.has(uid)) return undefined;
      return uid === undefined ? `volume ${change.key} is offered again, and no recycler pod was recorded` : `volume ${change.key} was freed by a forged pod`;
    },
  };
}
