/** The changes that the claims of one ordinal need. */
import type { PersistentVolumeClaim, StatefulSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { ClaimChanges } from './actions.ts';
import { claimName, claimOf, claimTemplates } from './identity.ts';
import { hasForeignController, isStale, type Member, withOwners } from './retention.ts';

export interface ClaimsSnapshot {
  readonly set: Stored<StatefulSet>;
  /** By name, in the set's namespace. */
  readonly claim: (name: string) => Stored<PersistentVolumeClaim> | undefined;
}

export const hasStaleClaim = ({ set, claim }: ClaimsSnapshot, member: Member): boolean =>
  claimTemplates(set).some((template) => {
    const found = claim(claimName(template, set, member.ordinal));
    return found !== undefined && isStale(found, set, member);
  });

export function claimChanges({ set, claim }: ClaimsSnapshot, member: Member): ClaimChanges {
  const toCreate: PersistentVolumeClaim[] = [];
  const terminating: string[] = [];
  const toUpdate: ClaimChanges['toUpdate'][number][] = [];
  const foreign: string[] = [];
  for (const template of claimTemplates(set)) {
    const name = claimName(template, set, member.ordinal);
    const found = claim(name);
    if (found === undefined) {
      // Created with its owners: a crash after the creation leaves no claim without owner.
      toCreate.push(withOwners(claimOf(set, template, member.ordinal), set, member));
      continue;
    }
    if (found.metadata.deletionTimestamp !== undefined) terminating.push(name);
    if (hasForeignController(found, set, member)) foreign.push(name);
    const updated = withOwners(found, set, member);
    if (updated !== found) toUpdate.push({ claim: updated, from: found });
  }
  return { toCreate, terminating, toUpdate, foreign };
}

/** Owner references only: missing claims are created only for pods that wait for them. */
export const ownerChanges = (snapshot: ClaimsSnapshot, member: Member): ClaimChanges => ({ ...claimChanges(snapshot, member), toCreate: [], terminating: [] });
