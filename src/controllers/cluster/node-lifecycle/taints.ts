/** The taints that follow from what a node says about itself. */
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

/** Those that keep new pods away, whatever the node is able to say. */
function noScheduleTaints({ spec, status }: Node): readonly Taint[] {
  const keys = (status.conditions ?? []).flatMap((condition) => keysByCondition.get(`${condition.type} ${condition.status}`) ?? []);
  return [...keys, ...(spec.unschedulable === true ? [unschedulable] : [])].map((key) => taint(key, 'NoSchedule'));
}

/** The one that drives pods out of a node which is not ready. Undefined: it is, or nobody ever said. */
function noExecuteTaint(node: Node): Taint | undefined {
  const status = readyOf(node)?.status;
  if (status === 'False') return taint(notReady, 'NoExecute');
  return status === 'Unknown' ? taint(unreachable, 'NoExecute') : undefined;
}

const isOwn = ({ key, effect }: Taint): boolean => (effect === 'NoSchedule' ? ownKeys.has(key) : isEviction({ key, effect }));
const isEviction = ({ key, effect }: Taint): boolean => effect === 'NoExecute' && (key === notReady || key === unreachable);

/** It should drive its pods out and does not yet. A taint of the wrong kind of trouble is exchanged at once, without a turn. */
export const needsEvictionTaint = (node: Node): boolean => noExecuteTaint(node) !== undefined && !(node.spec.taints ?? []).some(isEviction);

/**
 * - `now`: the node may be given the taint that drives its pods out
 * - `soon`: it is the next of its zone, in so many milliseconds
 * - `later`: others are before it, or too many are down for anything to be gained
 * - `off`: no node of the whole cluster is ready: more likely it is we who are cut off, and no pod has a better place to go to
 */
export type EvictionSlot = { readonly state: 'now' | 'later' | 'off' } | { readonly state: 'soon'; readonly inMs: number };

/**
 * The taints that the node should have. `isNews`: that it is lost is about to be written, and nobody has seen it yet. What drives pods out
 * waits until they have: only then the count of those that are down includes it.
 */
export function taintsFor(
  node: Node,
  { isNews, turn, now }: { readonly isNews: boolean; readonly turn: EvictionSlot; readonly now: number },
): readonly Taint[] {
  const taints = node.spec.taints ?? [];
  const wanted = [...noScheduleTaints(node), ...(isNews ? taints.filter(isEviction) : evictions(node, turn))];
  const isWanted = (each: Taint) => wanted.some((other) => isSameTaint(each, other));
  const added = wanted.filter((each) => !taints.some((other) => isSameTaint(each, other)));
  const kept = taints.filter((each) => !isOwn(each) || isWanted(each));
  return kept.length === taints.length && added.length === 0 ? taints : [...kept, ...added.map((each) => ({ ...each, timeAdded: timestamp(now) }))];
}

function evictions(node: Node, turn: EvictionSlot): readonly Taint[] {
  const wanted = noExecuteTaint(node);
  if (wanted === undefined || turn.state === 'off') return [];
  return needsEvictionTaint(node) && turn.state !== 'now' ? [] : [wanted];
}
