/** The Node's status, in the kubelet's words. */
import type { NodeCondition, NodeStatus } from '../../api/generated/types.ts';
import { timestamp } from '../../api/kinds/timestamps.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import type { Host } from '../host.ts';

export interface NodeState {
  readonly host: Host;
  /** The last status. */
  readonly old: NodeStatus | undefined;
  /** As node statuses name them. */
  readonly volumesInUse: readonly string[];
  readonly ready: boolean;
}

/** `now`: milliseconds since 1970. */
export function nodeStatus({ host, old, volumesInUse, ready }: NodeState, now: number): NodeStatus {
  // Extended resources that other clients advertise stay.
  const capacity = { ...old?.capacity, ...host.capacity };
  const { volumesInUse: _, ...kept } = old ?? {};
  return {
    ...kept,
    capacity,
    allocatable: { ...capacity },
    conditions: conditionsOf(old?.conditions ?? [], ready, now),
    addresses: [
      { type: 'InternalIP', address: host.ip },
      { type: 'Hostname', address: host.name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: host.endpointPort ?? 0 } },
    nodeInfo: { ...host.system },
    features: { supplementalGroupsPolicy: true },
    declaredFeatures: [...declaredFeatures],
    ...(volumesInUse.length === 0 ? {} : { volumesInUse: [...volumesInUse].sort() }),
  };
}

/** Kubernetes' feature names, in alphabetical order. */
const declaredFeatures = ['InPlacePodLevelResourcesVerticalScaling', 'InPlacePodVerticalScalingInitContainers'] as const;

type ConditionDraft = Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>;

const noPressure: readonly ConditionDraft[] = [
  { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory', message: 'kubelet has sufficient memory available' },
  { type: 'DiskPressure', status: 'False', reason: 'KubeletHasNoDiskPressure', message: 'kubelet has no disk pressure' },
  { type: 'PIDPressure', status: 'False', reason: 'KubeletHasSufficientPID', message: 'kubelet has sufficient PID available' },
];
const isReady: ConditionDraft = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' };
const isNotReady: ConditionDraft = { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: 'CSINode is not yet initialized' };

/** Ready comes last, as old clients expect it. Conditions of other clients stay in place. */
function conditionsOf(old: readonly NodeCondition[], ready: boolean, now: number): NodeCondition[] {
  const said = [...noPressure, ready ? isReady : isNotReady];
  const time = timestamp(now);
  const next = said.map((each): NodeCondition => {
    const before = old.find(({ type }) => type === each.type);
    const unchanged = before !== undefined && before.status === each.status;
    return { ...each, lastHeartbeatTime: time, lastTransitionTime: unchanged ? before.lastTransitionTime : time };
  });
  const others = old.filter(({ type }) => !said.some((each) => each.type === type));
  return [...others, ...next];
}

/** Equal but for the heartbeat times. */
export function saysTheSame(a: NodeStatus, b: NodeStatus): boolean {
  const timeless = ({ conditions = [], ...status }: NodeStatus) => ({
    ...status,
    conditions: conditions.map((condition) => ({ ...condition, lastHeartbeatTime: null })).sort((x, y) => (x.type < y.type ? -1 : 1)),
  });
  return semanticallyEqual(timeless(a), timeless(b));
}

export const isNodeReady = (status: NodeStatus): boolean => status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
