/**
 * The node's part in making a volume larger, as kubelets do it (v1.36.4). Whoever looks after the volume has made it larger by now, and waits:
 *
 *     claim: NodeResizePending, condition FileSystemResizePending
 *     claim: NodeResizeInProgress                                   ← crash: begun once more
 *     the driver grows what pods see                                ← crash: asked again, which changes nothing
 *     claim: capacity 2Gi, no conditions
 *
 * Some cannot while anybody has the volume mounted. Then it stays as it is until nobody has, and grows when it is staged the next time.
 */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/persistent-volume-claim.ts';
import { compareQuantities, formatQuantity } from '../../api/quantity.ts';
import { storageAmount } from '../../domain/volumes/capacity.ts';
import { failedOnNode, growingOnNode, grownTo, stageOf } from '../../domain/volumes/growth-status.ts';
import { type DriverAnswer, failed as failure, isFinal, isInfeasible, type NodeDriver } from '../../drivers/contract.ts';
import type { Client } from '../../machinery/client.ts';
import type { Recorder } from '../../machinery/recorder.ts';
import type { Clock } from '../../world/world.ts';
import type { Operation } from './actions.ts';

export interface Growth {
  readonly claim: PersistentVolumeClaim;
  /** What pods are to see: a quantity. */
  readonly size: string;
}

/** What a node has to do for a claim's volume; undefined: nothing. */
export function growthOf(claim: PersistentVolumeClaim, volume: PersistentVolume): Growth | undefined {
  const has = storageAmount(claim.status.capacity);
  const size = storageAmount(volume.spec.capacity);
  if (has === undefined || size === undefined || compareQuantities(has, size) >= 0) return undefined;
  const allocated = storageAmount(claim.status.allocatedResources);
  switch (stageOf(claim)) {
    case 'NodeResizePending':
    case 'NodeResizeInProgress':
      return { claim, size: formatQuantity(allocated ?? size) };
    case '':
      // Who made it larger is of the time before claims said how far that has come.
      return allocated === undefined ? { claim, size: formatQuantity(size) } : undefined;
    default:
      return undefined;
  }
}

export interface GrowingOptions {
  readonly client: Client;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly nodeName: string;
  /** It cannot as long as it is mounted. */
  readonly onRefused: (stagingPath: string) => void;
}

/** Somebody else wrote to the claim: it is looked at again. */
export const claimChanged = failure('Aborted', 'the claim has changed meanwhile');

type Growing = Extract<Operation, { do: 'expand' }>;

export async function growOnNode(operation: Growing, driver: NodeDriver, options: GrowingOptions): Promise<DriverAnswer<unknown>> {
  const { volume, growth } = operation;
  const { stagingPath = '', onNode } = volume;
  if (onNode.readOnly) {
    tell(operation, options, { type: 'Warning', reason: 'FileSystemResizeFailed', what: 'failed', why: 'requested read-only file system' });
    options.onRefused(stagingPath);
    return { ok: true, value: undefined };
  }
  const begun = await write(growth.claim, stageOf(growth.claim) === '' ? growth.claim : growingOnNode(growth.claim), options.client);
  if (!begun.ok) return begun;
  const answer = (await driver.expand?.({ volume: onNode, stagingPath, capacity: growth.size })) ?? ({ ok: true, value: undefined } as const);
  if (answer.ok) {
    tell(operation, options, { type: 'Normal', reason: 'FileSystemResizeSuccessful', what: 'succeeded', why: options.nodeName });
    return write(begun.value, grownTo(begun.value, growth.size), options.client);
  }
  if (isFinal(answer.code)) {
    const said = failedOnNode(begun.value, answer.message, { infeasible: isInfeasible(answer.code), now: options.clock.now() });
    const written = await write(begun.value, said, options.client);
    if (!written.ok) return written;
  }
  if (answer.code !== 'FailedPrecondition') return answer;
  options.onRefused(stagingPath);
  return { ok: true, value: undefined };
}

interface Telling {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly what: string;
  readonly why: string;
}

/** Those who look at the pod, and those who look at the claim. */
function tell({ pod, volume, growth }: Growing, { recorder, nodeName }: GrowingOptions, { type, reason, what, why }: Telling): void {
  const message = `MountVolume.NodeExpandVolume ${what} for volume ${JSON.stringify(volume.onNode.name)} ${why}`;
  for (const about of [pod, growth.claim]) recorder.record(about, { type, reason, message }, nodeName);
}

/** Only if nobody else has written to it. */
async function write(before: PersistentVolumeClaim, after: PersistentVolumeClaim, client: Client): Promise<DriverAnswer<PersistentVolumeClaim>> {
  if (after === before) return { ok: true, value: before };
  const written = await client.updateStatus(persistentVolumeClaimKind, after);
  if (written.ok) return written;
  return written.reason === 'conflict' || written.reason === 'notFound' ? claimChanged : failure('Unavailable', written.error.message);
}
