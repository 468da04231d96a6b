/**
 * Expansion by a driver of this process, as Kubernetes' external-resizer does it:
 *
 *     status: allocatedResources 2Gi, ControllerResizeInProgress, condition Resizing
 *     the driver is asked for 2Gi                                   ← crash: asked again, which changes nothing
 *     the volume's capacity is 2Gi                                  ← crash: asked again, as before
 *     status: capacity 2Gi, nothing under way; or NodeResizePending, until a node has resized the file system
 *
 * Once a driver was asked for a size, that has to succeed, or fail for certain, before it is asked for another one: otherwise the size of
 * the volume would be unknown. So a lowered request recovers from a failure only then.
 */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { compareQuantities, formatQuantity, type Quantity } from '../../api/quantity.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { cameBackSince } from '../../api/volumes/intent.ts';
import { claimKey } from '../volumes/claim.ts';
import { type ObjectEvent, update, updateStatus } from '../../client/decision.ts';
import { withAnnotations } from '../volumes/edits.ts';
import { markControllerResizeFailed, markResizeFinished, markControllerResizing, markNodeResizePending, resizeStatusOf } from '../volumes/resize-status.ts';
import { isInTree } from '../../api/volumes/csi-migration.ts';
import { stay } from '../volumes/decision.ts';
import type { ExpandAttempt, ExpanderAction, ExpanderDecision, ExpanderReason } from './actions.ts';
import { allocated, needsExpansion, currentCapacity, isFileSystemResizePending, requested, sizeOf } from './amounts.ts';
import { messages } from './messages.ts';
import type { DriverResizer } from './resizer.ts';

export interface Expansion {
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume;
  readonly resizer: DriverResizer;
  readonly attempt: ExpandAttempt | undefined;
  readonly now: number;
}

export function expand(expansion: Expansion): ExpanderDecision {
  const { claim, volume, attempt } = expansion;
  if (isFileSystemResizePending(volume) && isDoneByNode(claim, volume)) {
    const settled = withAnnotations(volume, { [annotations.preResizeCapacity]: undefined });
    return { actions: update(volume, settled), reasons: [{ code: 'LargeEnough', text: 'its file system is resized', next: 'none' }] };
  }
  if (!needsExpansion(claim)) return stay({ code: 'LargeEnough', text: 'it has what it requests', next: 'none' });
  const size = sizeToAsk(claim, volume, attempt);
  if (size === 'node') return stay({ code: 'ExpandedByNode', text: 'its node resizes the file system', next: 'node' });
  const same = attempt !== undefined && compareQuantities(attempt.size, size) === 0 ? attempt : undefined;
  if (same?.type === 'answered') return conclude(expansion, same);
  return askDriver(expansion, formatQuantity(size), same);
}

/** Nothing is missing, neither in the volume nor in its file system. A request may have been lowered meanwhile. */
const isDoneByNode = (claim: PersistentVolumeClaim, volume: PersistentVolume): boolean =>
  !needsExpansion(claim) && compareQuantities(currentCapacity(claim), sizeOf(volume)) >= 0;

function sizeToAsk(claim: PersistentVolumeClaim, volume: PersistentVolume, attempt: ExpandAttempt | undefined): Quantity | 'node' {
  const [wanted, before, size] = [requested(claim), allocated(claim), sizeOf(volume)];
  const pending = before ?? wanted;
  const isLargeEnough = compareQuantities(size, wanted) >= 0;
  switch (resizeStatusOf(claim)) {
    case 'NodeResizePending':
    case 'NodeResizeInProgress':
      return isLargeEnough || compareQuantities(size, pending) >= 0 ? 'node' : pending;
    case 'NodeResizeInfeasible':
      return pending;
    case 'ControllerResizeInProgress':
      return !isLargeEnough && attempt?.type === 'failed' && attempt.final ? wanted : pending;
    case 'ControllerResizeInfeasible':
      return isLargeEnough ? pending : wanted;
    case '':
      return isLargeEnough ? pending : wanted;
  }
}

const keyOf = ({ metadata }: PersistentVolumeClaim): string => claimKey(metadata.namespace ?? '', metadata.name ?? '');

