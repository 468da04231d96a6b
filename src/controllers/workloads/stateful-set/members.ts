/** The plan for the pods of a StatefulSet, by ordinal. */
import type { Pod, StatefulSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Reason } from '../../../client/decision.ts';
import { isPodAvailable, isPodTerminal } from '../../pods/state.ts';
import type { StatefulSetAction, ClaimChanges, PodStep } from './actions.ts';
import { type ClaimsSnapshot, claimChanges, hasStaleClaim, ownerChanges } from './claims.ts';
import { asMember, hasStorage, memberName, memberOf, ordinalsOf, revisionOf } from './identity.ts';
import { ascending, inOrder } from './in-order.ts';
import type { Members } from './members-view.ts';
import type { Member } from './retention.ts';
import type { History, TemplateRevision } from './revisions.ts';
import { isRunningAndReady, isTerminating, isUnavailable } from './status.ts';

export interface MembersPlan {
  readonly actions: readonly StatefulSetAction[];
  readonly reasons: readonly Reason[];
}

export interface MembersSnapshot extends ClaimsSnapshot {
  readonly members: Members;
  readonly history: Pick<History, 'current' | 'update'>;
  readonly now: number;
}

/** OrderedReady: each pod waits for the one before it. */
const isOrdered = ({ spec }: StatefulSet): boolean => spec.podManagementPolicy !== 'Parallel';

/** Wanted pods first, then condemned ones, then those of an old revision: each group only once the former needs nothing. */
export function planMembers(snapshot: MembersSnapshot): MembersPlan {
  const replicas = planReplicas(snapshot);
  if (replicas.stop !== undefined) return { actions: inParallelIfAllowed(snapshot, replicas.steps), reasons: [replicas.stop] };
  const marks = [...snapshot.members.condemnedUnmarked()].flatMap((ordinal) => marking(snapshot, ordinal));
  const removal = planRemoval(snapshot);
  const actions = [...inParallelIfAllowed(snapshot, replicas.steps), ...inParallelIfAllowed(snapshot, marks), ...inParallelIfAllowed(snapshot, removal.steps)];
  if (removal.stop !== undefined) return { actions, reasons: [removal.stop] };
  const update = planUpdate(snapshot);
  return { actions: [...actions, ...update.steps], reasons: update.stop === undefined ? [] : [update.stop] };
}

/** In a Parallel StatefulSet pods do not wait for each other. */
function inParallelIfAllowed({ set }: MembersSnapshot, steps: readonly PodStep[]): readonly StatefulSetAction[] {
  return isOrdered(set) || steps.length < 2 ? steps : [{ do: 'together', steps }];
}

interface MemberPlan {
  readonly steps: readonly PodStep[];
  /** Why nothing after this can be done now. */
  readonly stop?: Reason;
}

const stop = (code: string, text: string, ...steps: readonly PodStep[]): MemberPlan => ({ steps, stop: { code, text } });

/** At most this many steps of a Parallel StatefulSet in one pass; the next pass sees the result. */
const burst = 500;

function planReplicas(snapshot: MembersSnapshot): MemberPlan {
  const { set, members, now } = snapshot;
  const ordered = isOrdered(set);
  const steps: PodStep[] = [];
  // A pod that is settled, and available where that counts, has no step and stops nothing.
  for (const ordinal of ordered ? inOrder(ascending, members.unsettled(), members.unavailable(now)) : members.unsettled()) {
    if (steps.length >= burst) return stop('ManyPods', `${burst} pods are worked on; the next pass does the others`, ...steps);
    const plan = planMember(snapshot, ordinal);
    steps.push(...plan.steps);
    if (plan.stop !== undefined && (ordered || plan.stop.code === 'ClaimGoes')) return { steps, stop: plan.stop };
  }
  return { steps };
}

function planMember(snapshot: MembersSnapshot, ordinal: number): MemberPlan {
  const { set } = snapshot;
  const name = memberName(set, ordinal);
  const pod = snapshot.members.at(ordinal);
  const member: Member = { name, ordinal, pod };
  if (pod === undefined) return creation(snapshot, member);
  if (isPodTerminal(pod)) return stop('PodEnded', `pod ${name} has ended and is replaced`, ...(isTerminating(pod) ? [] : [deletion(set, pod)]));
  const restored = pod.status.phase === 'Pending' ? restoration(snapshot, member) : { steps: [] };
  if (restored.stop !== undefined) return restored;
  if (isOrdered(set)) {
    const waits = whyNotYet(snapshot, pod);
    if (waits !== undefined) return { steps: restored.steps, stop: { code: 'PodNotReady', text: `pod ${name} ${waits}` } };
  }
  return { steps: restored.steps.length > 0 ? restored.steps : correction(snapshot, member, pod) };
}

function whyNotYet({ set, now }: MembersSnapshot, pod: Pod): string | undefined {
  if (isTerminating(pod)) return 'is being deleted';
  if (!isRunningAndReady(pod)) return 'is not running and ready';
  return isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now) ? undefined : 'has not been ready for long enough';
}

