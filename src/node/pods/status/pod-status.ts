/** A pod's status, as a kubelet computes it from the runtime's state. */
import type { ContainerStatus, Pod, PodStatus, ResourceRequirements } from '../../../api/generated/types.ts';
import { timestamp } from '../../../api/kinds/timestamps.ts';
import { podLimits, podRequests, qosClassOf } from '../../../api/kinds/pod/qos.ts';
import { toResourceList } from '../../../api/kinds/pod/resource-amounts.ts';
import type { RuntimeState } from '../runtime-state.ts';
import { conditionsOf, othersConditions } from './conditions.ts';
import { containerStatuses } from './container-statuses.ts';
import { type Phase, phaseOf } from './phase.ts';

export interface PodStatusInput {
  readonly pod: Pod;
  readonly state: RuntimeState;
  readonly hostIp: string;
  /** No container is started any more. */
  readonly terminal?: boolean;
  /** Why the resize is pending. */
  readonly resizePending?: Failure | undefined;
  /** Why the node ends the pod. */
  readonly failure?: Failure;
}

export interface Failure {
  readonly reason: string;
  readonly message: string;
}

/** `now`: milliseconds since 1970. */
export function podStatus({ pod, state, hostIp, terminal = false, resizePending, failure }: PodStatusInput, now: number): PodStatus {
  const { spec, status: old } = pod;
  const statuses = containerStatuses(pod, state);
  const initialized = (spec.containers ?? []).some(({ name }) => state.containers.get(name)?.run !== undefined);
  const phase = failure === undefined ? lasting(old, phaseOf(pod, statuses, { terminal, initialized })) : 'Failed';
  const ips = spec.hostNetwork === true ? [hostIp] : state.ips;
  return {
    ...observed(pod),
    phase,
    conditions: conditionsOf({ pod, statuses, phase, sandbox: state.sandbox && !isTerminal(phase), resizePending }, now),
    ...(failure ?? keptReason(old, phase)),
    hostIP: hostIp,
    hostIPs: [{ ip: hostIp }],
    ...(ips[0] === undefined ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
    startTime: old.startTime ?? timestamp(now),
    ...statuses,
    qosClass: old.qosClass ?? qosClassOf(pod),
    ...notOfNode(old),
    ...resourcesOf(pod),
  };
}

/** Of a pod that the node does not admit. */
export function rejectedStatus(pod: Pod, { reason, message }: Failure, now: number): PodStatus {
  const { status: old } = pod;
  const conditions = othersConditions(old.conditions ?? []);
  return {
    ...observed(pod),
    phase: 'Failed',
    ...(conditions.length === 0 ? {} : { conditions }),
    reason,
    message: `Pod was rejected: ${message}`,
    startTime: old.startTime ?? timestamp(now),
    qosClass: old.qosClass ?? qosClassOf(pod),
    ...notOfNode(old),
  };
}

/** Of a pod that was stopped: containers that have not ended are reported as failed. */
export function terminatedStatus(pod: Pod, status: PodStatus): PodStatus {
  const { initContainerStatuses = [], containerStatuses: regular = [] } = status;
  const lastBegun = initContainerStatuses.findLastIndex(({ state, lastState }) => state.waiting === undefined || lastState.terminated !== undefined);
  return {
    ...status,
    phase: isTerminal(status.phase) ? (status.phase ?? 'Failed') : 'Failed',
    ...(initContainerStatuses.length === 0
      ? {}
      : { initContainerStatuses: initContainerStatuses.map((each, i) => (i <= Math.max(lastBegun, 0) ? withEnd(each) : each)) }),
    containerStatuses: hasInitialized(pod, status) ? regular.map(withEnd) : regular,
  };
}

function hasInitialized({ spec }: Pod, { initContainerStatuses = [], containerStatuses: regular = [] }: PodStatus): boolean {
  if ((spec.initContainers ?? []).length === 0) return true;
  if (regular.some(({ state, lastState }) => state.waiting === undefined || lastState.terminated !== undefined)) return true;
  const last = initContainerStatuses.at(-1);
  return last !== undefined && (last.ready || last.started === true);
}

const withEnd = (status: ContainerStatus): ContainerStatus =>
  status.state.terminated === undefined ? { ...status, state: { terminated: unknownEnd } } : status;

const unknownEnd = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
  startedAt: null,
  finishedAt: null,
};

export const isTerminal = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';

/** A terminal phase is final. */
const lasting = ({ phase: old }: PodStatus, phase: Phase): Phase => (old === 'Succeeded' || old === 'Failed' ? old : phase);

function keptReason(old: PodStatus, phase: Phase): Pick<PodStatus, 'reason' | 'message'> {
  if (old.phase !== phase) return {};
  return { ...(old.reason === undefined ? {} : { reason: old.reason }), ...(old.message === undefined ? {} : { message: old.message }) };
}

const observed = ({ metadata: { generation } }: Pod): Pick<PodStatus, 'observedGeneration'> =>
  generation === undefined ? {} : { observedGeneration: generation };

const notOfNode = ({ resourceClaimStatuses, extendedResourceClaimStatus }: PodStatus): PodStatus => ({
  ...(resourceClaimStatuses === undefined ? {} : { resourceClaimStatuses }),
  ...(extendedResourceClaimStatus === undefined ? {} : { extendedResourceClaimStatus }),
});

/** Everything that the pod asks for is allocated. */
export function resourcesOf(pod: Pick<Pod, 'spec'>): Pick<PodStatus, 'allocatedResources' | 'resources'> {
  const requests = toResourceList(podRequests(pod));
  const limits = toResourceList(podLimits(pod));
  const resources: ResourceRequirements = {
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(Object.keys(requests).length === 0 ? {} : { requests }),
  };
  return { ...(resources.requests === undefined ? {} : { allocatedResources: resources.requests }), resources };
}

/** The pod has its sandbox: its volumes are mounted, and its containers can be started. */
export const hasSandbox = ({ conditions = [] }: PodStatus): boolean =>
  conditions.some(({ type, status }) => type === 'PodReadyToStartContainers' && status === 'True');
