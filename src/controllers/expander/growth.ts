/**
 * A volume that a driver of this process makes larger, as Kubernetes' external resizer does it:
 *
 *     status: allocatedResources 2Gi, ControllerResizeInProgress, condition Resizing
 *     the driver is asked for 2Gi                                   ← crash: asked again, which changes nothing
 *     the volume's capacity is 2Gi                                  ← crash: asked again, as before
 *     status: capacity 2Gi, nothing under way; or NodeResizePending, until a node has grown the file system
 *
 * Once a driver was asked for a size, that has to succeed, or fail for certain, before it is asked for another one: otherwise nobody
 * would know what the volume has. So a request is lowered to recover from a failure only then.
 */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { compareQuantities, formatQuantity, type Quantity } from '../../api/quantity.ts';
import { annotations } from '../../domain/volumes/annotations.ts';
import { claimKey } from '../../domain/volumes/claim.ts';
import { type EventText, update, updateStatus } from '../../domain/volumes/decision.ts';
import { withAnnotations } from '../../domain/volumes/edits.ts';
import { failedWith, grownTo, growingTo, pendingOnNode, stageOf } from '../../domain/volumes/growth-status.ts';
import { isInTree } from '../../domain/volumes/migration.ts';
import { type Action, type Attempt, type Decision, type Reason, stay } from './actions.ts';
import { allocated, asksForMore, had, isHalfGrown, requested, sizeOf } from './amounts.ts';
import { messages } from './messages.ts';
import type { DriverResizer } from './resizer.ts';

export interface Growth {
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume;
  readonly resizer: DriverResizer;
  readonly attempt: Attempt | undefined;
  readonly now: number;
}

export function grow(growth: Growth): Decision {
  const { claim, volume, attempt } = growth;
  if (isHalfGrown(volume) && isDoneByNode(claim, volume)) {
    const settled = withAnnotations(volume, { [annotations.preResizeCapacity]: undefined });
    return { actions: update(volume, settled), reasons: [{ code: 'LargeEnough', text: 'its file system has grown', next: 'nobody' }] };
  }
  if (!asksForMore(claim)) return stay({ code: 'LargeEnough', text: 'it has what it asks for', next: 'nobody' });
  const size = sizeToAsk(claim, volume, attempt);
  if (size === 'node') return stay({ code: 'ExpandedByNode', text: 'its node makes its file system larger', next: 'node' });
  const same = attempt !== undefined && compareQuantities(attempt.size, size) === 0 ? attempt : undefined;
  if (same?.type === 'answered') return conclude(growth, same);
  return ask(growth, formatQuantity(size), same);
}

/** Nothing is missing, neither in the volume nor in its file system. A request may have been lowered meanwhile. */
const isDoneByNode = (claim: PersistentVolumeClaim, volume: PersistentVolume): boolean =>
  !asksForMore(claim) && compareQuantities(had(claim), sizeOf(volume)) >= 0;

