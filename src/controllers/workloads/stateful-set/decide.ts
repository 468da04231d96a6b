import type { ControllerRevision, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { sortByOwner, ownershipActions } from '../../pods/ownership.ts';
import { selects } from '../../pods/selector.ts';
import type { StatefulSetAction, StatefulSetDecision } from './actions.ts';
import type { ClaimsSnapshot } from './claims.ts';
import { expandClaims } from './claim-expansion.ts';
import { isMemberOf, setReference } from './identity.ts';
import { type MembersPlan, planMembers } from './members.ts';
import type { Members } from './members-view.ts';
import { type History, historyOf, outdated } from './revisions.ts';
import { isStatusChanged, statusOf } from './status.ts';

export interface StatefulSetSnapshot extends ClaimsSnapshot {
  /** The pods that it controls. */
  readonly members: Members;
  /** Pods without controller whose names point to it. */
  readonly orphans: readonly Stored<Pod>[];
  /** The revisions that it controls, and those in its namespace without controller. */
  readonly revisions: readonly Stored<ControllerRevision>[];
  /** Any revision of this name in its namespace. */
  readonly revision: (name: string) => Stored<ControllerRevision> | undefined;
}

/**
 * Expected flow: adopt and release pods and revisions; create the revision of the template; write the status; then handle pods by
 * ordinal. OrderedReady does one step at a time and waits for each pod; Parallel does all steps at once. Pods beyond `replicas`
 * are deleted, highest ordinal first; then pods of an old revision, highest first.
 * Guarantees: an ordinal always has the same pod name and claims; there is never a second pod of an ordinal; claims are left to the
 * garbage collector and never deleted here.
 */
export function decideSet(snapshot: StatefulSetSnapshot, now: number): StatefulSetDecision {
  const { set } = snapshot;
  const { toAdopt } = sortByOwner(set, snapshot.orphans, (pod) => selects(set.spec.selector, pod.metadata.labels) && isMemberOf(set, pod));
  const toRelease = set.metadata.deletionTimestamp === undefined ? [...snapshot.members.mismatched] : [];
  const revisions = sortByOwner(set, snapshot.revisions, ({ metadata }) => selects(set.spec.selector, metadata.labels));
  const toClaim: readonly StatefulSetAction[] = [
    ...ownershipActions(setReference(set), set, { toAdopt: revisions.toAdopt, toRelease: [] }),
    ...ownershipActions(setReference(set), set, { toAdopt, toRelease }),
  ];
  if (toClaim.length > 0) return { actions: toClaim, reasons: [{ code: 'Ownership', text: 'pods or revisions are to be adopted or released' }] };
  return decideOwn({ ...snapshot, revisions: revisions.owned }, now);
}

/** The status is written before the pods: it has to be right even if they cannot be created. */
function decideOwn(snapshot: StatefulSetSnapshot, now: number): StatefulSetDecision {
  const { set, members } = snapshot;
  const history = historyOf(set, { own: snapshot.revisions, named: snapshot.revision });
  const status = statusOf(set, { members, history }, now);
  const report: readonly StatefulSetAction[] = isStatusChanged(status, set.status) ? [{ do: 'updateStatus', object: { ...set, status }, from: set }] : [];
  // The garbage collector deletes its pods and revisions.
  if (set.metadata.deletionTimestamp !== undefined) {
    return { actions: history.actions.length === 0 ? report : [], reasons: [{ code: 'SetGoes', text: 'the set is being deleted' }] };
  }
  const live = new Set([history.current.revision, history.update.revision, ...members.revisions()]);
  const toForget = outdated(set, snapshot.revisions, live).map((object) => ({ do: 'delete', object }) as const);
  const plan = planPods(snapshot, history, now);
  const again = members.nextAvailability(now);
  return {
    actions: [...history.actions, ...report, ...toForget, ...plan.actions],
    reasons: plan.reasons,
    ...(again === undefined ? {} : { again }),
  };
}

function planPods(snapshot: StatefulSetSnapshot, history: History, now: number): MembersPlan {
  const { set, claim, members } = snapshot;
  const plan = planMembers({ set, claim, members, history, now });
  // Last: a failing expansion must not keep pods from being created.
  const expansion = expandClaims(snapshot, members);
  return { actions: [...plan.actions, ...expansion.actions], reasons: [...plan.reasons, ...expansion.reasons] };
}
