/**
 * Attaches and detaches volumes of the drivers in this process, as Kubernetes' external-attacher does for CSI drivers: the
 * attach/detach controller creates a VolumeAttachment, and the CSI attacher answers in its status.
 *
 *     the volume and the attachment get a finalizer          neither can go while the backend may have the volume attached
 *     the driver is asked to publish                         ← crash: asked again, which changes nothing
 *     status.attached
 *     …deleted: the driver is asked to unpublish             ← crash: as above
 *     the finalizer goes, and the attachment with it
 *
 * From time to time the backend is asked for its attached volumes (`verification.ts`). Where these differ from an attachment's status, the
 * driver is asked again.
 */
import type { PersistentVolume, PersistentVolumeSpec, VolumeAttachment } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { csiSourceOf } from '../../api/volumes/csi-translation.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { cameBackSince } from '../../api/volumes/intent.ts';
import { update, updateStatus } from '../../client/decision.ts';
import { because, stay } from '../volumes/decision.ts';
import type { PublishTarget, PublishRequest } from '../../api/volumes/controller-publish.ts';
import type { CsiAttacherAction, PublishAttempt, CsiAttacherDecision, DanglingAttachment } from './actions.ts';
import { attachedWith, attachFailed, detached, detachFailed, held, isHeld, nodeIdOn, released, withNodeId } from './attachment-edits.ts';

export type CsiAttacherSnapshot =
  | ({ readonly type: 'attachment' } & AttachmentSnapshot)
  /** The backend has the volume attached, and there is no VolumeAttachment. */
  | { readonly type: 'dangling'; readonly name: string; readonly dangling: DanglingAttachment }
  /** A volume that is being deleted. `isNeeded`: there are attachments of it. */
  | { readonly type: 'volume'; readonly volume: PersistentVolume; readonly driver: string; readonly isNeeded: boolean };

interface AttachmentSnapshot {
  readonly attachment: Stored<VolumeAttachment>;
  /** The one that the attachment names. */
  readonly volume: PersistentVolume | undefined;
  /** The driver's name for the node; undefined: the node does not know the driver, or is gone. */
  readonly nodeId: string | undefined;
  readonly attempt: PublishAttempt | undefined;
  readonly driver: DriverCapabilities | undefined;
  /** The backend does not agree with the attachment's present status. */
  readonly isContradicted: boolean;
}

export function decide(snapshot: CsiAttacherSnapshot, now: number): CsiAttacherDecision {
  switch (snapshot.type) {
    case 'attachment':
      return snapshot.attachment.metadata.deletionTimestamp === undefined ? attach(snapshot, now) : detach(snapshot, now);
    case 'dangling':
      return {
        actions: [{ do: 'detachDangling', name: snapshot.name, dangling: snapshot.dangling }],
        reasons: [because('Dangling', `it is attached to node "${snapshot.dangling.node}" without a VolumeAttachment`, 'driver')],
      };
    case 'volume':
      return release(snapshot);
  }
}

/** A volume that is not attached may be removed. */
function release({ volume, driver, isNeeded }: Extract<CsiAttacherSnapshot, { type: 'volume' }>): CsiAttacherDecision {
  if (volume.metadata.deletionTimestamp === undefined || isNeeded) return stay(because('Held', 'it is attached, or may be', 'attach-detach'));
  return { actions: update(volume, released(volume, driver)), reasons: [because('Unattached', 'it is attached nowhere', 'none')] };
}

function attach(snapshot: AttachmentSnapshot, now: number): CsiAttacherDecision {
  const { attachment, attempt, volume } = snapshot;
  if (attempt?.type === 'published') return conclude(snapshot, attempt, now);
  if (attachment.status.attached && !snapshot.isContradicted) return stay(because('Attached', 'it is attached', 'node'));
  const target = targetOf(snapshot, snapshot.nodeId);
  if (typeof target === 'string') return failAttachment(attachment, target, now);
  const reasons = [because('Attaching', `driver "${attachment.spec.attacher}" attaches it`, 'driver')];
  const intended = withNodeId(held(attachment, attachment.spec.attacher), target.nodeId);
  const guarded = volume === undefined ? [] : update(volume, held(volume, attachment.spec.attacher));
  const intent: readonly CsiAttacherAction[] = [...guarded, ...update(attachment, intended)];
  if (intent.length > 0) return { actions: intent, reasons };
  const failures = failuresOf(attempt, 'publish');
  const wait = waitsUntil(snapshot, 'publish', now);
  if (wait !== undefined && !snapshot.isContradicted) return { actions: [], reasons, again: wait };
  return { actions: [{ do: 'publish', attachment, request: target, failures }], reasons };
}

const failuresOf = (attempt: PublishAttempt | undefined, call: 'publish' | 'unpublish'): number =>
  attempt?.type === 'failed' && attempt.call === call ? attempt.failures : 0;

/** When the driver may be asked again; undefined: at once. */
function waitsUntil({ attempt, driver }: AttachmentSnapshot, call: 'publish' | 'unpublish', now: number): number | undefined {
  if (attempt?.type !== 'failed' || attempt.call !== call || cameBackSince(attempt.at, now, driver?.csi?.answersSince)) return undefined;
  return attempt.notBefore > now ? attempt.notBefore : undefined;
}

