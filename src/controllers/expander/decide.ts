/** A claim that asks for more than it has: who is to make its volume larger? */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { compareQuantities, formatQuantity } from '../../api/quantity.ts';
import { migratedPluginOf } from '../../domain/csi-translation.ts';
import { annotations } from '../../domain/volumes/annotations.ts';
import { storageAmount, zero } from '../../domain/volumes/capacity.ts';
import { successorOf } from '../../domain/volumes/migration.ts';
import type { Action, Asked, Decision, Reason } from './actions.ts';

export interface Snapshot {
  readonly claim: PersistentVolumeClaim;
  /** The one that the claim names. */
  readonly volume: PersistentVolume | undefined;
  /** What it asked for when somebody was last told. */
  readonly asked: Asked | undefined;
}

/**
 * Nobody in this process makes volumes larger, so all there is to do is to say who will: an external resizer does the rest, and
 * reports in the claim's status. A driver of this process would be another kind of `Resizer`.
 */
type Resizer =
  | { readonly type: 'external' }
  /** The driver that took over from a plugin in the tree; it finds its claims by an annotation. */
  | { readonly type: 'successor'; readonly plugin: string; readonly driver: string }
  /** The node does it alone, when it mounts the volume. */
  | { readonly type: 'node' };

export function decide({ claim, volume, asked }: Snapshot): Decision {
  if (claim.status.phase !== 'Bound') return stay({ code: 'NotBound', text: 'it has no volume yet', next: 'binder' });
  if (volume === undefined || !isMutual(claim, volume)) {
    return stay({ code: 'NotBound', text: `volume "${claim.spec.volumeName ?? ''}" is not bound to it`, next: 'binder' });
  }
  if (!asksForMore(claim) && !isHalfGrown(volume)) return stay({ code: 'LargeEnough', text: 'it has what it asks for', next: 'nobody' });
  const now = amounts(claim);
  const resizer = resizerOf(volume);
  switch (resizer.type) {
    case 'external':
      return { actions: tell({ claim, asked, now, message: 'waiting for an external controller to expand this PVC' }), reasons: [waiting(now)] };
    case 'successor': {
      const message = `CSI migration enabled for ${resizer.plugin}; waiting for external resizer to expand the pvc`;
      return { actions: [...nameResizer(claim, resizer.driver), ...tell({ claim, asked, now, message })], reasons: [waiting(now)] };
    }
    case 'node':
      return stay({ code: 'ExpandedByNode', text: 'its node makes it larger when it is mounted', next: 'node' });
  }
}

export const asksForMore = (claim: PersistentVolumeClaim): boolean => compareQuantities(...requestAndCapacity(claim)) > 0;

/** The volume has grown, its file system has not. */
export const isHalfGrown = ({ metadata }: PersistentVolume): boolean => Object.hasOwn(metadata.annotations ?? {}, annotations.preResizeCapacity);

function isMutual({ metadata }: PersistentVolumeClaim, { spec: { claimRef } }: PersistentVolume): boolean {
  return claimRef !== undefined && claimRef.namespace === metadata.namespace && claimRef.uid === metadata.uid;
}

function resizerOf(volume: PersistentVolume): Resizer {
  const plugin = migratedPluginOf(volume);
  const driver = plugin === undefined ? undefined : successorOf(plugin);
  if (plugin !== undefined && driver !== undefined) return { type: 'successor', plugin, driver };
  return volume.spec.flexVolume === undefined ? { type: 'external' } : { type: 'node' };
}

const requestAndCapacity = ({ spec, status }: PersistentVolumeClaim) =>
  [storageAmount(spec.resources.requests) ?? zero, storageAmount(status.capacity) ?? zero] as const;

function amounts(claim: PersistentVolumeClaim): Asked {
  const [request, capacity] = requestAndCapacity(claim);
  return { request: formatQuantity(request), capacity: formatQuantity(capacity) };
}

interface Telling {
  readonly claim: PersistentVolumeClaim;
  readonly asked: Asked | undefined;
  readonly now: Asked;
  readonly message: string;
}

/** Whoever asks for more is told, and so is who got a part of it; who asks for less is not. */
function tell({ claim, asked, now, message }: Telling): readonly Action[] {
  if (asked?.request === now.request && asked.capacity === now.capacity) return [];
  const isMore = asked === undefined || compareQuantities(now.request, asked.request) > 0 || compareQuantities(now.capacity, asked.capacity) > 0;
  const remember: Action = { do: 'remember', claim, asked: now };
  return isMore ? [{ do: 'tell', claim, message }, remember] : [remember];
}

function nameResizer(claim: PersistentVolumeClaim, driver: string): readonly Action[] {
  const before = claim.metadata.annotations ?? {};
  if (before[resizerAnnotation] === driver) return [];
  return [{ do: 'annotate', claim: { ...claim, metadata: { ...claim.metadata, annotations: { ...before, [resizerAnnotation]: driver } } } }];
}

const resizerAnnotation = 'volume.kubernetes.io/storage-resizer';

const waiting = ({ request, capacity }: Asked): Reason => ({
  code: 'ExternalExpanding',
  text: `it has ${capacity} and asks for ${request}: an external resizer has to make its volume larger`,
  next: 'external resizer',
});

const stay = (reason: Reason): Decision => ({ actions: [], reasons: [reason] });
