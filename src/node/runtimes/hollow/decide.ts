import type { Container, Node, Pod, PodStatus } from '../../../api/generated/types.ts';
import { semanticallyEqual } from '../../../api/validation/equality.ts';
import type { PodAssignment } from '../../allocations.ts';
import type { Host } from '../../host.ts';
import { rejection } from '../../pods/admission.ts';
import { allocate } from '../../pods/resize.ts';
import { isRunning } from '../../pods/runtime-state.ts';
import { recordsOf } from '../../pods/status/container-statuses.ts';
import { isTerminal, podStatus, terminatedStatus } from '../../pods/status/pod-status.ts';
import { confirmDeletion, deadlineExceeded, deadlineOf, ended, noAddress, rejectPod, acceptPod } from '../../pods/pod-steps.ts';
import type { VolumeState } from '../../volumes/volume-state.ts';
import { notWaiting, waitForVolumes } from '../../volumes/mount-events.ts';
import type { Action, Decision, PodMemory } from './actions.ts';
import { advance, type Course, type CourseSight, type Happening, halt } from './course.ts';
import { scriptOf } from './script.ts';

/** A pod on one of our nodes. What costs something to find out is found out when it matters. */
export interface HollowPodSnapshot {
  readonly pod: Pod;
  readonly host: Host;
  /** Undefined: somebody deleted it. Its pods go on all the same, until somebody deletes them too. */
  readonly node: Node | undefined;
  readonly admitted: boolean;
  readonly holding: PodAssignment | undefined;
  /** Pods that have their place on the node and have not ended. */
  readonly others: () => readonly Pod[];
  /** Those that its containers use. */
  readonly volumes: () => readonly VolumeState[];
  readonly freeAddress: () => string | undefined;
  /** Why a container cannot be made. */
  readonly problem: (container: Container) => string | undefined;
  readonly hasImage: (image: string) => boolean;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  readonly memory: PodMemory;
}

/**
 * A pod's life on a hollow node, one step: it is let in or not, waits for its volumes, its containers do what its script says,
 * and when it is deleted they are stopped, its volumes unmounted, and the object removed. What happened so far is in its status, and
 * nowhere else: an agent that starts anew goes on from there.
 */
export function decidePod(sight: HollowPodSnapshot, now: number): Decision {
  const { pod, admitted } = sight;
  if (isTerminal(pod.status.phase)) return cleanUp(sight);
  if (pod.metadata.deletionTimestamp !== undefined) return terminate(sight, now);
  const refused = admitted ? undefined : rejection({ ...sight, others: sight.others() });
  if (refused !== undefined) return rejectPod(pod, refused, now);
  if (pod.status.startTime === undefined) return begin(sight, now);
  const deadline = deadlineOf(pod);
  if (deadline !== undefined && now >= deadline) return exceed(sight, { deadline, now });
  const decision = sight.holding === undefined ? moveIn(sight, now) : goOn(sight, { first: [], ip: sight.holding.address, now });
  return deadline === undefined ? decision : { ...decision, again: Math.min(decision.again ?? deadline, deadline) };
}

function cleanUp({ pod, holding, memory }: HollowPodSnapshot): Decision {
  const remembers = memory.backOffs.size > 0 || memory.mounts.failures.size > 0;
  return { actions: [...(holding === undefined && !remembers ? [] : [{ do: 'vacate', pod } as const]), ...confirmDeletion(pod)], reasons: ended };
}

/** What is wrong with its script is said once. */
function begin(sight: HollowPodSnapshot, now: number): Decision {
  const { pod } = sight;
  const problems = scriptOf(pod).problems.map((message): Action => ({ do: 'tell', pod, type: 'Warning', reason: 'InvalidAnnotation', message }));
  const welcomed = acceptPod(sight, now);
  return { ...welcomed, actions: [...welcomed.actions, ...problems] };
}

/** Its volumes come first, then its address, then its containers. */
function moveIn(sight: HollowPodSnapshot, now: number): Decision {
  const { pod, memory } = sight;
  // It was here before this agent was.
  if (isUp(pod.status)) return goOn(sight, { first: [], ip: ownAddress(pod), adopt: true, now });
  const volumes = sight.volumes();
  if (volumes.some(({ state }) => state !== 'ready')) return wait(sight, volumes, now);
  const ip = pod.spec.hostNetwork === true ? undefined : sight.freeAddress();
  if (ip === undefined && pod.spec.hostNetwork !== true) return noAddress(sight, now);
  const attached = volumes.flatMap((volume) => (volume.state === 'ready' && volume.attached !== undefined ? [volume.attached] : []));
  const first: Action[] = [
    { do: 'admit', pod },
    { do: 'occupy', pod, holding: { address: ip, attached } },
  ];
  return goOn({ ...sight, memory: { ...memory, mounts: notWaiting } }, { first, ip, now });
}

const ownAddress = ({ spec, status }: Pod): string | undefined => (spec.hostNetwork === true ? undefined : status.podIP);

const isUp = ({ conditions = [] }: PodStatus): boolean => conditions.some(({ type, status }) => type === 'PodReadyToStartContainers' && status === 'True');

function wait({ pod, memory }: HollowPodSnapshot, volumes: readonly VolumeState[], now: number): Decision {
  const { events: complaints, memory: mounts, again } = waitForVolumes(volumes, memory.mounts, now);
  const tells = complaints.map((complaint): Action => ({ do: 'tell', pod, type: 'Warning', ...complaint }));
  const waiting = volumes.filter(({ state }) => state !== 'ready');
  const isNews = tells.length > 0 || mounts.timesOutAt !== memory.mounts.timesOutAt;
  return {
    // Said before it is remembered: a crash between the two says it twice rather than never.
    actions: !isNews ? [] : [...tells, { do: 'remember', pod, memory: { ...memory, mounts }, pulled: [] }],
    reasons: waiting.map((volume) => ({ code: `Volume-${volume.state}`, text: `volume ${volume.name} is ${volume.state}` })),
    ...(again === undefined ? {} : { again }),
  };
}

