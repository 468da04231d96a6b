/** A claim that asks for more than it has: who is to make its volume larger, and how far have they come? */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { compareQuantities, formatQuantity } from '../../api/quantity.ts';
import { annotations } from '../../domain/volumes/annotations.ts';
import { updateStatus } from '../../domain/volumes/decision.ts';
import { withAnnotations } from '../../domain/volumes/edits.ts';
import { isInTree } from '../../domain/volumes/migration.ts';
import { type Action, type Asked, type Attempt, type Decision, type Reason, stay } from './actions.ts';
import { asksForMore, had, isHalfGrown, requested } from './amounts.ts';
import { grow } from './growth.ts';
import { messages } from './messages.ts';
import { type DriverResizer, type ResizerSurroundings, resizerOf } from './resizer.ts';

export interface Snapshot extends ResizerSurroundings {
  readonly claim: PersistentVolumeClaim;
  /** The one that the claim names. */
  readonly volume: PersistentVolume | undefined;
  /** What it asked for when somebody was last told. */
  readonly asked: Asked | undefined;
  /** What came of it, if a driver of this process was asked. */
  readonly attempt: Attempt | undefined;
}

export function decide(snapshot: Snapshot, now: number): Decision {
  const { claim, volume } = snapshot;
  if (claim.status.phase !== 'Bound') return stay({ code: 'NotBound', text: 'it has no volume yet', next: 'binder' });
  if (volume === undefined || !isMutual(claim, volume)) {
    return stay({ code: 'NotBound', text: `volume "${claim.spec.volumeName ?? ''}" is not bound to it`, next: 'binder' });
  }
  if (!asksForMore(claim) && !isHalfGrown(volume)) return stay({ code: 'LargeEnough', text: 'it has what it asks for', next: 'nobody' });
  const resizer = resizerOf(volume, snapshot);
  switch (resizer.type) {
    case 'external':
      return { actions: tell(snapshot, messages.external), reasons: [waiting(claim)] };
    case 'successor': {
      const named = withAnnotations(claim, { [annotations.storageResizer]: resizer.driver });
      return { actions: [...updateStatus(claim, named), ...tell(snapshot, messages.migrated(resizer.plugin))], reasons: [waiting(claim)] };
    }
    case 'driver':
      return growHere(snapshot, volume, { resizer, now });
    case 'node':
      return stay({ code: 'ExpandedByNode', text: 'its node makes it larger when it is mounted', next: 'node' });
  }
}

/** Of a driver that Kubernetes would leave to its external resizer, that much is said as well. */
function growHere(snapshot: Snapshot, volume: PersistentVolume, { resizer, now }: { readonly resizer: DriverResizer; readonly now: number }): Decision {
  const { claim, attempt } = snapshot;
  const growth = grow({ claim, volume, resizer, attempt, now });
  if (isInTree(resizer.driver) || !asksForMore(claim)) return growth;
  return { ...growth, actions: [...tell(snapshot, messages.external), ...growth.actions] };
}

function isMutual({ metadata }: PersistentVolumeClaim, { spec: { claimRef } }: PersistentVolume): boolean {
  return claimRef !== undefined && claimRef.namespace === metadata.namespace && claimRef.uid === metadata.uid;
}

/** Whoever asks for more is told, and so is who got a part of it; who asks for less is not. */
function tell({ claim, asked }: Snapshot, message: string): readonly Action[] {
  const now = amountsOf(claim);
  if (asked?.request === now.request && asked.capacity === now.capacity) return [];
  const isMore = asked === undefined || compareQuantities(now.request, asked.request) > 0 || compareQuantities(now.capacity, asked.capacity) > 0;
  const remember: Action = { do: 'remember', claim, asked: now };
  return isMore ? [{ do: 'tell', event: { about: claim, type: 'Normal', reason: 'ExternalExpanding', message } }, remember] : [remember];
}

const amountsOf = (claim: PersistentVolumeClaim): Asked => ({ request: formatQuantity(requested(claim)), capacity: formatQuantity(had(claim)) });

function waiting(claim: PersistentVolumeClaim): Reason {
  const { request, capacity } = amountsOf(claim);
  const text = `it has ${capacity} and asks for ${request}: an external resizer has to make its volume larger`;
  return { code: 'ExternalExpanding', text, next: 'external resizer' };
}
