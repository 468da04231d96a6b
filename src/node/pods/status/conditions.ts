import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from '../../../api/generated/types.ts';
import { timestamp } from '../../../api/kinds/timestamps.ts';
import { isSidecar } from '../../../api/kinds/pod/pod-parts.ts';
import type { Phase } from './phase.ts';

/** The kubelet's own conditions; all others belong to other clients. */
const ofNode: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
  'PodResizeInProgress',
  'PodResizePending',
]);

type ConditionDraft = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>;

export interface ConditionsInput {
  readonly pod: Pod;
  readonly statuses: Pick<PodStatus, 'initContainerStatuses' | 'containerStatuses'>;
  readonly phase: Phase;
  readonly sandbox: boolean;
  /** Why the resize is pending. */
  readonly resizePending?: Pick<PodCondition, 'reason' | 'message'> | undefined;
}

/** A pod's conditions: those of other clients unchanged, then the kubelet's, in its order and words. */
export function conditionsOf(progress: ConditionsInput, now: number): PodCondition[] {
  const { metadata, status } = progress.pod;
  const old = status.conditions ?? [];
  const others = old.filter(({ type }) => !ofNode.has(type));
  const containersReady = sayContainersReady(progress);
  const said: readonly ConditionDraft[] = [
    { type: 'PodReadyToStartContainers', status: truth(progress.sandbox) },
    sayInitialized(progress),
    sayReady(progress.pod, containersReady, others),
    containersReady,
    { type: 'PodScheduled', status: 'True' },
    ...(progress.resizePending === undefined ? [] : [{ type: 'PodResizePending', status: 'True', ...progress.resizePending } as const]),
  ];
  const { generation } = metadata;
  return [
    ...others,
    ...said.map((each): PodCondition => {
      const before = old.find(({ type }) => type === each.type);
      return {
        ...each,
        ...(generation === undefined ? {} : { observedGeneration: generation }),
        lastProbeTime: null,
        lastTransitionTime: before?.status === each.status ? before.lastTransitionTime : timestamp(now),
      };
    }),
  ];
}

/** A rejected pod has no conditions of the kubelet; those of other clients stay. */
export const othersConditions = (conditions: readonly PodCondition[]): PodCondition[] => conditions.filter(({ type }) => !ofNode.has(type));

const truth = (is: boolean): 'True' | 'False' => (is ? 'True' : 'False');

function sayContainersReady({ pod, statuses, phase }: ConditionsInput): ConditionDraft {
  const type = 'ContainersReady';
  const counted = [...(pod.spec.initContainers ?? []).filter(isSidecar), ...(pod.spec.containers ?? [])];
  const unknown = counted.filter((container) => find(statuses, container) === undefined);
  const unready = counted.filter((container) => find(statuses, container)?.ready === false);
  if (phase === 'Failed') return { type, status: 'False', reason: 'PodFailed' };
  if (phase === 'Succeeded' && unknown.length === 0) return { type, status: 'False', reason: 'PodCompleted' };
  const message = complaints({ 'unknown status': unknown, 'unready status': unready });
  return message === '' ? { type, status: 'True' } : { type, status: 'False', reason: 'ContainersNotReady', message };
}

function sayReady({ spec }: Pod, containersReady: ConditionDraft, others: readonly PodCondition[]): ConditionDraft {
  const type = 'Ready';
  if (containersReady.status !== 'True') return { ...containersReady, type };
  const message = (spec.readinessGates ?? []).flatMap(({ conditionType }) => closedGate(conditionType, others)).join(', ');
  return message === '' ? { type, status: 'True' } : { type, status: 'False', reason: 'ReadinessGatesNotReady', message };
}

function closedGate(gate: string, conditions: readonly PodCondition[]): string[] {
  const condition = conditions.find(({ type }) => type === gate);
  if (condition === undefined) return [`corresponding condition of pod readiness gate ${JSON.stringify(gate)} does not exist.`];
  return condition.status === 'True' ? [] : [`the status of pod readiness gate ${JSON.stringify(gate)} is not "True", but ${condition.status}`];
}

function sayInitialized({ pod, statuses, phase }: ConditionsInput): ConditionDraft {
  const type = 'Initialized';
  const { initContainers = [] } = pod.spec;
  const unknown = initContainers.filter((container) => find(statuses, container) === undefined);
  const incomplete = initContainers.filter((container) => {
    const status = find(statuses, container);
    return status !== undefined && !(isSidecar(container) ? status.started === true : status.ready);
  });
  if (phase === 'Succeeded' && unknown.length === 0) return { type, status: 'True', reason: 'PodCompleted' };
  const hasStarted = (statuses.containerStatuses ?? []).some(({ state }) => state.running !== undefined || state.terminated !== undefined);
  const message = complaints({ 'unknown status': unknown, 'incomplete status': incomplete });
  // Once initialized, a pod stays initialized, whatever its sidecars do.
  const isDone = hasStarted || message === '' || pod.status.conditions?.some((each) => each.type === type && each.status === 'True');
  return isDone === true ? { type, status: 'True' } : { type, status: 'False', reason: 'ContainersNotInitialized', message };
}

/** 'containers with unknown status: [a], containers with unready status: [b c]' */
function complaints(lists: Readonly<Record<string, readonly Container[]>>): string {
  return Object.entries(lists)
    .filter(([, containers]) => containers.length > 0)
    .map(([what, containers]) => `containers with ${what}: [${containers.map(({ name }) => name).join(' ')}]`)
    .join(', ');
}

const find = ({ initContainerStatuses = [], containerStatuses = [] }: ConditionsInput['statuses'], { name }: Container): ContainerStatus | undefined =>
  [...initContainerStatuses, ...containerStatuses].find((status) => status.name === name);
