/** A claim that asks for more than it has: who is to make its volume larger, and how far have they come? */
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
  /** The one that the claim names. */
  readonly volume: PersistentVolume | undefined;
  /** What it asked for when somebody was last told. */
  readonly lastRequest: RequestedSize | undefined;
  /** What came of it, if a driver of this process was asked. */
  readonly attempt: ExpandAttempt | undefined;
}

export function decide(snapshot: ExpanderSnapshot, now: number): ExpanderDecision {
  const { claim, volume } = snapshot;
  if (claim.status.phase !== 'Bound') return stay({ code: 'NotBound', text: 'it has no volume yet', next: 'binder' });
  if (volume === undefined || !isMutual(claim, volume)) {
    return stay({ code: 'NotBound', text: `volume "${claim.spec.volumeName ?? ''}" is not bound to it`, next: 'binder' });
  }
  if (!needsExpansion(claim) && !isFileSystemResizePending(volume)) return stay({ code: 'LargeEnough', text: 'it has what it asks for', next: 'none' });
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
      return stay({ code: 'ExpandedByNode', text: 'its node makes it larger when it is mounted', next: 'node' });
  }
}

/** Of a driver that Kubernetes would leave to its external resizer, that much is said as well. */
function expandWithDriver(
  snapshot: ExpanderSnapshot,
  volume: PersistentVolume,
  { resizer, now }: { readonly resizer: DriverResizer; readonly now: number },
): ExpanderDecision {
  const { claim, attempt } = snapshot;
  const growth = expand({ claim, volume, resizer, attempt, now });
  if (isInTree(resizer.driver) || !needsExpansion(claim)) return growth;
  return { ...growth, actions: [...recordExternalExpanding(snapshot, messages.external), ...growth.actions] };
}

function isMutual({ metadata }: PersistentVolumeClaim, { spec: { claimRef } }: PersistentVolume): boolean {
  return claimRef !== undefined && claimRef.namespace === metadata.namespace && claimRef.uid === metadata.uid;
}

/** Whoever asks for more is told, and so is who got a part of it; who asks for less is not. */
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
  const text = `it has ${capacity} and asks for ${request}: an external resizer has to make its volume larger`;
  return { code: 'ExternalExpanding', text, next: 'external resizer' };
}
