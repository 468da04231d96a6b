import type { Node, Pod } from '../../api/generated/types.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import type { Host } from '../host.ts';
import { rejection } from '../pods/admission.ts';
import { type Allocation, allocate } from '../pods/resize.ts';
import { type Failure, isTerminal, podStatus, terminatedStatus } from '../pods/status/pod-status.ts';
import { confirmDeletion, deadlineExceeded, deadlineOf, ended, noAddress, rejectPod, acceptPod } from '../pods/pod-steps.ts';
import type { PodState } from '../runtime.ts';
import type { PodMountState } from '../contract.ts';
import type { PodWorkerAction, PodWorkerDecision, PodWorkerState } from './actions.ts';
import { planStart, type ContainerPlan, type PlanSnapshot, graceOf, planStop } from './container-plan.ts';

/** A pod on this node, and what the runtime has of pods of its name that are gone. */
export interface PodWorkerSnapshot extends Omit<PlanSnapshot, 'pod' | 'runs'> {
  /** Undefined: it is gone, or on another node. */
  readonly pod: Pod | undefined;
  readonly host: Host;
  /** Undefined: somebody deleted it. */
  readonly node: Node | undefined;
  readonly admitted: boolean;
  /** Pods that have their place on the node and have not ended. */
  readonly others: () => readonly Pod[];
  readonly volumes: () => PodMountState;
  /** Nothing of the pod is mounted. */
  readonly isUnmounted: boolean;
  readonly freeAddress: () => string | undefined;
  readonly state: PodState | undefined;
  /** Pods that nobody asks for any more. */
  readonly strays: readonly PodState[];
}

type PresentPod = PodWorkerSnapshot & { readonly pod: Pod };

/**
 * A pod's life on a node, one step: it is let in or not, waits for its volumes, gets its place, its containers are started, and started again, and when it
 * is deleted they are stopped, its volumes let go, and the object removed. What has happened so far the runtime knows: an agent that starts anew
 * goes on from there.
 */
export function decidePod(sight: PodWorkerSnapshot, now: number): PodWorkerDecision {
  const discards = sight.strays.map(({ uid }): PodWorkerAction => ({ do: 'discard', uid }));
  const { pod } = sight;
  if (pod === undefined) return { actions: discards, reasons: [{ code: 'PodGone', text: 'nobody asks for the pod any more' }] };
  const decision = decidePresent({ ...sight, pod }, now);
  return { ...decision, actions: [...discards, ...decision.actions] };
}

function decidePresent(sight: PresentPod, now: number): PodWorkerDecision {
  const { pod, admitted } = sight;
  if (isTerminal(pod.status.phase)) return cleanUp(sight, now);
  if (pod.metadata.deletionTimestamp !== undefined) return terminate(sight, now);
  const refused = admitted ? undefined : rejection({ ...sight, others: sight.others() });
  if (refused !== undefined) return rejectPod(pod, refused, now);
  if (pod.status.startTime === undefined) return acceptPod(sight, now);
  if (sight.memory.evicted !== undefined) return evict(sight, sight.memory.evicted, now);
  const deadline = deadlineOf(pod);
  if (deadline !== undefined && now >= deadline) return exceedDeadline(sight, now);
  const decision = startPod(sight, now);
  return deadline === undefined ? decision : { ...decision, again: Math.min(decision.again ?? deadline, deadline) };
}

/** It has ended: nothing of it runs any more, and what it has is taken back. */
function cleanUp(sight: PresentPod, now: number): PodWorkerDecision {
  const { pod } = sight;
  const course = stopped(sight, now + graceOf(pod), now);
  return { actions: isAnythingUp(sight) ? course.actions : leave(sight), reasons: ended };
}

/** Volumes first, then the object: whoever waits for it to go may rely on that nothing uses its volumes. */
function leave({ pod, state, memory, isUnmounted: isVacant }: PresentPod): readonly PodWorkerAction[] {
  const isPlaced = state?.sandbox !== undefined;
  return [
    ...(isPlaced || !memory.volumesReleased ? [{ do: 'vacate', pod } as const] : []),
    ...(memory.volumesReleased && isVacant ? confirmDeletion(pod) : []),
  ];
}

/** Its volumes come first, then its place, then its containers. */
function startPod(sight: PresentPod, now: number): PodWorkerDecision {
  const { pod, state } = sight;
  const first: PodWorkerAction[] = sight.admitted ? [] : [{ do: 'admit', pod }];
  if (state?.sandbox !== undefined) return syncContainers(sight, first, now);
  const waiting = waitingVolumes(sight);
  if (waiting.length > 0) return { actions: first, reasons: waiting };
  const isHosts = pod.spec.hostNetwork === true;
  const address = isHosts ? undefined : sight.freeAddress();
  if (address === undefined && !isHosts) return noAddress(sight, now);
  const changed = { do: 'tell', pod, type: 'Normal', reason: 'SandboxChanged', message: 'Pod sandbox changed, it will be killed and re-created.' } as const;
  const start = { do: 'start-sandbox', pod, address } as const;
  return syncContainers(sight, [...first, ...(state === undefined || state.runs.length === 0 ? [] : [changed]), start], now);
}

