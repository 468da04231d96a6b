/**
 * Changes of a volume's VolumeAttributesClass by a driver of this process, as external-resizer's modify controller does them:
 *
 *     status: modifyVolumeStatus InProgress, target gold; condition ModifyingVolume
 *     the driver is asked for the parameters of gold                ← crash: asked again for gold
 *     the volume's spec names gold                                  ← crash: asked again, as before
 *     status: currentVolumeAttributesClassName gold; nothing under way
 *
 * Once a driver was asked for a class, that has to succeed, or fail for certain, before it is asked for another one: otherwise the attributes
 * of the volume would be unknown. The user may meanwhile want another class, or none.
 */
import type { PersistentVolume, PersistentVolumeClaim, VolumeAttributesClass } from '../../api/generated/types.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { cameBackSince, type SecretName } from '../../api/volumes/intent.ts';
import { type LastEvent, type ObjectEvent, recordIfChanged, recordOnce, update, updateStatus } from '../../client/decision.ts';
import { stay } from '../volumes/decision.ts';
import { sourceOf } from '../volumes/source.ts';
import type { ModifierAction, ModifierDecision, ModifierReason, ModifyAttempt } from './actions.ts';
import { messages } from './messages.ts';
import {
  currentClass,
  isInProgress,
  markCanceled,
  markFailed,
  markInProgress,
  markModified,
  markPending,
  type ModifyFailure,
  needsModification,
  targetClass,
  wantedClass,
} from './modify-status.ts';

export interface ModifierSnapshot {
  readonly claim: PersistentVolumeClaim;
  /** The volume that the claim names. */
  readonly volume: PersistentVolume | undefined;
  readonly attributesClass: (name: string) => VolumeAttributesClass | undefined;
  /** The drivers in this process, by name. */
  readonly driver: (name: string) => DriverCapabilities | undefined;
  /** The last attempt, if a driver of this process was asked. */
  readonly attempt: ModifyAttempt | undefined;
  readonly lastEvent: LastEvent;
}

export function decide(snapshot: ModifierSnapshot, now: number): ModifierDecision {
  const { claim, volume } = snapshot;
  if (claim.status.phase !== 'Bound') return stay({ code: 'NotBound', text: 'it has no volume yet', next: 'binder' });
  if (volume === undefined || volume.spec.claimRef?.uid !== claim.metadata.uid) {
    return stay({ code: 'NotBound', text: `volume "${claim.spec.volumeName ?? ''}" is not bound to it`, next: 'binder' });
  }
  if (!needsModification(claim)) return stay({ code: 'Modified', text: 'its volume has the attributes that it wants', next: 'none' });
  const driver = volume.spec.csi?.driver;
  const facts = driver === undefined ? undefined : snapshot.driver(driver);
  if (driver !== undefined && facts === undefined) {
    return stay({ code: 'ExternalModifying', text: `the resizer of driver "${driver}" has to modify its volume`, next: 'external resizer' });
  }
  if (wantedClass(claim) === '' && !isInProgress(claim)) return cancel(claim);
  if (driver === undefined || facts === undefined) {
    return refuse(snapshot, { code: 'Unimplemented', message: messages.noCsi(volume.metadata.name ?? '') }, now);
  }
  if (facts.csi?.modifies !== true) return refuse(snapshot, { code: 'Unimplemented', message: messages.noCapability }, now);
  return modify({ ...snapshot, volume, facts, now });
}

interface Modification extends ModifierSnapshot {
  readonly volume: PersistentVolume;
  readonly facts: DriverCapabilities;
  readonly now: number;
}

function modify(modification: Modification): ModifierDecision {
  const { claim, attempt, now } = modification;
  const driver = modification.facts.name;
  // Whether the driver may still be at work on the last target.
  const isUncertain = isInProgress(claim) && !(attempt?.type === 'failed' && attempt.target === targetClass(claim) && attempt.final);
  const target = isUncertain || wantedClass(claim) === '' ? targetClass(claim) : wantedClass(claim);
  const last = attempt?.target === target ? attempt : undefined;
  if (last?.type === 'answered' && isInProgress(claim)) return conclude(modification, last);
  const attributesClass = modification.attributesClass(target);
  const unmet = unmetRequirement(target, attributesClass, driver);
  if (unmet !== undefined || attributesClass === undefined) return refuse(modification, unmet, now, isUncertain);
  const failed = last?.type === 'failed' ? last : undefined;
  const reason: ModifierReason = { code: 'Modifying', text: `driver "${driver}" gives it the attributes of "${target}"`, next: 'driver', driver };
  if (failed !== undefined && failed.notBefore > now && !mayAskAtOnce(modification, failed)) {
    return { ...stay<ModifierReason>({ ...reason, code: 'ModifyFailed', text: failed.message, by: failed.notBefore }), again: failed.notBefore };
  }
  const intended = isUncertain ? claim : markInProgress(claim, target, now);
  if (intended !== claim) {
    const announce = event(claim, 'Normal', 'VolumeModify', messages.modifying(claim.metadata.name ?? '', target));
    return { actions: [...updateStatus(claim, intended), recordOnce(announce)], reasons: [reason] };
  }
  const call: ModifierAction = {
    do: 'modifyVolume',
    claim,
    driver,
    volume: sourceOf(modification.volume),
    target,
    mutableParameters: attributesClass.parameters ?? {},
    ...secretOf(modification.volume),
    failures: failed?.failures ?? 0,
  };
  return { actions: [call], reasons: [reason] };
}

