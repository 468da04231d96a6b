import type { ControllerRevision, Pod } from '../../../api/generated/types.ts';
import { sortByOwner, ownershipActions } from '../../pods/ownership.ts';
import { selects } from '../../pods/selector.ts';
import { nextAvailability } from '../../pods/state.ts';
import type { StatefulSetAction, StatefulSetDecision } from './actions.ts';
import type { ClaimsSnapshot } from './claims.ts';
import { expandClaims } from './claim-expansion.ts';
import { isMemberOf, ordinalOf, revisionOf, setReference } from './identity.ts';
import { type MembersPlan, planMembers, membersSnapshot } from './members.ts';
import { type History, historyOf, outdated } from './revisions.ts';
import { isStatusChanged, statusOf } from './status.ts';

export interface StatefulSetSnapshot extends ClaimsSnapshot {
  /** Those that the set manages, and those that nobody manages and are named like its own. */
  readonly pods: readonly Pod[];
  /** Those that the set manages, and those that nobody manages. */
  readonly revisions: readonly ControllerRevision[];
  /** By name, in the set's namespace, whosever they are. */
  readonly revision: (name: string) => ControllerRevision | undefined;
}

/**
 * What a set has to do next.
 *
 * Expected flow: take over what belongs to it; write down the state of its template; report; then look at its pods in the
 * order of their numbers. An OrderedReady set does one thing at a time and waits for each pod; a Parallel one does all that
 * there is to do. Pods beyond its size go, highest first; then pods in an old state, highest first.
 * Guarantees: a pod's name and claims are those of its number, for ever; there is never a second pod of a number; a claim that is
 * not wanted any more is given to the garbage collector, never deleted from here.
 */
export function decideSet(seen: StatefulSetSnapshot, now: number): StatefulSetDecision {
  const { set } = seen;
  const pods = sortByOwner(set, seen.pods, (pod) => selects(set.spec.selector, pod.metadata.labels) && isMemberOf(set, pod));
  const revisions = sortByOwner(set, seen.revisions, ({ metadata }) => selects(set.spec.selector, metadata.labels));
  const toClaim: readonly StatefulSetAction[] = [
    ...ownershipActions(setReference(set), set, { toAdopt: revisions.toAdopt, toRelease: [] }),
    ...ownershipActions(setReference(set), set, pods),
  ];
  if (toClaim.length > 0) return { actions: toClaim, reasons: [{ code: 'Ownership', text: 'pods or revisions are to be adopted or released' }] };
  return decideOwn({ ...seen, revisions: revisions.owned, pods: pods.owned.filter((pod) => ordinalOf(pod) >= 0) }, now);
}

/** The status comes before the pods: it has to be true also if they cannot be made. */
function decideOwn(seen: StatefulSetSnapshot, now: number): StatefulSetDecision {
  const { set, pods } = seen;
  const history = historyOf(set, { own: seen.revisions, named: seen.revision });
  const status = statusOf(set, { pods, history }, now);
  const report: readonly StatefulSetAction[] = isStatusChanged(status, set.status) ? [{ do: 'updateStatus', object: { ...set, status }, from: set }] : [];
  // Its pods and revisions are the garbage collector's business: whatever was made now would have to be deleted next.
  if (set.metadata.deletionTimestamp !== undefined) {
    return { actions: history.actions.length === 0 ? report : [], reasons: [{ code: 'SetGoes', text: 'the set is being deleted' }] };
  }
  const live = new Set([history.current.revision, history.update.revision, ...pods.map(revisionOf)]);
  const toForget = outdated(set, seen.revisions, live).map((object) => ({ do: 'delete', object }) as const);
  const plan = planPods(seen, history, now);
  const again = nextAvailability(pods, set.spec.minReadySeconds ?? 0, now);
  return {
    actions: [...history.actions, ...report, ...toForget, ...plan.actions],
    reasons: plan.reasons,
    ...(again === undefined ? {} : { again }),
  };
}

function planPods(seen: StatefulSetSnapshot, history: History, now: number): MembersPlan {
  const currentReplicas = seen.pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && revisionOf(pod) === history.current.revision).length;
  const scene = membersSnapshot(seen, { pods: seen.pods, history, currentReplicas, now });
  const plan = planMembers(scene);
  // Last: storage that cannot grow must not keep pods from being made.
  const grown = expandClaims(seen, [...scene.podAt.values()]);
  return { actions: [...plan.actions, ...grown.actions], reasons: [...plan.reasons, ...grown.reasons] };
}
