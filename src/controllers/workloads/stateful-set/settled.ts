/** Whether a pod and its claims need a write, whatever the time and the other pods are. */
import { isPodTerminal } from '../../pods/state.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Pod } from '../../../api/generated/types.ts';
import { type ClaimsSnapshot, claimChanges, ownerChanges } from './claims.ts';
import { asMember } from './identity.ts';
import type { Member } from './retention.ts';

type ExistingMember = Member & { readonly pod: Stored<Pod> };

/** A wanted pod that `planMember` has nothing to do for. */
export function isSettled(snapshot: ClaimsSnapshot, member: ExistingMember): boolean {
  const { pod } = member;
  if (isPodTerminal(pod) || asMember(pod, snapshot.set) !== pod) return false;
  const changes = claimChanges(snapshot, member);
  if (changes.toUpdate.length > 0) return false;
  // Only a Pending pod waits for claims that are missing or being deleted.
  return pod.status.phase !== 'Pending' || (changes.toCreate.length === 0 && changes.terminating.length === 0);
}

/** A condemned pod whose claims have the owners of the retention policy. */
export const isMarked = (snapshot: ClaimsSnapshot, member: ExistingMember): boolean => ownerChanges(snapshot, member).toUpdate.length === 0;