/** A driver that came back is asked at once, unless it refused the parameters for certain. */
const mayAskAtOnce = ({ facts, now, claim }: Modification, failed: ModifyAttempt & { readonly type: 'failed' }): boolean =>
  claim.status.modifyVolumeStatus?.status !== 'Infeasible' && cameBackSince(failed.at, now, facts.csi?.answersSince);

function unmetRequirement(target: string, attributesClass: VolumeAttributesClass | undefined, driver: string): ModifyFailure | undefined {
  if (attributesClass === undefined) return { code: 'NotFound', message: messages.missing(target) };
  if (attributesClass.driverName === driver) return undefined;
  return { code: 'InvalidArgument', message: messages.otherDriver(target, attributesClass.driverName, driver) };
}

/** Nothing is asked of the driver. What is under way stays so. */
function refuse({ claim, lastEvent }: ModifierSnapshot, failure: ModifyFailure | undefined, now: number, isUnderWay = isInProgress(claim)): ModifierDecision {
  const why = failure?.message ?? '';
  const { actions, again } = recordIfChanged(event(claim, 'Warning', 'VolumeModifyFailed', why), lastEvent(claim.metadata.uid ?? ''), now);
  const marked = isUnderWay ? claim : markPending(claim, failure, now);
  return { actions: [...updateStatus(claim, marked), ...actions], reasons: [{ code: 'ModifyPending', text: why, next: 'user' }], again };
}

/** The user no longer wants another class, and no driver is at work. What the last attempt ended with stays in the status. */
function cancel(claim: PersistentVolumeClaim): ModifierDecision {
  const marked = markCanceled(claim);
  const canceled = recordOnce(event(claim, 'Normal', 'VolumeModifyCanceled', messages.canceled));
  const reasons: readonly ModifierReason[] = [{ code: 'Modified', text: `its volume keeps the attributes of "${currentClass(claim)}"`, next: 'none' }];
  return { actions: marked === claim ? [] : [...updateStatus(claim, marked), canceled], reasons };
}

function conclude(modification: Modification, attempt: ModifyAttempt & { readonly type: 'answered' }): ModifierDecision {
  const { claim, facts, now } = modification;
  const { outcome, target, failures } = attempt;
  if (outcome.type === 'modified') return finish(modification, target);
  const { message, final, infeasible, code } = outcome;
  const notBefore = now + delayBefore(failures + 1, infeasible);
  const next: ModifyAttempt = { type: 'failed', target, final, message, failures: failures + 1, at: now, notBefore };
  const text = final ? message : messages.stillModifying(message, target);
  const failed = markFailed(claim, { code, message: descriptionOf(message), final, infeasible }, now);
  return {
    actions: [...updateStatus(claim, failed), recordOnce(event(claim, 'Warning', 'VolumeModifyFailed', text)), { do: 'rememberAttempt', claim, attempt: next }],
    reasons: [{ code: 'ModifyFailed', text: message, next: 'driver', driver: facts.name, by: notBefore }],
    again: notBefore,
  };
}

/** The volume first: the class that a claim has counts as its own only once its volume has it. */
function finish({ claim, volume }: Modification, target: string): ModifierDecision {
  const named = volume.spec.volumeAttributesClassName === target ? volume : { ...volume, spec: { ...volume.spec, volumeAttributesClassName: target } };
  const modified = event(claim, 'Normal', 'VolumeModifySuccessful', messages.modified(claim.metadata.name ?? '', target));
  return {
    actions: [
      ...update(volume, named),
      ...updateStatus(claim, markModified(claim, target)),
      recordOnce(modified),
      { do: 'rememberAttempt', claim, attempt: undefined },
    ],
    reasons: [{ code: 'Modified', text: `its volume has the attributes of "${target}"`, next: 'none' }],
  };
}

const event = (about: PersistentVolumeClaim, type: ObjectEvent['type'], reason: string, message: string): ObjectEvent => ({ about, type, reason, message });

/** The annotations of the provisioner; else the Secret of expansion. */
function secretOf({ metadata, spec }: PersistentVolume): { readonly secret?: SecretName } {
  const [name = '', namespace = ''] = [metadata.annotations?.[annotations.modifySecretName], metadata.annotations?.[annotations.modifySecretNamespace]];
  if (name !== '' && namespace !== '') return { secret: { namespace, name } };
  const { name: other = '', namespace: where = '' } = spec.csi?.controllerExpandSecretRef ?? {};
  return other === '' ? {} : { secret: { namespace: where, name: other } };
}

/** The driver's own words, without the prefix of gRPC. */
const descriptionOf = (message: string): string => message.replace(/^rpc error: code = \w+ desc = /, '');

const firstDelayMs = 1000;
const longestDelayMs = 300_000;

/** The backoff of external-resizer; an infeasible class is tried as rarely as possible. */
const delayBefore = (attempt: number, infeasible: boolean): number =>
  infeasible ? longestDelayMs : Math.min(firstDelayMs * 2 ** Math.min(attempt - 1, 30), longestDelayMs);
