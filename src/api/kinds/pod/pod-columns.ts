import type { Container, ContainerStatus, Pod, PodCondition } from '../../generated/types.ts';
import type { Column, RowCondition } from '../../kind.ts';
import { age, ageColumn, nameColumn, textColumn, wideColumn } from '../../printer-columns.ts';
import { isSidecar } from './pod-parts.ts';

/** What `kubectl get pods` says of a pod in one line. */
interface Summary {
  readonly status: string;
  readonly ready: number;
  readonly total: number;
  readonly restarts: number;
  /** When a container last ended, in milliseconds; 0: never. */
  readonly lastRestart: number;
}

const NONE = '<none>';
const orNone = (text: string | undefined): string => (text === undefined || text === '' ? NONE : text);

export const podColumns: readonly Column<Pod>[] = [
  nameColumn,
  textColumn('Ready', (pod) => showReady(summarize(pod))),
  textColumn('Status', (pod) => summarize(pod).status),
  textColumn('Restarts', (pod, now) => showRestarts(summarize(pod), now)),
  ageColumn,
  wideColumn('IP', (pod) => orNone(pod.status.podIPs?.[0]?.ip)),
  wideColumn('Node', (pod) => orNone(pod.spec.nodeName)),
  wideColumn('Nominated Node', (pod) => orNone(pod.status.nominatedNodeName)),
  wideColumn('Readiness Gates', showReadinessGates),
];

const endings: Readonly<Record<string, string>> = { Succeeded: 'The pod has completed successfully.', Failed: 'The pod failed.' };

export function podRowConditions({ status: { phase = '' } }: Pod): readonly RowCondition[] {
  const message = endings[phase];
  return message === undefined ? [] : [{ type: 'Completed', status: 'True', reason: phase, message }];
}

function summarize(pod: Pod): Summary {
  const starting = summarizeInitContainers(pod);
  const isInitialized = !starting.isInitializing || conditionStatus(pod.status.conditions, 'Initialized') === 'True';
  const running = isInitialized ? summarizeContainers(pod, starting) : starting;
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar).length;
  return { ...running, status: whileDeleted(pod, running.status), total: (pod.spec.containers ?? []).length + sidecars };
}

/** The summary of what ran before the containers; `ofSidecars`: the part of it that lasts. */
interface Start extends Omit<Summary, 'total'> {
  readonly isInitializing: boolean;
  readonly ofSidecars: Pick<Summary, 'restarts' | 'lastRestart'>;
}

function summarizeInitContainers({ spec, status }: Pod): Start {
  const containers = new Map((spec.initContainers ?? []).map((container) => [container.name, container]));
  const all = { restarts: 0, lastRestart: 0 };
  const ofSidecars = { restarts: 0, lastRestart: 0 };
  let ready = 0;
  for (const [i, container] of (status.initContainerStatuses ?? []).entries()) {
    const isSidecarStatus = isSidecarNamed(containers, container.name);
    countRestarts(all, container);
    if (isSidecarStatus) countRestarts(ofSidecars, container);
    if (container.state.terminated?.exitCode === 0) continue;
    if (isSidecarStatus && container.started === true) {
      if (container.ready) ready++;
      continue;
    }
    return { ...all, ofSidecars, ready, isInitializing: true, status: `Init:${initReason(container) ?? `${i}/${(spec.initContainers ?? []).length}`}` };
  }
  return { ...all, ofSidecars, ready, isInitializing: false, status: basicStatus(status) };
}

const isSidecarNamed = (containers: ReadonlyMap<string, Container>, name: string): boolean => {
  const container = containers.get(name);
  return container !== undefined && isSidecar(container);
};

function basicStatus({ conditions = [], phase = '', reason }: Pod['status']): string {
  const isGated = conditions.some((condition) => condition.type === 'PodScheduled' && condition.reason === 'SchedulingGated');
  return isGated ? 'SchedulingGated' : (reason ?? phase);
}

/** Why an init container holds up the others; nothing: it simply runs. */
function initReason({ state: { terminated, waiting } }: ContainerStatus): string | undefined {
  if (terminated !== undefined) return endReason(terminated);
  const reason = waiting?.reason ?? '';
  return reason === '' || reason === 'PodInitializing' ? undefined : reason;
}

type Ended = NonNullable<ContainerStatus['state']['terminated']>;

function endReason({ reason = '', signal = 0, exitCode }: Ended): string {
  if (reason !== '') return reason;
  return signal === 0 ? `ExitCode:${exitCode}` : `Signal:${signal}`;
}

function summarizeContainers(pod: Pod, start: Start): Omit<Summary, 'total'> {
  const counts = { ...start.ofSidecars };
  let { ready, status } = start;
  let hasRunning = false;
  let failure = '';
  for (const container of [...(pod.status.containerStatuses ?? [])].reverse()) {
    countRestarts(counts, container);
    const { waiting, terminated, running } = container.state;
    const waitingFor = waiting?.reason ?? '';
    if (waitingFor !== '') status = waitingFor;
    else if (terminated !== undefined) {
      status = endReason(terminated);
      if (terminated.exitCode !== 0) failure = status;
    } else if (container.ready && running !== undefined) {
      hasRunning = true;
      ready++;
    }
  }
  if (status === 'Completed') status = unlessStillRunning(pod, hasRunning, failure);
  return { ...counts, ready, status };
}

/** One container is done, but perhaps not all. */
function unlessStillRunning(pod: Pod, hasRunning: boolean, failure: string): string {
  if (hasRunning && (pod.status.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')) return 'Running';
  if (failure !== '') return failure;
  return hasRunning ? 'NotReady' : 'Completed';
}

function whileDeleted({ metadata, status: { phase, reason } }: Pod, status: string): string {
  if (metadata.deletionTimestamp === undefined) return status;
  if (reason === 'NodeLost') return 'Unknown';
  return phase === 'Failed' || phase === 'Succeeded' ? status : 'Terminating';
}

function countRestarts(counts: { restarts: number; lastRestart: number }, { restartCount, lastState }: ContainerStatus): void {
  counts.restarts += restartCount;
  const finishedAt = lastState.terminated?.finishedAt;
  if (typeof finishedAt === 'string') counts.lastRestart = Math.max(counts.lastRestart, Date.parse(finishedAt));
}

const showReady = ({ ready, total }: Summary): string => `${ready}/${total}`;

function showRestarts({ restarts, lastRestart }: Summary, now: number): string {
  if (restarts === 0 || lastRestart === 0) return String(restarts);
  return `${restarts} (${age(new Date(lastRestart).toISOString(), now)} ago)`;
}

const conditionStatus = (conditions: readonly PodCondition[] | undefined, type: string): string | undefined =>
  conditions?.find((condition) => condition.type === type)?.status;

function showReadinessGates({ spec, status }: Pod): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return NONE;
  const open = gates.filter((gate) => conditionStatus(status.conditions, gate.conditionType) === 'True');
  return `${open.length}/${gates.length}`;
}