/** The intended size is in the claim's status before the driver is asked. */
function askDriver(
  { claim, volume, resizer, now }: Expansion,
  size: string,
  last: (ExpandAttempt & { readonly type: 'failed' }) | undefined,
): ExpanderDecision {
  const { driver } = resizer;
  const reason: ExpanderReason = { code: 'Expanding', text: `driver "${driver}" expands it to ${size}`, next: 'driver', driver };
  if (last !== undefined && last.notBefore > now && !cameBackSince(last.at, now, resizer.facts.csi?.answersSince))
    return { ...stay<ExpanderReason>({ ...reason, by: last.notBefore }), again: last.notBefore };
  const before = allocated(claim);
  const intended = withResizer(markControllerResizing(claim, size, { isNew: before === undefined || compareQuantities(before, size) !== 0, now }), driver);
  if (intended !== claim) return { actions: updateStatus(claim, intended), reasons: [reason] };
  const name = volume.metadata.name ?? '';
  const announce: readonly ExpanderAction[] = isInTree(driver) ? [] : [recordEvent(claim, 'Normal', 'Resizing', messages.resizing(name))];
  return { actions: [...announce, { do: 'expandVolume', claim, driver, volume: resizer.volume, size, failures: last?.failures ?? 0 }], reasons: [reason] };
}

/** Kubernetes' own plugins leave their name on the claim. */
const withResizer = (claim: PersistentVolumeClaim, driver: string): PersistentVolumeClaim =>
  isInTree(driver) ? withAnnotations(claim, { [annotations.storageResizer]: driver }) : claim;

function conclude(expansion: Expansion, attempt: ExpandAttempt & { readonly type: 'answered' }): ExpanderDecision {
  const { claim, resizer } = expansion;
  const { outcome, size, failures } = attempt;
  if (outcome.type === 'expanded') return finish(expansion, outcome);
  const { message, final, infeasible } = outcome;
  const notBefore = expansion.now + delayBefore(failures + 1, infeasible);
  const next: ExpandAttempt = { type: 'failed', size, final, failures: failures + 1, at: expansion.now, notBefore };
  const failed = final ? markControllerResizeFailed(claim, message, { infeasible, now: expansion.now }) : claim;
  const text = isInTree(resizer.driver)
    ? messages.failed.inTree(keyOf(claim), message)
    : messages.failed.external(expansion.volume.metadata.name ?? '', resizer.driver, message);
  return {
    actions: [...updateStatus(claim, failed), recordEvent(claim, 'Warning', 'VolumeResizeFailed', text), { do: 'rememberAttempt', claim, attempt: next }],
    reasons: [{ code: 'ExpandFailed', text: message, next: 'driver', driver: resizer.driver, by: notBefore }],
    again: notBefore,
  };
}

interface Expanded {
  readonly capacity: string;
  readonly nodeExpansionRequired: boolean;
}

function finish({ claim, volume, resizer, now }: Expansion, { capacity, nodeExpansionRequired }: Expanded): ExpanderDecision {
  const larger = { ...volume, spec: { ...volume.spec, capacity: { ...volume.spec.capacity, storage: capacity } } };
  const sized = compareQuantities(sizeOf(volume), capacity) === 0 ? volume : larger;
  const forget: ExpanderAction = { do: 'rememberAttempt', claim, attempt: undefined };
  if (nodeExpansionRequired) {
    const noted = isFileSystemResizePending(volume)
      ? sized
      : withAnnotations(sized, { [annotations.preResizeCapacity]: formatQuantity(currentCapacity(claim)) });
    const required = recordEvent(claim, 'Normal', 'FileSystemResizeRequired', messages.nodeRequired);
    const actions = [
      ...update(volume, noted),
      ...updateStatus(claim, markNodeResizePending(claim, now)),
      ...(isInTree(resizer.driver) ? [] : [required]),
      forget,
    ];
    return { actions, reasons: [{ code: 'ExpandedByNode', text: 'its node resizes the file system', next: 'node' }] };
  }
  const finished = markResizeFinished(claim, capacity);
  // So that no node tries to expand it once more.
  const marked = isInTree(resizer.driver) ? finished : withAnnotations(finished, { [annotations.nodeExpansionNotRequired]: 'true' });
  const text = isInTree(resizer.driver) ? messages.succeeded.inTree(keyOf(claim)) : messages.succeeded.external;
  return {
    actions: [...update(volume, sized), ...updateStatus(claim, marked), recordEvent(claim, 'Normal', 'VolumeResizeSuccessful', text), forget],
    reasons: [{ code: 'LargeEnough', text: `it is expanded to ${capacity}`, next: 'none' }],
  };
}

const recordEvent = (about: PersistentVolumeClaim, type: ObjectEvent['type'], reason: string, message: string): ExpanderAction => ({
  do: 'recordEvent',
  event: { about, type, reason, message },
});

const firstDelayMs = 1000;
const longestDelayMs = 300_000;

/** The backoff of external-resizer; an infeasible size is tried as rarely as possible. */
const delayBefore = (attempt: number, infeasible: boolean): number =>
  infeasible ? longestDelayMs : Math.min(firstDelayMs * 2 ** Math.min(attempt - 1, 30), longestDelayMs);
