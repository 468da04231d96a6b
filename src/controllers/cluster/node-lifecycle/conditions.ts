/** The conditions that the kubelet writes, and those that this controller writes once the kubelet stops. */
import type { Node, NodeCondition } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { timestamp } from '../../../api/kinds/timestamps.ts';

export const readyOf = ({ status }: Node): NodeCondition | undefined => status.conditions?.find(({ type }) => type === 'Ready');

/** The last heartbeat in the status; without any, the creation time. */
export const heartbeatOf = (node: Node): string => readyOf(node)?.lastHeartbeatTime ?? node.metadata.creationTimestamp ?? '';

const stopped = { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
const neverUpdated = { reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.' };

/** Only this controller writes reason and message together, so the node was monitored before. */
export const isMarkedUnreachable = (node: Node): boolean => {
  const ready = readyOf(node);
  return [stopped, neverUpdated].some(({ reason, message }) => ready?.reason === reason && ready.message === message);
};

/** NetworkUnavailable is not among them: the network plugin writes it. */
const ofKubelet = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** The node with its conditions set to Unknown; the same object if they are already. */
export function markUnreachable(node: Stored<Node>, now: number): Stored<Node> {
  if (readyOf(node)?.status === 'Unknown') return node;
  const conditions = (node.status.conditions ?? []).map((condition) =>
    ofKubelet.includes(condition.type) && condition.status !== 'Unknown'
      ? { ...condition, status: 'Unknown', ...stopped, lastTransitionTime: timestamp(now) }
      : condition,
  );
  const missing = ofKubelet.filter((type) => !conditions.some((condition) => condition.type === type));
  const heartbeat = node.metadata.creationTimestamp ?? null;
  const added = missing.map((type) => ({ type, status: 'Unknown', lastHeartbeatTime: heartbeat, lastTransitionTime: timestamp(now), ...neverUpdated }));
  return { ...node, status: { ...node.status, conditions: [...conditions, ...added] } };
}