function sizeToAsk(claim: PersistentVolumeClaim, volume: PersistentVolume, attempt: Attempt | undefined): Quantity | 'node' {
  const [wanted, before, size] = [requested(claim), allocated(claim), sizeOf(volume)];
  const pending = before ?? wanted;
  const isLargeEnough = compareQuantities(size, wanted) >= 0;
  switch (stageOf(claim)) {
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

/** What is intended is in the claim's status before the driver is asked. */
function ask({ claim, volume, resizer, now }: Growth, size: string, last: (Attempt & { readonly type: 'failed' }) | undefined): Decision {
  const { driver, source } = resizer;
  const reason: Reason = { code: 'Expanding', text: `driver "${driver}" makes it ${size}`, next: 'driver', driver };
  if (last !== undefined && last.notBefore > now) return { ...stay({ ...reason, by: last.notBefore }), again: last.notBefore };
  const before = allocated(claim);
  const intended = withResizer(growingTo(claim, size, { isNew: before === undefined || compareQuantities(before, size) !== 0, now }), driver);
  if (intended !== claim) return { actions: updateStatus(claim, intended), reasons: [reason] };
  const name = volume.metadata.name ?? '';
  const announce: readonly Action[] = isInTree(driver) ? [] : [tell(claim, 'Normal', 'Resizing', messages.resizing(name))];
  return { actions: [...announce, { do: 'expandVolume', claim, driver, source, size, failures: last?.failures ?? 0 }], reasons: [reason] };
}

/** Kubernetes' own plugins leave their name on the claim. */
const withResizer = (claim: PersistentVolumeClaim, driver: string): PersistentVolumeClaim =>
  isInTree(driver) ? withAnnotations(claim, { [annotations.storageResizer]: driver }) : claim;

function conclude(growth: Growth, attempt: Attempt & { readonly type: 'answered' }): Decision {
  const { claim, resizer } = growth;
  const { outcome, size, failures } = attempt;
  if (outcome.type === 'expanded') return finish(growth, outcome);
  const { message, final, infeasible } = outcome;
  const notBefore = growth.now + delayBefore(failures + 1, infeasible);
  const next: Attempt = { type: 'failed', size, final, failures: failures + 1, notBefore };
  const said = final ? failedWith(claim, message, { infeasible, now: growth.now }) : claim;
  const text = isInTree(resizer.driver)
    ? messages.failed.inTree(keyOf(claim), message)
    : messages.failed.external(growth.volume.metadata.name ?? '', resizer.driver, message);
  return {
    actions: [...updateStatus(claim, said), tell(claim, 'Warning', 'VolumeResizeFailed', text), { do: 'rememberAttempt', claim, attempt: next }],
    reasons: [{ code: 'ExpandFailed', text: message, next: 'driver', driver: resizer.driver, by: notBefore }],
    again: notBefore,
  };
}

interface Expanded {
  readonly capacity: string;
  readonly nodeExpansionRequired: boolean;
}

function finish({ claim, volume, resizer, now }: Growth, { capacity, nodeExpansionRequired }: Expanded): Decision {
  const larger = { ...volume, spec: { ...volume.spec, capacity: { ...volume.spec.capacity, storage: capacity } } };
  const sized = compareQuantities(sizeOf(volume), capacity) === 0 ? volume : larger;
  const forget: Action = { do: 'rememberAttempt', claim, attempt: undefined };
  if (nodeExpansionRequired) {
    const noted = isHalfGrown(volume) ? sized : withAnnotations(sized, { [annotations.preResizeCapacity]: formatQuantity(had(claim)) });
    const told = tell(claim, 'Normal', 'FileSystemResizeRequired', messages.nodeRequired);
    const actions = [...update(volume, noted), ...updateStatus(claim, pendingOnNode(claim, now)), ...(isInTree(resizer.driver) ? [] : [told]), forget];
    return { actions, reasons: [{ code: 'ExpandedByNode', text: 'its node makes its file system larger', next: 'node' }] };
  }
  const grown = grownTo(claim, capacity);
  // So that no node tries to grow it once more.
  const marked = isInTree(resizer.driver) ? grown : withAnnotations(grown, { [annotations.nodeExpansionNotRequired]: 'true' });
  const text = isInTree(resizer.driver) ? messages.succeeded.inTree(keyOf(claim)) : messages.succeeded.external;
  return {
    actions: [...update(volume, sized), ...updateStatus(claim, marked), tell(claim, 'Normal', 'VolumeResizeSuccessful', text), forget],
    reasons: [{ code: 'LargeEnough', text: `it has grown to ${capacity}`, next: 'nobody' }],
  };
}

const tell = (about: PersistentVolumeClaim, type: EventText['type'], reason: string, message: string): Action => ({
  do: 'tell',
  event: { about, type, reason, message },
});

const firstDelayMs = 1000;
const longestDelayMs = 300_000;

/** As the external resizer spaces them; what is infeasible is tried as rarely as can be. */
const delayBefore = (attempt: number, infeasible: boolean): number =>
  infeasible ? longestDelayMs : Math.min(firstDelayMs * 2 ** Math.min(attempt - 1, 30), longestDelayMs);