function creation(snapshot: MembersSnapshot, member: Member): MemberPlan {
  const { set } = snapshot;
  const { name, ordinal } = member;
  if (hasStaleClaim(snapshot, member)) return stop('StaleClaim', `a claim of ${name} is deleted with the former pod of this ordinal`);
  const pod = memberOf(set, ordinal, stateFor(snapshot, ordinal));
  return stop('PodMissing', `pod ${name} is missing`, { do: 'createPod', set, pod, claims: claimChanges(snapshot, member) });
}

/** Pods below the partition are recreated with the current revision. */
function stateFor({ set, history, members }: MembersSnapshot, ordinal: number): TemplateRevision {
  const { type, rollingUpdate } = set.spec.updateStrategy;
  const old = rollingUpdate === undefined ? (type === 'RollingUpdate' ? members.stayingReplicas(history.current.revision) : 0) : (rollingUpdate.partition ?? 0);
  return ordinal < ordinalsOf(set).start + old ? history.current : history.update;
}

/** A Pending pod may wait for a claim that was deleted. */
function restoration(snapshot: MembersSnapshot, member: Member): MemberPlan {
  const changes = claimChanges(snapshot, member);
  const { set } = snapshot;
  const step = (claims: ClaimChanges): PodStep => ({ do: 'restoreClaims', set, podName: member.name, claims });
  if (changes.terminating.length > 0) {
    const missing = changes.toCreate.length === 0 ? [] : [step({ ...changes, toUpdate: [], terminating: [] })];
    return stop('ClaimGoes', `claim ${changes.terminating.join(', ')} of ${member.name} is being deleted`, ...missing);
  }
  return { steps: changes.toCreate.length > 0 || changes.toUpdate.length > 0 ? [step(changes)] : [] };
}

/** Corrects the pod and its claims: it may have been adopted, or the retention policy may have changed. */
function correction(snapshot: MembersSnapshot, member: Member, pod: Stored<Pod>): readonly PodStep[] {
  const { set } = snapshot;
  const right = asMember(pod, set);
  const claims = hasStorage(pod, set) ? ownerChanges(snapshot, member) : claimChanges(snapshot, member);
  if (right === pod && claims.toUpdate.length === 0) return [];
  return [{ do: 'updatePod', set, podName: member.name, claims, ...(right === pod ? {} : { pod: { object: right, from: pod } }) }];
}

function marking(snapshot: MembersSnapshot, ordinal: number): readonly PodStep[] {
  const { set, members } = snapshot;
  const podName = memberName(set, ordinal);
  const claims = ownerChanges(snapshot, { name: podName, ordinal, pod: members.at(ordinal) });
  return claims.toUpdate.length === 0 ? [] : [{ do: 'updateClaims', set, podName, claims }];
}

const deletion = (set: Stored<StatefulSet>, pod: Stored<Pod>): PodStep => ({ do: 'deletePod', set, pod });

function planRemoval(snapshot: MembersSnapshot): MemberPlan {
  const { set, members, now } = snapshot;
  if (!isOrdered(set)) return { steps: [...podsAt(members, members.condemnedStaying())].flatMap((pod) => (isTerminating(pod) ? [] : [deletion(set, pod)])) };
  const [highest] = podsAt(members, members.condemned());
  if (highest === undefined) return { steps: [] };
  const name = highest.metadata.name;
  if (isTerminating(highest)) return stop('PodGoes', `pod ${name} is being deleted`);
  // All wanted pods are healthy, or planning would have stopped before.
  const firstUnhealthy = lowestUnavailable(snapshot);
  const isWell = isRunningAndReady(highest) && isPodAvailable(highest, set.spec.minReadySeconds ?? 0, now);
  if (!isWell && highest !== firstUnhealthy)
    return stop('PodNotReady', `pod ${firstUnhealthy?.metadata.name ?? ''} has to be available before ${name} is deleted`);
  return stop('ScaleDown', `pod ${name} is not wanted any more`, deletion(set, highest));
}

function lowestUnavailable({ set, members, now }: MembersSnapshot): Stored<Pod> | undefined {
  for (const pod of podsAt(members, members.condemnedUnavailable(now))) if (isUnavailable(pod, set, now)) return pod;
  return undefined;
}

function* podsAt(members: Members, ordinals: Iterable<number>): Generator<Stored<Pod>, void, undefined> {
  for (const ordinal of ordinals) {
    const pod = members.at(ordinal);
    if (pod !== undefined) yield pod;
  }
}

/** The highest pod of an old revision is deleted and recreated; the next one only once that is available. */
function planUpdate({ set, members, history, now }: MembersSnapshot): MemberPlan {
  const { type, rollingUpdate } = set.spec.updateStrategy;
  if (type === 'OnDelete') return { steps: [] };
  const last = ordinalsOf(set).start + (rollingUpdate?.partition ?? 0);
  for (const ordinal of members.outdated(history.update.revision, now)) {
    if (ordinal < last) break;
    const pod = members.at(ordinal);
    const name = memberName(set, ordinal);
    if (pod === undefined) return stop('PodMissing', `pod ${name} is being created`);
    if (revisionOf(pod) !== history.update.revision && !isTerminating(pod)) return stop('PodOutdated', `pod ${name} has an old revision`, deletion(set, pod));
    if (isUnavailable(pod, set, now)) return stop('PodNotReady', `pod ${name} is not available`);
  }
  return { steps: [] };
}
