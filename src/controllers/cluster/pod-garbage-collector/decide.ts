import type { Node, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { disruption, type NewCondition, withCondition } from '../../pods/conditions.ts';
import { isPodTerminal } from '../../pods/state.ts';
import { updateStatus } from '../../../client/decision.ts';
import type { PodGcAction, PodGcDecision } from './actions.ts';

export interface PodGcSnapshot {
  readonly pod: Stored<Pod>;
  readonly node: PodNode;
  /** The pod is one of the oldest beyond the limit of finished pods. */
  readonly isSurplus: boolean;
}

export type PodNode =
  | { readonly state: 'none' }
  | { readonly state: 'known'; readonly node: Stored<Node> }
  /** Not in the cache since then; milliseconds since 1970. */
  | { readonly state: 'missing'; readonly name: string; readonly since: number };

/** A new node may reach the cache after its pods. */
const quarantineMs = 40_000;
const orphaned = disruption('DeletionByPodGC', 'PodGC: node no longer exists');

/** Deletes pods that have no kubelet any more, or never had one. */
export function decidePodGc({ pod, node, isSurplus }: PodGcSnapshot, now: number): PodGcDecision {
  const { deletionTimestamp } = pod.metadata;
  if (isSurplus) return act('TooManyFinished', 'more pods have finished than are kept', remove(pod, now));
  if (node.state === 'missing') return decideOrphan(pod, node, now);
  if (deletionTimestamp === undefined) return { actions: [], reasons: [{ code: 'InUse', text: 'it is not being deleted' }] };
  if (node.state === 'none') return act('NeverScheduled', 'it is being deleted and was never scheduled', remove(pod, now));
  if (isOutOfService(node.node)) return act('NodeOutOfService', 'it is being deleted and its node is out of service', remove(pod, now));
  return { actions: [], reasons: [{ code: 'NodeDecides', text: 'it is being deleted by its kubelet' }] };
}

function decideOrphan(pod: Stored<Pod>, { name, since }: PodNode & { readonly state: 'missing' }, now: number): PodGcDecision {
  const due = since + quarantineMs;
  if (now < due) return { actions: [], reasons: [{ code: 'NodeMissing', text: `its node ${name} does not exist, or not yet` }], again: due };
  const removal = remove(pod, now, orphaned);
  return act('NodeGone', `its node ${name} no longer exists`, removal.length === 0 ? [] : [{ do: 'confirmNodeGone', node: name }, ...removal]);
}

const act = (code: string, text: string, actions: readonly PodGcAction[]): PodGcDecision => ({ actions, reasons: [{ code, text }] });

/** The node has the out-of-service taint, and its kubelet does not report Ready. */
export function isOutOfService({ spec, status }: Node): boolean {
  const isReady = status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  return !isReady && (spec.taints ?? []).some(({ key }) => key === 'node.kubernetes.io/out-of-service');
}

function remove(pod: Stored<Pod>, now: number, why?: NewCondition): readonly PodGcAction[] {
  const failed = isPodTerminal(pod) ? pod : asFailed(pod, now, why);
  return [...updateStatus(pod, failed), ...(isBeingRemoved(pod) ? [] : [{ do: 'forceDelete', pod } as const])];
}

/** Only finalizers keep the pod. */
const isBeingRemoved = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;

function asFailed(pod: Stored<Pod>, now: number, why: NewCondition | undefined): Stored<Pod> {
  const { generation } = pod.metadata;
  const explained = why === undefined ? pod : withCondition(pod, why, now);
  return { ...explained, status: { ...explained.status, phase: 'Failed', ...(generation === undefined ? {} : { observedGeneration: generation }) } };
}
