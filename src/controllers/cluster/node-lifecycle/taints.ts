/** The taints that follow from a node's conditions. */
import type { Node, Taint } from '../../../api/generated/types.ts';
import { timestamp } from '../../../api/kinds/timestamps.ts';
import { isSameTaint } from '../../../api/taints.ts';
import { readyOf } from './conditions.ts';

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';
const unschedulable = 'node.kubernetes.io/unschedulable';

/** By condition and its status. */
const keysByCondition: ReadonlyMap<string, string> = new Map([
  ['Ready False', notReady],
  ['Ready Unknown', unreachable],
  ['MemoryPressure True', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure True', 'node.kubernetes.io/disk-pressure'],
  ['NetworkUnavailable True', 'node.kubernetes.io/network-unavailable'],
  ['PIDPressure True', 'node.kubernetes.io/pid-pressure'],
]);
const ownKeys: ReadonlySet<string> = new Set([...keysByCondition.values(), unschedulable]);

const taint = (key: string, effect: string): Taint => ({ key, effect });

/** NoSchedule taints, which keep new pods away. */
function noScheduleTaints({ spec, status }: Node): readonly Taint[] {
  const keys = (status.conditions ?? []).flatMap((condition) => keysByCondition.get(`${condition.type} ${condition.status}`) ?? []);
  return [...keys, ...(spec.unschedulable === true ? [unschedulable] : [])].map((key) => taint(key, 'NoSchedule'));
}

/** The NoExecute taint of a node that is not ready. Undefined: it is ready, or has no Ready condition. */
function noExecuteTaint(node: Node): Taint | undefined {
  const status = readyOf(node)?.status;
  if (status === 'False') return taint(notReady, 'NoExecute');
  return status === 'Unknown' ? taint(unreachable, 'NoExecute') : undefined;
}

const isOwn = ({ key, effect }: Taint): boolean => (effect === 'NoSchedule' ? ownKeys.has(key) : isEviction({ key, effect }));
const isEviction = ({ key, effect }: Taint): boolean => effect === 'NoExecute' && (key === notReady || key === unreachable);

/** The node should have a NoExecute taint and has none. Exchanging not-ready for unreachable needs no eviction slot. */
export const needsEvictionTaint = (node: Node): boolean => noExecuteTaint(node) !== undefined && !(node.spec.taints ?? []).some(isEviction);

/**
 * - `now`: the node may get the NoExecute taint
 * - `soon`: it is the next of its zone, in so many milliseconds
 * - `later`: other nodes are before it, or too many nodes of the zone are down for evictions to help
 * - `off`: no node of the cluster is ready: more likely this process is cut off, and no pod has a better place to go to
 */
export type EvictionSlot = { readonly state: 'now' | 'later' | 'off' } | { readonly state: 'soon'; readonly inMs: number };

/**
 * The taints that the node should have. `isNews`: the Unknown conditions are about to be written and are not in the cache yet. The
 * NoExecute taint waits until they are: only then the zone counts the node as down.
 */
export function taintsFor(
  node: Node,
  { isNews, turn: slot, now }: { readonly isNews: boolean; readonly turn: EvictionSlot; readonly now: number },
): readonly Taint[] {
  const taints = node.spec.taints ?? [];
  const wanted = [...noScheduleTaints(node), ...(isNews ? taints.filter(isEviction) : evictions(node, slot))];
  const isWanted = (each: Taint) => wanted.some((other) => isSameTaint(each, other));
  const added = wanted.filter((each) => !taints.some((other) => isSameTaint(each, other)));
  const kept = taints.filter((each) => !isOwn(each) || isWanted(each));
  return kept.length === taints.length && added.length === 0 ? taints : [...kept, ...added.map((each) => ({ ...each, timeAdded: timestamp(now) }))];
}

function evictions(node: Node, slot: EvictionSlot): readonly Taint[] {
  const wanted = noExecuteTaint(node);
  if (wanted === undefined || slot.state === 'off') return [];
  return needsEvictionTaint(node) && slot.state !== 'now' ? [] : [wanted];
}
