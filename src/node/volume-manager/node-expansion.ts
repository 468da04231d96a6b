/**
 * The node's part of a volume expansion, as the kubelet does it (v1.36.4). The controller's part is done, and the claim waits:
 *
 *     claim: NodeResizePending, condition FileSystemResizePending
 *     claim: NodeResizeInProgress                                   ← crash: begun again
 *     NodeExpandVolume                                              ← crash: called again, which changes nothing
 *     claim: capacity 2Gi, no conditions
 *
 * A driver may not be able to expand a volume that is mounted. Then the volume is expanded when it is staged the next time.
 */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { compareQuantities, formatQuantity } from '../../api/quantity.ts';
import { storageAmount } from '../../api/volumes/capacity.ts';
import { markNodeResizeFailed, markNodeResizing, markResizeFinished, resizeStatusOf } from '../../storage/volumes/resize-status.ts';
import { type DriverAnswer, failed as failure, isFinal, isInfeasible, type NodeDriver } from '../../drivers/contract.ts';
import type { Client } from '../../client/client.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { Clock } from '../../world/world.ts';
import type { NodeExpansion, VolumeOperation } from './actions.ts';

/** Undefined: the node has nothing to expand. */
export function nodeExpansionOf(claim: PersistentVolumeClaim, volume: PersistentVolume): NodeExpansion | undefined {
  const has = storageAmount(claim.status.capacity);
  const size = storageAmount(volume.spec.capacity);
  if (has === undefined || size === undefined || compareQuantities(has, size) >= 0) return undefined;
  const allocated = storageAmount(claim.status.allocatedResources);
  switch (resizeStatusOf(claim)) {
    case 'NodeResizePending':
    case 'NodeResizeInProgress':
      return { claim, size: formatQuantity(allocated ?? size) };
    case '':
      // The controller is older than `allocatedResourceStatuses`.
      return allocated === undefined ? { claim, size: formatQuantity(size) } : undefined;
    default:
      return undefined;
  }
}

export interface ExpansionOptions {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly nodeName: string;
  /** The driver cannot expand the volume while it is mounted. */
  readonly onRefused: (stagingPath: string) => void;
}

/** Another client wrote to the claim: the next pass decides again. */
export const claimChanged = failure('Aborted', 'the claim has changed meanwhile');

type ExpandOperation = Extract<VolumeOperation, { do: 'expand' }>;

export async function expandOnNode(operation: ExpandOperation, driver: NodeDriver, options: ExpansionOptions): Promise<DriverAnswer<unknown>> {
  const { volume, growth, pod, mounted } = operation;
  const { stagingPath = '', onNode } = volume;
  if (onNode.readOnly) {
    recordEvent(operation, options, { type: 'Warning', reason: 'FileSystemResizeFailed', what: 'failed', why: 'requested read-only file system' });
    options.onRefused(stagingPath);
    return { ok: true, value: undefined };
  }
  const begun = await write(growth.claim, resizeStatusOf(growth.claim) === '' ? growth.claim : markNodeResizing(growth.claim), options.client);
  if (!begun.ok) return begun;
  const answer =
    (await driver.nodeExpandVolume?.({ volume: onNode, stagingPath, capacity: growth.size, pod, ...(mounted ? { target: volume.target } : {}) })) ??
    ({ ok: true, value: undefined } as const);
  if (answer.ok) {
    recordEvent(operation, options, { type: 'Normal', reason: 'FileSystemResizeSuccessful', what: 'succeeded', why: options.nodeName });
    return write(begun.value, markResizeFinished(begun.value, growth.size), options.client);
  }
  if (isFinal(answer)) {
    const failed = markNodeResizeFailed(begun.value, answer.message, { infeasible: isInfeasible(answer.code), now: options.clock.now() });
    const written = await write(begun.value, failed, options.client);
    if (!written.ok) return written;
  }
  if (answer.code !== 'FailedPrecondition') return answer;
  options.onRefused(stagingPath);
  return { ok: true, value: undefined };
}

interface ExpansionEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly what: string;
  readonly why: string;
}

/** On the pod and on the claim. */
function recordEvent({ pod, volume, growth }: ExpandOperation, { recorder, nodeName }: ExpansionOptions, { type, reason, what, why }: ExpansionEvent): void {
  const message = `MountVolume.NodeExpandVolume ${what} for volume ${JSON.stringify(volume.onNode.name)} ${why}`;
  for (const about of [pod, growth.claim]) recorder.record(about, { type, reason, message }, nodeName);
}

/** Compared and swapped. */
async function write(before: PersistentVolumeClaim, after: PersistentVolumeClaim, client: Client): Promise<DriverAnswer<PersistentVolumeClaim>> {
  if (after === before) return { ok: true, value: before };
  const written = await client.updateStatus(persistentVolumeClaimKind, after);
  if (written.ok) return written;
  return written.reason === 'conflict' || written.reason === 'notFound' ? claimChanged : failure('Unavailable', written.error.message);
}
