import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import type { Claim } from '../volumes/claim.ts';
import { type ObjectWrite, type RecordEvent, update, updateStatus } from '../../client/decision.ts';
import type { ConfirmClaimGone } from '../volumes/decision.ts';
import { claimBoundTo, linkClaim, linkVolume, unlinkVolume, volumeInPhase } from '../volumes/edits.ts';
import type { Volume } from '../volumes/volume.ts';

/** All actions of the binder. */
export type BinderAction = Bind | ObjectWrite<PersistentVolume> | ObjectWrite<PersistentVolumeClaim> | ConfirmClaimGone | RecordEvent;

/** Both objects, specs and statuses, in one transaction: no client ever sees half a binding. */
export interface Bind {
  readonly do: 'bind';
  readonly volume: PersistentVolume;
  readonly claim: PersistentVolumeClaim;
}

/** `plain`: the API server has no volume bindings: it is not Mooring's, or runs with --plain. */
export type BindMode = 'transaction' | 'plain';

/**
 * The writes that are still missing until the claim is bound to the volume, however many of them are done already.
 *
 * In plain mode the volume comes first, in spec and status, then the claim, in spec and status, as in Kubernetes. A crash
 * behind any step leaves a volume whose claimRef names the claim: no other claim can take it, and the next decision about the
 * claim finds it first. The other way round, a crash would leave a claim that names a volume which another claim may take
 * meanwhile.
 */
export function bind(volume: Volume, claim: Claim, mode: BindMode): readonly BinderAction[] {
  const linkedVolume = linkVolume(volume, claim);
  const boundVolume = volumeInPhase(linkedVolume, 'Bound');
  const linkedClaim = linkClaim(claim, volume.name);
  const boundClaim = claimBoundTo(linkedClaim, boundVolume);
  const steps: readonly BinderAction[] = [
    ...update(volume.object, linkedVolume),
    ...updateStatus(linkedVolume, boundVolume),
    ...update(claim.object, linkedClaim),
    ...updateStatus(linkedClaim, boundClaim),
  ];
  return mode === 'plain' || steps.length <= 1 ? steps : [{ do: 'bind', volume: boundVolume, claim: boundClaim }];
}

/** The volume becomes what it was before: free, or reserved for a claim by name. */
export function unbind(volume: Volume): readonly BinderAction[] {
  const unlinked = unlinkVolume(volume);
  return [...update(volume.object, unlinked), ...updateStatus(unlinked, volumeInPhase(unlinked, 'Available'))];
}

export const setPhase = ({ object }: Volume, phase: 'Available' | 'Bound' | 'Released'): readonly BinderAction[] =>
  updateStatus(object, volumeInPhase(object, phase));
