/** A claim that requests more than it has: which resizer expands its volume, and how far has the resizer come? */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { compareQuantities, formatQuantity } from '../../api/quantity.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { updateStatus } from '../../client/decision.ts';
import { withAnnotations } from '../volumes/edits.ts';
import { isInTree } from '../../api/volumes/csi-migration.ts';
import { stay } from '../volumes/decision.ts';
import type { ExpanderAction, ExpanderDecision, ExpandAttempt, ExpanderReason, RequestedSize } from './actions.ts';
import { needsExpansion, currentCapacity, isFileSystemResizePending, requested } from './amounts.ts';
import { expand } from './expansion.ts';
import { messages } from './messages.ts';
import { type DriverResizer, type ResizerSnapshot, resizerOf } from './resizer.ts';

export interface ExpanderSnapshot extends ResizerSnapshot {
  readonly claim: PersistentVolumeClaim;
  /** The volume that the claim names. */
  readonly volume: PersistentVolume | undefined;
  /** Request and capacity at the last ExternalExpanding event. */
  readonly lastRequest: RequestedSize | undefined;
  /** The last attempt, if a driver of this process was asked. */
  readonly attempt: ExpandAttempt | undefined;
}

export function decide(snapshot: ExpanderSnapshot, now: number): ExpanderDecision {
  const { claim, volume } = snapshot;
  if (claim.status.phase !== 'Bound') return stay({ code: 'NotBound', text: 'it has no volume yet', next: 'binder' });
  if (volume === undefined || !isMutual(claim, volume)) {
    return stay({ code: 'NotBound', text: `volume "${claim.spec.volumeName ?? ''}" is not bound to it`, next: 'binder' });
  }
  if (!needsExpansion(claim) && !isFileSystemResizePending(volume)) return stay({ code: 'LargeEnough', text: 'it has what it requests', next: 'none' });
  const resizer = resizerOf(volume, snapshot);
  switch (resizer.type) {
    case 'external':
      return { actions: recordExternalExpanding(snapshot, messages.external), reasons: [waiting(claim)] };
    case 'successor': {
      const named = withAnnotations(claim, { [annotations.storageResizer]: resizer.driver });
      return { actions: [...updateStatus(claim, named), ...recordExternalExpanding(snapshot, messages.migrated(resizer.plugin))], reasons: [waiting(claim)] };
    }
    case 'driver':
      return expandWithDriver(snapshot, volume, { resizer, now });
    case 'node':
      return stay({ code: 'ExpandedByNode', text: 'its node expands it when it is mounted', next: 'node' });
  }
}

/** For a driver that has an external resizer in Kubernetes, the event of waiting for it is recorded as well. */
function expandWithDriver(
  snapshot: ExpanderSnapshot,
  volume: PersistentVolume,
  { resizer, now }: { readonly resizer: DriverResizer; readonly now: number },
): ExpanderDecision {
  const { claim, attempt } = snapshot;
  const expansion = expand({ claim, volume, resizer, attempt, now });
  if (isInTree(resizer.driver) || !needsExpansion(claim)) return expansion;
  return { ...expansion, actions: [...recordExternalExpanding(snapshot, messages.external), ...expansion.actions] };
}

function isMutual({ metadata }: PersistentVolumeClaim, { spec: { claimRef } }: PersistentVolume): boolean {
  return claimRef !== undefined && claimRef.namespace === metadata.namespace && claimRef.uid === metadata.uid;
}

/** A claim that requests more gets an event, and so does one that got a part of it; one that requests less does not. */
function recordExternalExpanding({ claim, lastRequest: asked }: ExpanderSnapshot, message: string): readonly ExpanderAction[] {
  const now = amountsOf(claim);
  if (asked?.request === now.request && asked.capacity === now.capacity) return [];
  const isMore = asked === undefined || compareQuantities(now.request, asked.request) > 0 || compareQuantities(now.capacity, asked.capacity) > 0;
  const remember: ExpanderAction = { do: 'remember', claim, asked: now };
  return isMore ? [{ do: 'recordEvent', event: { about: claim, type: 'Normal', reason: 'ExternalExpanding', message } }, remember] : [remember];
}

const amountsOf = (claim: PersistentVolumeClaim): RequestedSize => ({
  request: formatQuantity(requested(claim)),
  capacity: formatQuantity(currentCapacity(claim)),
});

function waiting(claim: PersistentVolumeClaim): ExpanderReason {
  const { request, capacity } = amountsOf(claim);
  const text = `it has ${capacity} and requests ${request}: an external resizer has to expand its volume`;
  return { code: 'ExternalExpanding', text, next: 'external resizer' };
}
