/** What a node says about itself, and what is written there once it says nothing more. */
import type { Node, NodeCondition } from '../../../api/generated/types.ts';
import { timestamp } from '../../../api/kinds/timestamps.ts';

export const readyOf = ({ status }: Node): NodeCondition | undefined => status.conditions?.find(({ type }) => type === 'Ready');

/** When the node itself last spoke: a node that never did, when it was made. */
export const heartbeatOf = (node: Node): string => readyOf(node)?.lastHeartbeatTime ?? node.metadata.creationTimestamp ?? '';

const stopped = { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
const neverUpdated = { reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.' };

/** In these words nobody else says it, whatever reason people give when they mark a node themselves: it has been looked after before. */
export const isMarkedUnreachable = (node: Node): boolean => {
  const ready = readyOf(node);
  return [stopped, neverUpdated].some(({ reason, message }) => ready?.reason === reason && ready.message === message);
};

/** Whether there is a network is decided by others than the kubelet. */
const ofKubelet = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** The node, of which nothing is known any more; the same, if that is written there already. */
export function markUnreachable(node: Node, now: number): Node {
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