function syncContainers(sight: PresentPod, first: readonly PodWorkerAction[], now: number): PodWorkerDecision {
  const { pod, host, state } = sight;
  const allocation = allocate(sight);
  const given: readonly PodWorkerAction[] = allocation.isGiven ? [{ do: 'give', pod }] : [];
  const course = planStart(courseSight({ ...sight, pod: allocation.pod }), now);
  const again = course.again === undefined ? {} : { again: course.again };
  const waiting = course.actions.some((action) => action.do === 'start') ? waitingVolumes(sight) : undefined;
  // What is started changes the status a moment later: then it is written.
  if (waiting?.length === 0) {
    return { actions: [...first, ...given, ...course.actions], reasons: [{ code: 'PodStarting', text: 'containers are started' }], ...again };
  }
  const ips = state?.sandbox?.ips ?? [];
  const known = { sandbox: state?.sandbox !== undefined, ips, containers: course.records };
  const status = podStatus({ pod: allocation.pod, state: known, hostIp: host.ip, resizePending: allocation.pending }, now);
  const isNews = !semanticallyEqual(status, pod.status);
  // An agent that has just started has not looked at all volumes yet, and after a crash of the machine they are mounted anew: no container starts before.
  const possible = waiting === undefined ? course.actions : course.actions.filter((action) => action.do !== 'start');
  return {
    actions: [
      ...first,
      ...given,
      ...resizes(sight, allocation, now),
      ...(isNews ? [{ do: 'write-status', pod, status } as const] : []),
      ...allocation.events.map((event) => ({ do: 'tell', pod, ...event }) as const),
      ...possible,
    ],
    reasons: [{ code: `Pod${status.phase ?? ''}`, text: `the pod is ${status.phase ?? 'unknown'}` }, ...(waiting ?? [])],
    ...again,
  };
}

/** Done before it is told: whoever reads it may rely on it, and after a crash it is done again. */
function resizes({ pod, state }: PresentPod, { changed }: Allocation, now: number): readonly PodWorkerAction[] {
  return changed.flatMap(({ container, restarts }): readonly PodWorkerAction[] => {
    const run = state?.runs.findLast(({ name }) => name === container.name);
    if (run?.state.type !== 'running') return [];
    const { id } = run;
    if (!restarts) return [{ do: 'resize', pod, container, id }];
    return [{ do: 'kill', pod, container, id, deadline: now + graceOf(pod), message: `Container ${container.name} resize requires restart` }];
  });
}

function waitingVolumes({ volumes }: PresentPod): PodWorkerDecision['reasons'] {
  const look = volumes();
  return look.ready ? [] : look.waiting.map((name) => ({ code: 'VolumeWaiting', text: `volume ${name} is not ready` }));
}

const courseSight = (sight: PresentPod): PlanSnapshot => ({ ...sight, runs: sight.state?.runs ?? [] });

const isAnythingUp = ({ state }: PresentPod): boolean => state?.runs.some((run) => run.state.type === 'running') === true;

const stopped = (sight: PresentPod, deadline: number, now: number): ContainerPlan => planStop(courseSight(sight), deadline, now);

/** It was deleted: its containers are stopped, what it has is given back, and then the object goes. */
function terminate(sight: PresentPod, now: number): PodWorkerDecision {
  const { deletionTimestamp = '' } = sight.pod.metadata;
  return end(sight, { deadline: Date.parse(deletionTimestamp), now });
}

interface End {
  readonly deadline: number;
  readonly now: number;
  readonly failure?: Failure;
}

function end(sight: PresentPod, { deadline, now, failure }: End): PodWorkerDecision {
  const { pod, host, state } = sight;
  const course = stopped(sight, deadline, now);
  const ips = state?.sandbox?.ips ?? (pod.status.podIPs ?? []).map(({ ip }) => ip);
  const isUp = isAnythingUp(sight);
  const containers = course.records;
  const reasons = [{ code: 'PodStopping', text: 'the pod is stopped' }];
  if (isUp) {
    const status = podStatus({ pod, state: { sandbox: true, ips, containers }, hostIp: host.ip }, now);
    const isNews = !semanticallyEqual(status, pod.status);
    return { actions: [...course.actions, ...(isNews ? [{ do: 'write-status', pod, status } as const] : [])], reasons };
  }
  const reported = { pod, state: { sandbox: false, ips, containers }, hostIp: host.ip, terminal: true, ...(failure === undefined ? {} : { failure }) };
  const status = terminatedStatus(pod, podStatus(reported, now));
  const isNews = !semanticallyEqual(status, pod.status);
  return { actions: [...(isNews ? [{ do: 'write-status', pod, status } as const] : []), ...leave(sight)], reasons };
}

/** It has had its time: the node ends it. */
function exceedDeadline(sight: PresentPod, now: number): PodWorkerDecision {
  const decision = end(sight, { deadline: now + graceOf(sight.pod), now, failure: deadlineExceeded });
  return sight.memory.deadlineRecorded ? decision : told(decision, sight, { type: 'Normal', ...deadlineExceeded, news: { deadlineRecorded: true } });
}

/** It takes more than it may: there is no time for its own grace. */
function evict(sight: PresentPod, message: string, now: number): PodWorkerDecision {
  const failure = { reason: 'Evicted', message };
  const decision = end(sight, { deadline: now + evictionGraceMs, now, failure });
  return sight.memory.evictionRecorded ? decision : told(decision, sight, { type: 'Warning', ...failure, news: { evictionRecorded: true } });
}

const evictionGraceMs = 1_000;

interface EventOnce extends Failure {
  readonly type: 'Normal' | 'Warning';
  readonly news: Partial<PodWorkerState>;
}

/** The same, and before all else people are told, once. */
function told(decision: PodWorkerDecision, { pod }: PresentPod, { news, ...telling }: EventOnce): PodWorkerDecision {
  const first: readonly PodWorkerAction[] = [
    { do: 'tell', pod, ...telling },
    { do: 'remember', pod, news },
  ];
  return { ...decision, actions: [...first, ...decision.actions] };
}
