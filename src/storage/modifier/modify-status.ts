/** `status.modifyVolumeStatus` of a claim and its conditions, as external-resizer writes them. The same claim if nothing changes. */
import type { PersistentVolumeClaim, PersistentVolumeClaimCondition } from '../../api/generated/types.ts';
import { conditionTime, withConditions } from '../volumes/claim-conditions.ts';
import { messages } from './messages.ts';

const modifying = 'ModifyingVolume';
const modifyError = 'ModifyVolumeError';

const both: ReadonlySet<string> = new Set([modifying, modifyError]);
const none: ReadonlySet<string> = new Set();

export interface ModifyFailure {
  /** gRPC's word for the failure. */
  readonly code: string;
  readonly message: string;
}

export const wantedClass = ({ spec }: PersistentVolumeClaim): string => spec.volumeAttributesClassName ?? '';

export const currentClass = ({ status }: PersistentVolumeClaim): string => status.currentVolumeAttributesClassName ?? '';

/** The class that the volume is being given; '': none. */
export const targetClass = ({ status }: PersistentVolumeClaim): string => status.modifyVolumeStatus?.targetVolumeAttributesClassName ?? '';

export const isInProgress = ({ status }: PersistentVolumeClaim): boolean => status.modifyVolumeStatus?.status === 'InProgress';

/** Whether the claim's volume has to get other attributes, or a change of them has left traces in the claim's status. */
export const needsModification = (claim: PersistentVolumeClaim): boolean =>
  claim.status.modifyVolumeStatus !== undefined || wantedClass(claim) !== currentClass(claim);

/** A requirement is unmet, and nothing is asked of the driver. The conditions stay; `failure` adds one. */
export function markPending(claim: PersistentVolumeClaim, failure: ModifyFailure | undefined, now: number): PersistentVolumeClaim {
  const pending = withStatus(claim, 'Pending', targetClass(claim));
  return failure === undefined ? pending : withConditions(pending, [errorOf(failure, now)], none);
}

/** The driver is about to be asked. */
export const markInProgress = (claim: PersistentVolumeClaim, target: string, now: number): PersistentVolumeClaim =>
  withConditions(withStatus(claim, 'InProgress', target), [condition(modifying, { message: messages.inProgress(target) }, now)], none);

export function markFailed(
  claim: PersistentVolumeClaim,
  failure: ModifyFailure & { readonly final: boolean; readonly infeasible: boolean },
  now: number,
): PersistentVolumeClaim {
  const target = targetClass(claim);
  const message = failure.final ? messages.failed(target) : messages.stillInProgress(target);
  const marked = withStatus(claim, failure.infeasible ? 'Infeasible' : 'InProgress', target);
  return withConditions(marked, [condition(modifying, { message }, now), errorOf(failure, now)], none);
}

export function markModified(claim: PersistentVolumeClaim, target: string): PersistentVolumeClaim {
  const { modifyVolumeStatus: _, ...rest } = claim.status;
  return withConditions({ ...claim, status: { ...rest, currentVolumeAttributesClassName: target } }, [], both);
}

/** The user no longer wants another class. */
export const markCanceled = (claim: PersistentVolumeClaim): PersistentVolumeClaim => withConditions(claim, [], new Set([modifying]));

function withStatus(claim: PersistentVolumeClaim, status: 'Pending' | 'InProgress' | 'Infeasible', target: string): PersistentVolumeClaim {
  if (claim.status.modifyVolumeStatus?.status === status && targetClass(claim) === target) return claim;
  const modifyVolumeStatus = { ...(target === '' ? {} : { targetVolumeAttributesClassName: target }), status };
  return { ...claim, status: { ...claim.status, modifyVolumeStatus } };
}

const errorOf = ({ code, message }: ModifyFailure, now: number) => condition(modifyError, { reason: code, message }, now);

function condition(type: string, texts: { readonly reason?: string; readonly message: string }, now: number): PersistentVolumeClaimCondition {
  const at = conditionTime(now);
  return { type, status: 'True', lastProbeTime: at, lastTransitionTime: at, ...texts };
}
