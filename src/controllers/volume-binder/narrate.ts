/** What the binder does, in words for those who follow it in the log: each line because it happened. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import type { LogFields } from '../../world/world.ts';
import type { BinderAction } from './actions.ts';
import type { BinderSnapshot } from './decide.ts';

export interface Line {
  readonly message: string;
  readonly fields: LogFields;
}

export function lookedAt(snapshot: BinderSnapshot): Line {
  if (snapshot.type === 'volume') {
    const { name, phase, claim, boundByController } = snapshot.volume;
    return {
      message: 'synchronizing PersistentVolume',
      fields: { volume: name, phase, boundTo: claim === undefined ? '' : `${claim.key} (uid: ${claim.uid})`, boundByController },
    };
  }
  const { key, phase, volumeName, everBound, boundByController } = snapshot.claim;
  return { message: 'synchronizing PersistentVolumeClaim', fields: { claim: key, phase, boundTo: volumeName, bindCompleted: everBound, boundByController } };
}

/** What has happened once an action is done; undefined: nothing to speak of. */
export function done(action: BinderAction): readonly Line[] {
  switch (action.do) {
    case 'bind':
      return [volumeBound(action.volume), claimBound(action.claim), volumePhase(action.volume), claimPhase(action.claim)];
    case 'update':
      return isVolume(action.object) ? [volumeBound(action.object)] : [claimBound(action.object)];
    case 'updateStatus':
      return isVolume(action.object) ? [volumePhase(action.object)] : [claimPhase(action.object)];
    case 'create':
    case 'delete':
    case 'confirmClaimGone':
    case 'tell':
      return [];
  }
}

const isVolume = (object: PersistentVolume | PersistentVolumeClaim): object is PersistentVolume => object.kind === 'PersistentVolume';
const keyOf = ({ metadata }: PersistentVolumeClaim): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

function volumeBound({ metadata, spec: { claimRef } }: PersistentVolume): Line {
  const volume = metadata.name;
  return claimRef?.uid === undefined
    ? { message: 'volume unbound', fields: { volume } }
    : { message: 'claim bound to volume', fields: { volume, claim: `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}` } };
}

function claimBound(claim: PersistentVolumeClaim): Line {
  const { volumeName, storageClassName } = claim.spec;
  return volumeName === undefined
    ? { message: 'claim got a class', fields: { claim: keyOf(claim), class: storageClassName } }
    : { message: 'volume bound to claim', fields: { claim: keyOf(claim), volume: volumeName } };
}

const volumePhase = ({ metadata, status }: PersistentVolume): Line => ({
  message: 'volume entered phase',
  fields: { volume: metadata.name, phase: status.phase },
});
const claimPhase = (claim: PersistentVolumeClaim): Line => ({ message: 'claim entered phase', fields: { claim: keyOf(claim), phase: claim.status.phase } });