interface Going {
  readonly first: readonly Action[];
  readonly ip: string | undefined;
  readonly adopt?: boolean;
  readonly now: number;
}

function goOn(sight: HollowPodSnapshot, { first, ip, adopt = false, now }: Going): Decision {
  const { host } = sight;
  const { pod, pending, changed, isGiven, events } = allocate(sight);
  const restarting = new Set(changed.filter(({ restarts }) => restarts).map(({ container }) => container.name));
  const advanced = advance({ ...courseSight({ ...sight, pod }), restarting }, now);
  const course = events.length === 0 ? advanced : { ...advanced, happenings: [...advanced.happenings, ...events] };
  const state = { sandbox: true, ips: ip === undefined ? [] : [ip], containers: course.records };
  const status = podStatus({ pod, state, hostIp: host.ip, resizePending: pending }, now);
  const before: readonly Action[] = adopt
    ? [
        { do: 'admit', pod },
        { do: 'occupy', pod, holding: { address: ip, attached: [] } },
      ]
    : first;
  return follow(sight, { before: isGiven ? [...before, { do: 'give', pod }] : before, status, course });
}

const courseSight = (sight: HollowPodSnapshot): CourseSight => ({ ...sight, records: recordsOf(sight.pod.status), backOffs: sight.memory.backOffs });

interface Step {
  readonly before: readonly Action[];
  readonly status: PodStatus;
  readonly course: Course;
  readonly after?: readonly Action[];
}

/** Writes what has changed, and says what has happened. */
function follow({ pod, memory }: HollowPodSnapshot, { before, status, course, after = [] }: Step): Decision {
  const { happenings, pulled, backOffs, again } = course;
  const tells = happenings.map((happening): Action => ({ do: 'tell', pod, ...happening }));
  const isNews = !semanticallyEqual(status, pod.status);
  const remembers = isNews && (pulled.length > 0 || backOffs.size > 0);
  return {
    actions: [
      ...before,
      ...(isNews ? [{ do: 'write-status', pod, status } as const] : []),
      ...(remembers ? [{ do: 'remember', pod, memory: { ...memory, backOffs }, pulled } as const] : []),
      ...(isNews ? tells : []),
      ...after,
    ],
    reasons: [{ code: `Pod${status.phase ?? ''}`, text: `the pod is ${status.phase ?? 'unknown'}` }],
    ...(again === undefined ? {} : { again }),
  };
}

/** It was deleted: its containers are stopped, what it holds is given back, and then the object goes. */
function terminate(sight: HollowPodSnapshot, now: number): Decision {
  const { pod, host } = sight;
  const { deletionTimestamp = '', deletionGracePeriodSeconds = 0 } = pod.metadata;
  const graceMs = deletionGracePeriodSeconds * 1000;
  const { course, stopping } = stop(sight, { since: Date.parse(deletionTimestamp) - graceMs, graceMs, now });
  const containers = course.records;
  if (stopping) {
    const status = podStatus({ pod, state: { sandbox: true, ips: addresses(pod), containers }, hostIp: host.ip }, now);
    return follow(sight, { before: sayStopping(sight, course), status, course: { ...course, happenings: [] } });
  }
  const stopped = podStatus({ pod, state: { sandbox: false, ips: addresses(pod), containers }, hostIp: host.ip, terminal: true }, now);
  const status = terminatedStatus(pod, stopped);
  return follow(sight, { before: [], status, course, after: [{ do: 'vacate', pod }, ...confirmDeletion(pod)] });
}

const addresses = (pod: Pod): readonly string[] => (pod.status.podIPs ?? []).map(({ ip }) => ip);

interface StopAt {
  readonly since: number;
  readonly graceMs: number;
  readonly now: number;
}

function stop(sight: HollowPodSnapshot, { since, graceMs, now }: StopAt): { readonly course: Course; readonly stopping: boolean } {
  const course = halt(courseSight(sight), { since, graceMs, told: sight.memory.toldStopping }, now);
  return { course, stopping: [...course.records.values()].some(isRunning) };
}

/** Once: later passes find the containers still stopping. */
function sayStopping({ pod, memory }: HollowPodSnapshot, { happenings }: Course): Action[] {
  if (memory.toldStopping) return [];
  return [
    ...happenings.map((happening): Action => ({ do: 'tell', pod, ...happening })),
    { do: 'remember', pod, memory: { ...memory, toldStopping: true }, pulled: [] },
  ];
}

/** It has had its time: the node ends it. */
function exceed(sight: HollowPodSnapshot, { deadline, now }: { readonly deadline: number; readonly now: number }): Decision {
  const { pod, host, memory } = sight;
  const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  const { course: halted, stopping } = stop(sight, { since: deadline, graceMs, now });
  const told: readonly Happening[] = memory.toldStopping ? [] : [{ type: 'Normal', ...deadlineExceeded }];
  const course = { ...halted, happenings: [...told, ...halted.happenings] };
  const state = { sandbox: stopping, ips: addresses(pod), containers: course.records };
  if (stopping) {
    const status = podStatus({ pod, state, hostIp: host.ip }, now);
    return follow(sight, { before: sayStopping(sight, course), status, course: { ...course, happenings: [] } });
  }
  const status = terminatedStatus(pod, podStatus({ pod, state, hostIp: host.ip, terminal: true, failure: deadlineExceeded }, now));
  return follow(sight, { before: [], status, course, after: [{ do: 'vacate', pod }] });
}
