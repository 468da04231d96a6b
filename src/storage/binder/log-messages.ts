/** The binder's debug log, with the messages of Kubernetes' PV controller at -v=4. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import type { Volume } from '../volumes/volume.ts';
import type { LogFields } from '../../world/world.ts';
import type { BinderAction } from './actions.ts';
import type { BinderDecision, BinderSubject } from './decide.ts';

export interface LogLine {
  readonly message: string;
  readonly fields: LogFields;
}

export function syncLine(subject: BinderSubject): LogLine {
  if (subject.type === 'volume') {
    return { message: 'synchronizing PersistentVolume', fields: stateOf(subject.volume) };
  }
  const { key, phase, volumeName, everBound, boundByController } = subject.claim;
  return { message: 'synchronizing PersistentVolumeClaim', fields: { claim: key, phase, boundTo: volumeName, bindCompleted: everBound, boundByController } };
}

const stateOf = ({ name, phase, claim, boundByController }: Volume): LogFields => ({
  volume: name,
  phase,
  boundTo: claim === undefined ? '' : `${claim.key} (uid: ${claim.uid})`,
  boundByController,
});

/** The chosen volume, if there is one. */
export function decisionLines(subject: BinderSubject, { reasons }: BinderDecision): readonly LogLine[] {
  const [reason] = reasons;
  if (subject.type !== 'claim' || reason?.code !== 'Binding' || reason.volume === undefined) return [];
  const volume = subject.snapshot.volume(reason.volume);
  const claim = subject.claim.key;
  return [
    ...(volume === undefined ? [] : [{ message: 'volume found for PersistentVolumeClaim', fields: { claim, ...stateOf(volume) } }]),
    { message: 'binding volume to claim', fields: { volume: reason.volume, claim } },
  ];
}

/** Before an action. */
export function actionStartLines(action: BinderAction): readonly LogLine[] {
  switch (action.do) {
    case 'bind':
      return [binding(action.volume), binding(action.claim)];
    case 'update':
      return [binding(action.object)];
    case 'updateStatus': {
      const { kind, status } = action.object;
      return [{ message: `updating ${kind}: set phase`, fields: { ...nameOf(action.object), phase: status.phase } }];
    }
    case 'create':
    case 'delete':
    case 'confirmClaimGone':
    case 'recordEvent':
      return [];
  }
}

function binding(object: PersistentVolume | PersistentVolumeClaim): LogLine {
  const other = isVolume(object) ? object.spec.claimRef : object.spec.volumeName;
  if (other === undefined) return { message: `updating ${object.kind}`, fields: nameOf(object) };
  const to = typeof other === 'string' ? other : `${other.namespace ?? ''}/${other.name ?? ''}`;
  return { message: `updating ${object.kind}: binding`, fields: { ...nameOf(object), to } };
}

const nameOf = (object: PersistentVolume | PersistentVolumeClaim): LogFields =>
  isVolume(object) ? { volume: object.metadata.name } : { claim: keyOf(object) };

/** After an action. */
export function actionDoneLines(action: BinderAction): readonly LogLine[] {
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
    case 'recordEvent':
      return [];
  }
}

const isVolume = (object: PersistentVolume | PersistentVolumeClaim): object is PersistentVolume => object.kind === 'PersistentVolume';
const keyOf = ({ metadata }: PersistentVolumeClaim): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

function volumeBound({ metadata, spec: { claimRef } }: PersistentVolume): LogLine {
  const volume = metadata.name;
  return claimRef?.uid === undefined
    ? { message: 'volume unbound', fields: { volume } }
    : { message: 'claim bound to volume', fields: { volume, claim: `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}` } };
}

function claimBound(claim: PersistentVolumeClaim): LogLine {
  const { volumeName, storageClassName } = claim.spec;
  return volumeName === undefined
    ? { message: 'claim got a class', fields: { claim: keyOf(claim), class: storageClassName } }
    : { message: 'volume bound to claim', fields: { claim: keyOf(claim), volume: volumeName } };
}

const volumePhase = ({ metadata, status }: PersistentVolume): LogLine => ({
  message: 'volume entered phase',
  fields: { volume: metadata.name, phase: status.phase },
});
const claimPhase = (claim: PersistentVolumeClaim): LogLine => ({ message: 'claim entered phase', fields: { claim: keyOf(claim), phase: claim.status.phase } });