function detach(snapshot: AttachmentSnapshot, now: number): CsiAttacherDecision {
  const { attachment, attempt } = snapshot;
  const { attacher } = attachment.spec;
  if (!isHeld(attachment, attacher)) {
    return { actions: updateStatus(attachment, detached(attachment)), reasons: [because('Detached', 'it is not attached', 'none')] };
  }
  if (attempt?.type === 'unpublished') return conclude(snapshot, attempt, now);
  const target = targetOf(snapshot, snapshot.nodeId ?? nodeIdOn(attachment));
  if (typeof target === 'string') return failAttachment(attachment, target, now);
  const { handle, nodeId, secret } = target;
  const reasons = [because('Detaching', `driver "${attacher}" detaches it`, 'driver')];
  const wait = waitsUntil(snapshot, 'unpublish', now);
  if (wait !== undefined) return { actions: [], reasons, again: wait };
  return {
    actions: [
      { do: 'unpublish', attachment, target: { handle, nodeId, ...(secret === undefined ? {} : { secret }) }, failures: failuresOf(attempt, 'unpublish') },
    ],
    reasons,
  };
}

/** An error in the objects becomes the attachment's error, until they change. */
function failAttachment(attachment: VolumeAttachment, message: string, now: number): CsiAttacherDecision {
  const isGoing = attachment.metadata.deletionTimestamp !== undefined;
  const { attachError, detachError } = attachment.status;
  const known = isGoing ? detachError?.message : attachError?.message;
  const failed = isGoing ? detachFailed(attachment, { message }, now) : attachFailed(attachment, { message }, now);
  return { actions: known === message ? [] : updateStatus(attachment, failed), reasons: [because('Impossible', message, 'administrator')] };
}

/** The driver's request, or the error why there is none. */
function targetOf({ attachment, volume }: AttachmentSnapshot, nodeId: string | undefined): PublishRequest | string {
  const { attacher, nodeName, source } = attachment.spec;
  const isGoing = attachment.metadata.deletionTimestamp !== undefined;
  const name = source.persistentVolumeName;
  if (name !== undefined && volume === undefined) return `persistentvolume "${name}" not found`;
  if (volume?.metadata.deletionTimestamp !== undefined && !isGoing) return `PersistentVolume "${name ?? ''}" is marked for deletion`;
  const spec: PersistentVolumeSpec | undefined = volume?.spec ?? source.inlineVolumeSpec;
  const published = spec === undefined ? undefined : publishTargetIn(spec, attacher, nodeId ?? '');
  if (spec === undefined || published === undefined) return 'pv spec contained non-csi source that was not migrated';
  if (nodeId === undefined) return `CSINode ${nodeName} does not contain driver ${attacher}`;
  return { ...published, ...accessOf(spec) };
}

function accessOf({ csi, accessModes = [], volumeMode, mountOptions }: PersistentVolumeSpec): Omit<PublishRequest, keyof PublishTarget> {
  const { name, namespace } = csi?.controllerPublishSecretRef ?? {};
  return {
    readOnly: csi?.readOnly ?? false,
    volumeAttributes: csi?.volumeAttributes ?? {},
    accessModes,
    ...(volumeMode === undefined ? {} : { volumeMode }),
    ...(csi?.fsType === undefined ? {} : { fsType: csi.fsType }),
    ...(mountOptions === undefined ? {} : { mountOptions }),
    ...(name === undefined || namespace === undefined ? {} : { secret: { namespace, name } }),
  };
}

function publishTargetIn(spec: PersistentVolumeSpec, driver: string, nodeId: string): PublishTarget | undefined {
  const source = csiSourceOf({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: {}, spec, status: {} });
  return source === undefined || source.driver !== driver ? undefined : { handle: source.handle, nodeId };
}

type Answered = Extract<PublishAttempt, { type: 'published' | 'unpublished' }>;

/** The driver's answer becomes the attachment's status. */
function conclude({ attachment }: AttachmentSnapshot, attempt: Answered, now: number): CsiAttacherDecision {
  const { outcome, failures } = attempt;
  if (outcome.type === 'failed') {
    const call = attempt.type === 'published' ? 'publish' : 'unpublish';
    const failed = call === 'publish' ? attachFailed(attachment, outcome, now) : detachFailed(attachment, outcome, now);
    const notBefore = now + delayBefore(failures + 1);
    const remember: CsiAttacherAction = { do: 'rememberAttempt', attachment, attempt: { type: 'failed', call, failures: failures + 1, at: now, notBefore } };
    return { actions: [...updateStatus(attachment, failed), remember], reasons: [because('Failed', outcome.message, 'driver')], again: notBefore };
  }
  const done =
    outcome.type === 'published'
      ? updateStatus(attachment, attachedWith(attachment, outcome.context))
      : update(attachment, released(attachment, attachment.spec.attacher));
  const reason = outcome.type === 'published' ? because('Attached', 'it is attached', 'node') : because('Detached', 'it is detached', 'none');
  return { actions: [...done, { do: 'rememberAttempt', attachment, attempt: undefined }], reasons: [reason] };
}

const firstDelayMs = 1000;
const longestDelayMs = 300_000;

/** The backoff of external-attacher. */
const delayBefore = (attempt: number): number => Math.min(firstDelayMs * 2 ** Math.min(attempt - 1, 30), longestDelayMs);
