import type { Node, Pod, PodCondition } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { timestamp } from '../../../api/kinds/timestamps.ts';
import { recordOnce } from '../../../client/decision.ts';
import { conditionOf } from '../../pods/conditions.ts';
import type { NodeLifecycleAction, NodeLifecycleDecision } from './actions.ts';
import { markUnreachable, readyOf } from './conditions.ts';
import { needsEvictionTaint, type EvictionSlot, taintsFor } from './taints.ts';

export interface NodeLifecycleSnapshot {
  readonly node: Stored<Node>;
  /** Milliseconds since the last heartbeat, by Lease or status. */
  readonly sinceHeartbeatMs: number;
  /** Whether, and when, the node may get the NoExecute taint. */
  readonly slot: EvictionSlot;
  /** Called only for an unreachable node. */
  readonly pods: () => readonly Stored<Pod>[];
}

const graceMs = 50_000;
/** For a node without any status yet. */
const startUpGraceMs = 60_000;

/** Without heartbeats for too long, a node becomes unreachable: its conditions are Unknown, its pods not Ready, and taints evict them. */
export function decideNode(snapshot: NodeLifecycleSnapshot, now: number): NodeLifecycleDecision {
  const { node, sinceHeartbeatMs, slot } = snapshot;
  const leftMs = (readyOf(node) === undefined ? startUpGraceMs : graceMs) - sinceHeartbeatMs;
  const judged = leftMs < 0 ? markUnreachable(node, now) : node;
  const next = withLabels(withTaints(judged, snapshot, now));
  const actions: readonly NodeLifecycleAction[] = [
    ...(judged === node ? [] : markUnreachableActions(node, judged)),
    ...stalePods(judged, snapshot).flatMap((pod) => unready(pod, now)),
    ...(next === judged ? [] : [{ do: 'update', object: next, from: judged } as const]),
    ...(judged === node && needsEvictionTaint(node) && slot.state === 'now' ? [{ do: 'takeSlot' } as const] : []),
  ];
  const times = [leftMs >= 0 ? leftMs + 1 : undefined, slot.state === 'soon' ? slot.inMs : undefined].filter((ms) => ms !== undefined);
  return { actions, reasons: [reasonFor(judged, leftMs)], ...(times.length === 0 ? {} : { again: now + Math.min(...times) }) };
}

function reasonFor(node: Stored<Node>, leftMs: number): NodeLifecycleDecision['reasons'][number] {
  if (leftMs < 0) return { code: 'NodeLost', text: 'the node had no heartbeat for too long' };
  const status = readyOf(node)?.status ?? 'missing';
  return status === 'True' ? { code: 'NodeReady', text: 'the node is ready' } : { code: 'NodeNotReady', text: `the node's Ready condition is ${status}` };
}

function markUnreachableActions(node: Stored<Node>, lost: Stored<Node>): readonly NodeLifecycleAction[] {
  const { name, uid } = node.metadata;
  const report = { type: 'Normal', reason: 'NodeNotReady', message: `Node ${name} status is now: NodeNotReady` } as const;
  const write = { do: 'updateStatus', object: lost, from: node } as const;
  return readyOf(node)?.status === 'True' ? [write, recordOnce({ about: { kind: 'Node', name, uid, apiVersion: 'v1' }, ...report })] : [write];
}

/**
 * Pods that are Ready since before their node became unreachable. A pod that became Ready later has a kubelet that lives and
 * will soon update the node.
 */
function stalePods(node: Stored<Node>, { pods }: NodeLifecycleSnapshot): readonly Stored<Pod>[] {
  const ready = readyOf(node);
  if (ready?.status !== 'Unknown') return [];
  return pods().filter((pod) => {
    const condition = conditionOf(pod, 'Ready');
    return condition?.status === 'True' && (condition.lastTransitionTime ?? '') < (ready.lastTransitionTime ?? '');
  });
}

function unready(pod: Stored<Pod>, now: number): readonly NodeLifecycleAction[] {
  const changed = (condition: PodCondition): PodCondition =>
    condition.type === 'Ready' ? { ...condition, status: 'False', lastTransitionTime: timestamp(now) } : condition;
  const marked = { ...pod, status: { ...pod.status, conditions: (pod.status.conditions ?? []).map(changed) } };
  const report = { type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' } as const;
  return [{ do: 'markPod', pod: marked }, recordOnce({ about: pod, ...report })];
}

function withTaints(judged: Stored<Node>, { node: seen, slot }: NodeLifecycleSnapshot, now: number): Stored<Node> {
  const taints = taintsFor(judged, { isNews: judged !== seen, turn: slot, now });
  if (taints.length === 0 ? judged.spec.taints === undefined : taints === judged.spec.taints) return judged;
  const { taints: _, ...spec } = judged.spec;
  return { ...judged, spec: taints.length === 0 ? spec : { ...spec, taints: [...taints] } };
}

/** Deprecated names of two labels, which manifests still select by. */
const oldNames = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
] as const;

function withLabels(node: Stored<Node>): Stored<Node> {
  const labels = node.metadata.labels ?? {};
  const changed = oldNames.flatMap(([name, old]) => (labels[name] === undefined || labels[old] === labels[name] ? [] : [[old, labels[name]] as const]));
  return changed.length === 0 ? node : { ...node, metadata: { ...node.metadata, labels: { ...labels, ...Object.fromEntries(changed) } } };
}
