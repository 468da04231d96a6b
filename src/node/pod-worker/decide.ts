import type { Node, Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import type { PodMountState } from '../contract.ts';
import type { Host } from '../host.ts';
import { rejection } from '../pods/admission.ts';
import { type Allocation, allocate } from '../pods/resize.ts';
import { nothingRuns } from '../pods/runtime-state.ts';
import { type Failure, isTerminal, podStatus, rejectedStatus, terminatedStatus } from '../pods/status/pod-status.ts';
import type { PodState } from '../runtime.ts';
import type { PodWorkerAction, PodWorkerDecision, PodWorkerState } from './actions.ts';
import { type ContainerPlan, graceOf, type PlanSnapshot, planStart, planStop } from './container-plan.ts';

/** A pod on this node, and what the runtime has of earlier pods of the same name. */
export interface PodWorkerSnapshot extends Omit<PlanSnapshot, 'pod' | 'runs'> {
  /** Undefined: the pod is gone, or on another node. */
  readonly pod: Stored<Pod> | undefined;
  readonly host: Host;
  /** Undefined: the Node was deleted. */
  readonly node: Node | undefined;
  readonly admitted: boolean;
  /** The node's other admitted pods that have not ended. */
  readonly others: () => readonly Pod[];
  readonly mounts: () => PodMountState;
  /** Nothing of the pod is mounted. */
  readonly isUnmounted: boolean;
  readonly freeAddress: () => string | undefined;
  readonly state: PodState | undefined;
  /** Pods that the runtime has, and that no longer exist. */
  readonly strays: readonly { readonly uid: string; readonly node: string }[];
  /** What is wrong with the pod's annotations for the runtime. */
  readonly invalidAnnotations: () => readonly string[];
}

type PresentPod = PodWorkerSnapshot & { readonly pod: Stored<Pod> };

/**
 * One step of a pod's life on a node: the pod is admitted or rejected, waits for its volumes, gets a sandbox, its containers are started and
 * restarted, and when it is deleted they are stopped, its volumes released, and the object deleted. The runtime knows what has happened so
 * far: an agent that restarts continues from there.
 */
export function decidePod(snapshot: PodWorkerSnapshot, now: number): PodWorkerDecision {
  const discards = snapshot.strays.map(({ uid, node }): PodWorkerAction => ({ do: 'discard', uid, node }));
  const { pod } = snapshot;
  if (pod === undefined) return { actions: discards, reasons: [{ code: 'PodGone', text: 'the pod is gone' }] };
  const decision = decidePresent({ ...snapshot, pod }, now);
  return discards.length === 0 ? decision : { ...decision, actions: [...discards, ...decision.actions] };
}

function decidePresent(snapshot: PresentPod, now: number): PodWorkerDecision {
  const { pod, admitted } = snapshot;
  if (isTerminal(pod.status.phase)) return cleanUp(snapshot, now);
  if (pod.metadata.deletionTimestamp !== undefined) return terminate(snapshot, now);
  const refused = admitted ? undefined : rejection({ ...snapshot, others: snapshot.others() });
  if (refused !== undefined) return rejectPod(pod, refused, now);
  if (pod.status.startTime === undefined) return acceptPod(snapshot, now);
  if (snapshot.memory.evicted !== undefined) return evict(snapshot, snapshot.memory.evicted, now);
  const deadline = deadlineOf(pod);
  if (deadline !== undefined && now >= deadline) return exceedDeadline(snapshot, now);
  const decision = startPod(snapshot, now);
  return deadline === undefined ? decision : { ...decision, again: Math.min(decision.again ?? deadline, deadline) };
}

function rejectPod(pod: Stored<Pod>, refused: Failure, now: number): PodWorkerDecision {
  return {
    actions: [
      { do: 'write-status', pod, status: rejectedStatus(pod, refused, now) },
      { do: 'record-event', pod, type: 'Warning', ...refused },
    ],
    reasons: [{ code: refused.reason, text: refused.message }],
  };
}

function acceptPod({ pod, host, invalidAnnotations }: PresentPod, now: number): PodWorkerDecision {
  const status = podStatus({ pod, state: nothingRuns, hostIp: host.ip }, now);
  return {
    actions: [
      { do: 'admit', pod },
      { do: 'write-status', pod, status },
      ...invalidAnnotations().map((message) => ({ do: 'record-event', pod, type: 'Warning', reason: 'InvalidAnnotation', message }) as const),
    ],
    reasons: [{ code: 'PodAdmitted', text: 'the node admits the pod' }],
  };
}

/** When the pod has used up its activeDeadlineSeconds; milliseconds since 1970. */
function deadlineOf({ spec: { activeDeadlineSeconds }, status: { startTime } }: Pod): number | undefined {
  return activeDeadlineSeconds === undefined || startTime === undefined ? undefined : Date.parse(startTime) + activeDeadlineSeconds * 1000;
}

/** The pod has ended: its remaining containers are stopped, and its sandbox, address and volumes are released. */
function cleanUp(snapshot: PresentPod, now: number): PodWorkerDecision {
  const plan = planStop(planSnapshot(snapshot), now + graceOf(snapshot.pod), now);
  return { actions: isAnythingUp(snapshot) ? plan.actions : release(snapshot), reasons: [{ code: 'PodEnded', text: 'the pod has ended' }] };
}

/** Volumes first, then the object: once the object is gone, nothing uses its volumes. */
function release({ pod, state, memory, isUnmounted }: PresentPod): readonly PodWorkerAction[] {
  if (state?.sandbox !== undefined || !memory.volumesReleased) return [{ do: 'stop-sandbox', pod }];
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  // With a grace period, the API server waits for the node to delete the object.
  return isUnmounted && deletionTimestamp !== undefined && deletionGracePeriodSeconds > 0 ? [{ do: 'delete-pod', pod }] : [];
}

/** Volumes first, then the sandbox, then the containers. */
function startPod(snapshot: PresentPod, now: number): PodWorkerDecision {
  const { pod, state } = snapshot;
  const first: PodWorkerAction[] = snapshot.admitted ? [] : [{ do: 'admit', pod }];
  if (state?.sandbox !== undefined) return syncContainers(snapshot, first, now);
  const mounts = snapshot.mounts();
  if (!mounts.ready && mounts.rejected !== undefined) return rejectPod(pod, { reason: 'VolumeAttachmentLimitExceeded', message: mounts.rejected }, now);
  const waiting = waitingVolumes(snapshot);
  if (waiting.length > 0) return { actions: first, reasons: waiting };
  const usesHostNetwork = pod.spec.hostNetwork === true;
  const address = usesHostNetwork ? undefined : snapshot.freeAddress();
  if (address === undefined && !usesHostNetwork) return noAddress(snapshot, now);
  const changed = {
    do: 'record-event',
    pod,
    type: 'Normal',
    reason: 'SandboxChanged',
    message: 'Pod sandbox changed, it will be killed and re-created.',
  } as const;
  const start = { do: 'start-sandbox', pod, address } as const;
  return syncContainers(snapshot, [...first, ...(state === undefined || state.runs.length === 0 ? [] : [changed]), start], now);
}

/** Only with a pod CIDR that was made smaller than the node's number of pods: pods that ended have released theirs. */
function noAddress({ pod, host, node }: PresentPod, now: number): PodWorkerDecision {
  const message = `Failed to create pod sandbox: no IP addresses available in range set: ${node?.spec.podCIDR ?? host.podCidr}`;
  return {
    actions: [{ do: 'record-event', pod, type: 'Warning', reason: 'FailedCreatePodSandBox', message }],
    reasons: [{ code: 'NoAddress', text: message }],
    again: now + 10_000,
  };
}

function syncContainers(snapshot: PresentPod, first: readonly PodWorkerAction[], now: number): PodWorkerDecision {
  const { pod, host, state } = snapshot;
  const allocation = allocate(snapshot);
  const allocated: readonly PodWorkerAction[] = allocation.isGiven ? [{ do: 'allocate', pod }] : [];
  const plan = planStart(planSnapshot({ ...snapshot, pod: allocation.pod }), now);
  const again = plan.again === undefined ? {} : { again: plan.again };
  const waiting = plan.actions.some((action) => action.do === 'start') ? waitingVolumes(snapshot) : undefined;
  // A start changes the status a moment later: then it is written.
  if (waiting?.length === 0) {
    return { actions: [...first, ...allocated, ...plan.actions], reasons: [{ code: 'PodStarting', text: 'containers are started' }], ...again };
  }
  const ips = state?.sandbox?.ips ?? [];
  const known = { sandbox: state?.sandbox !== undefined, ips, containers: plan.records };
  const status = podStatus({ pod: allocation.pod, state: known, hostIp: host.ip, resizePending: allocation.pending }, now);
  const isNews = !semanticallyEqual(status, pod.status);
  // A restarted agent has not verified all mounts yet, and after a reboot the volumes are mounted anew: no container starts before.
  const possible = waiting === undefined ? plan.actions : plan.actions.filter((action) => action.do !== 'start');
  return {
    actions: [
      ...first,
      ...allocated,
      ...resizes(snapshot, allocation, now),
      ...(isNews ? [{ do: 'write-status', pod, status } as const] : []),
      ...allocation.events.map((event) => ({ do: 'record-event', pod, ...event }) as const),
      ...possible,
    ],
    reasons: [{ code: `Pod${status.phase ?? ''}`, text: `the pod is ${status.phase ?? 'unknown'}` }, ...(waiting ?? [])],
    ...again,
  };
}

/** Before the status: a client that reads it may rely on it, and after a crash the resize is repeated. */
function resizes({ pod, state }: PresentPod, { changed }: Allocation, now: number): readonly PodWorkerAction[] {
  return changed.flatMap(({ container, restarts }): readonly PodWorkerAction[] => {
    const run = state?.runs.findLast(({ name }) => name === container.name);
    if (run?.state.type !== 'running') return [];
    const { id } = run;
    if (!restarts) return [{ do: 'resize', pod, container, id }];
    return [{ do: 'kill', pod, container, id, deadline: now + graceOf(pod), message: `Container ${container.name} resize requires restart` }];
  });
}

function waitingVolumes({ mounts }: PresentPod): PodWorkerDecision['reasons'] {
  const state = mounts();
  return state.ready ? [] : state.waiting.map((name) => ({ code: 'VolumeWaiting', text: `volume ${name} is not ready` }));
}

const planSnapshot = (snapshot: PresentPod): PlanSnapshot => ({ ...snapshot, runs: snapshot.state?.runs ?? [] });

const isAnythingUp = ({ state }: PresentPod): boolean => state?.runs.some((run) => run.state.type === 'running') === true;

function terminate(snapshot: PresentPod, now: number): PodWorkerDecision {
  const { deletionTimestamp = '' } = snapshot.pod.metadata;
  return end(snapshot, { deadline: Date.parse(deletionTimestamp), now });
}

interface End {
  readonly deadline: number;
  readonly now: number;
  readonly failure?: Failure;
}

function end(snapshot: PresentPod, { deadline, now, failure }: End): PodWorkerDecision {
  const { pod, host, state } = snapshot;
  const plan: ContainerPlan = planStop(planSnapshot(snapshot), deadline, now);
  const ips = state?.sandbox?.ips ?? (pod.status.podIPs ?? []).map(({ ip }) => ip);
  const containers = plan.records;
  const reasons = [{ code: 'PodStopping', text: 'the pod is stopped' }];
  if (isAnythingUp(snapshot)) {
    // A container that stops at once changes the status a moment later: then it is written.
    if (plan.actions.length > 0) return { actions: plan.actions, reasons };
    const status = podStatus({ pod, state: { sandbox: true, ips, containers }, hostIp: host.ip }, now);
    return { actions: semanticallyEqual(status, pod.status) ? [] : [{ do: 'write-status', pod, status }], reasons };
  }
  const stopped = { pod, state: { sandbox: false, ips, containers }, hostIp: host.ip, terminal: true, ...(failure === undefined ? {} : { failure }) };
  const status = terminatedStatus(pod, podStatus(stopped, now));
  const isNews = !semanticallyEqual(status, pod.status);
  return { actions: [...(isNews ? [{ do: 'write-status', pod, status } as const] : []), ...release(snapshot)], reasons };
}

const deadlineExceeded: Failure = { reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the specified deadline' };

function exceedDeadline(snapshot: PresentPod, now: number): PodWorkerDecision {
  const decision = end(snapshot, { deadline: now + graceOf(snapshot.pod), now, failure: deadlineExceeded });
  return snapshot.memory.deadlineRecorded
    ? decision
    : recordOnce(decision, snapshot, { type: 'Normal', ...deadlineExceeded, changes: { deadlineRecorded: true } });
}

/** The pod uses more than its limits allow: its own grace period does not count. */
function evict(snapshot: PresentPod, message: string, now: number): PodWorkerDecision {
  const failure = { reason: 'Evicted', message };
  const decision = end(snapshot, { deadline: now + evictionGraceMs, now, failure });
  return snapshot.memory.evictionRecorded ? decision : recordOnce(decision, snapshot, { type: 'Warning', ...failure, changes: { evictionRecorded: true } });
}

const evictionGraceMs = 1_000;

interface EventOnce extends Failure {
  readonly type: 'Normal' | 'Warning';
  /** That the event was recorded. */
  readonly changes: Partial<PodWorkerState>;
}

/** The same decision, and before its actions an event, once. */
function recordOnce(decision: PodWorkerDecision, { pod }: PresentPod, { changes, ...event }: EventOnce): PodWorkerDecision {
  const first: readonly PodWorkerAction[] = [
    { do: 'record-event', pod, ...event },
    { do: 'remember', pod, changes },
  ];
  return { ...decision, actions: [...first, ...decision.actions] };
}
