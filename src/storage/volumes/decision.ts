/** What the decisions of all storage controllers share, besides `client/decision.ts`. */
import type { Decision, Reason } from '../../client/decision.ts';
import type { ClaimRef } from './volume.ts';

export interface VolumeReason extends Reason {
  readonly next: Actor;
}

export type Actor =
  | 'binder'
  | 'provisioner'
  | 'external provisioner'
  | 'reclaimer'
  | 'scheduler'
  | 'attach-detach'
  | 'external attacher'
  | 'external resizer'
  | 'external snapshotter'
  | 'volume populator'
  | 'driver'
  | 'node'
  | 'user'
  | 'administrator'
  | 'none';

export const because = (code: string, text: string, next: Actor): VolumeReason => ({ code, text, next });

/** Nothing is to be done, for this reason. */
export const stay = <Why extends VolumeReason>(reason: Why): Decision<never, Why> => ({ actions: [], reasons: [reason] });

/** Reads the claim from the server, not from a cache. The list goes on only if no claim of that uid exists: data depends on it. */
export interface ConfirmClaimGone {
  readonly do: 'confirmClaimGone';
  readonly claim: ClaimRef;
}
