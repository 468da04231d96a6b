/** The kubelet's admission of pods, with its checks and messages (pkg/kubelet/lifecycle/predicate.go). */
import type { ContainerPort, Node, Pod } from '../../api/generated/types.ts';
import { podRequests } from '../../api/kinds/pod/qos.ts';
import { addAmounts, amountsOf, type ResourceAmounts } from '../../api/kinds/pod/resource-amounts.ts';
import { quantityMilliValue, quantityValue } from '../../api/quantity.ts';
import { isExtendedResource } from '../../api/validation/resources.ts';
import { toleratesTaint } from '../../api/taints.ts';
import { matchesNode, nodeTermsOf } from '../../storage/volumes/topology.ts';
import type { Host } from '../host.ts';
import { securityRejection } from '../security/security-context.ts';
import type { Failure } from './status/pod-status.ts';

export interface AdmissionSnapshot {
  readonly pod: Pod;
  readonly host: Host;
  /** Undefined: the Node was deleted. */
  readonly node: Node | undefined;
  /** The node's admitted pods that have not ended. */
  readonly others: readonly Pod[];
}

/** Undefined: the pod is admitted. */
export function rejection(snapshot: AdmissionSnapshot): Failure | undefined {
  const { pod, host } = snapshot;
  const unsafe = securityRejection(pod, host.system.kernelVersion, host.security);
  return wrongSystem(snapshot) ?? unsafe ?? shortage(snapshot) ?? affinityMismatch(snapshot) ?? takenPort(snapshot) ?? untolerated(snapshot);
}

function wrongSystem({ pod, host }: AdmissionSnapshot): Failure | undefined {
  const os = host.system.operatingSystem;
  const label = pod.metadata.labels?.['kubernetes.io/os'];
  if (label !== undefined && label !== os) {
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label" };
  }
  if (pod.spec.os !== undefined && pod.spec.os.name !== os) {
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
  }
  return undefined;
}

/** The resource that the node has too little of. */
export function shortage({ pod, host, node, others }: AdmissionSnapshot): Failure | undefined {
  const capacity = amountsOf(node?.status.allocatable ?? host.capacity);
  const room = countOf(capacity, 'pods');
  if (BigInt(others.length) + 1n > room) return outOf('pods', { requested: 1n, used: BigInt(others.length), capacity: room });
  const requests = podRequests(pod);
  const used: ResourceAmounts = new Map();
  for (const other of others) addAmounts(used, podRequests(other));
  for (const name of inOrder(requests.keys())) {
    // The kubelet ignores extended resources that its node does not have.
    if (isExtendedResource(name) && !capacity.has(name)) continue;
    const amounts = { requested: countOf(requests, name), used: countOf(used, name), capacity: countOf(capacity, name) };
    if (amounts.requested > 0n && amounts.requested > amounts.capacity - amounts.used) return outOf(name, amounts);
  }
  return undefined;
}

const checkedFirst = ['cpu', 'memory', 'ephemeral-storage'];

const inOrder = (names: Iterable<string>): readonly string[] => {
  const given = new Set(names);
  return [...checkedFirst.filter((name) => given.has(name)), ...[...given].filter((name) => !checkedFirst.includes(name)).sort()];
};

/** cpu in thousandths, all else in whole units. */
function countOf(amounts: ResourceAmounts, name: string): bigint {
  const amount = amounts.get(name);
  if (amount === undefined) return 0n;
  return name === 'cpu' ? quantityMilliValue(amount) : quantityValue(amount);
}

function outOf(name: string, { requested, used, capacity }: { readonly requested: bigint; readonly used: bigint; readonly capacity: bigint }): Failure {
  return { reason: `OutOf${name}`, message: `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}` };
}

const predicate = (name: string, why: string): Failure => ({ reason: name, message: `Predicate ${name} failed: ${why}` });

function affinityMismatch({ pod, host, node }: AdmissionSnapshot): Failure | undefined {
  const labels = node?.metadata.labels ?? host.labels;
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const selected = Object.entries(pod.spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  const isMatch = selected && (required === undefined || matchesNode(nodeTermsOf(required), { name: host.name, labels }));
  return isMatch ? undefined : predicate('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
}

function takenPort({ pod, others }: AdmissionSnapshot): Failure | undefined {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  const isTaken = others.some((other) => hostPorts(other).some((port) => wanted.some((each) => collide(port, each))));
  return isTaken ? predicate('NodePorts', "node(s) didn't have free ports for the requested pod ports") : undefined;
}

const hostPorts = ({ spec }: Pod): readonly ContainerPort[] =>
  [...(spec.containers ?? []), ...(spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')].flatMap(({ ports = [] }) =>
    ports.filter(({ hostPort = 0 }) => hostPort > 0),
  );

function collide(a: ContainerPort, b: ContainerPort): boolean {
  const everywhere = (ip: string) => ip === '' || ip === '0.0.0.0';
  const [left, right] = [a.hostIP ?? '', b.hostIP ?? ''];
  return a.hostPort === b.hostPort && a.protocol === b.protocol && (left === right || everywhere(left) || everywhere(right));
}

function untolerated({ pod, node }: AdmissionSnapshot): Failure | undefined {
  const taints = (node?.spec.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
  const isTolerated = taints.every((taint) => (pod.spec.tolerations ?? []).some((toleration) => toleratesTaint(toleration, taint)));
  return isTolerated ? undefined : predicate('TaintToleration', "node(s) had taints that the pod didn't tolerate");
}
