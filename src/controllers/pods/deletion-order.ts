/** Which pods are deleted first when there are too many (pkg/controller/controller_utils.go). */
import type { Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { isPodReady, readySince } from './state.ts';

export interface DeletionOrder {
  /** How many related ready pods share the pod's node: pods on crowded nodes go first. Absent: not considered. */
  readonly rank?: (pod: Stored<Pod>) => number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The pods to delete first come first; sorting is stable. */
export function inDeletionOrder(pods: readonly Stored<Pod>[], order: DeletionOrder): readonly Stored<Pod>[] {
  return [...pods].sort((a, b) => compareForDeletion(a, b, order));
}

/** The order of Jobs: without the deletion cost, and by exact age. */
export function inAgeOrder(pods: readonly Stored<Pod>[]): readonly Stored<Pod>[] {
  return [...pods].sort(
    (a, b) =>
      Number(isAssigned(a)) - Number(isAssigned(b)) ||
      phaseRank(a) - phaseRank(b) ||
      Number(isPodReady(a)) - Number(isPodReady(b)) ||
      (isPodReady(a) && isPodReady(b) ? latestFirst(readySince(a), readySince(b)) : 0) ||
      restarts(b) - restarts(a) ||
      sidecarRestarts(b) - sidecarRestarts(a) ||
      latestFirst(created(a), created(b)),
  );
}

const latestFirst = (a = Infinity, b = Infinity): number => (a === b ? 0 : a > b ? -1 : 1);

/** Negative: `a` is deleted before `b`. */
function compareForDeletion(a: Stored<Pod>, b: Stored<Pod>, { rank, now }: DeletionOrder): number {
  return (
    Number(isAssigned(a)) - Number(isAssigned(b)) ||
    phaseRank(a) - phaseRank(b) ||
    Number(isPodReady(a)) - Number(isPodReady(b)) ||
    deletionCost(a) - deletionCost(b) ||
    (rank === undefined ? 0 : rank(b) - rank(a)) ||
    (isPodReady(a) && isPodReady(b) ? byAge(timed(a, readySince(a)), timed(b, readySince(b)), now) : 0) ||
    restarts(b) - restarts(a) ||
    sidecarRestarts(b) - sidecarRestarts(a) ||
    byAge(timed(a, created(a)), timed(b, created(b)), now)
  );
}

const isAssigned = ({ spec }: Pod): boolean => (spec.nodeName ?? '') !== '';

const phaseRank = ({ status }: Pod): number => (status.phase === 'Running' ? 2 : status.phase === 'Unknown' ? 1 : 0);

/** The annotation pod-deletion-cost: a 32-bit integer without plus sign or leading zeros; anything else counts as 0. */
function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'] ?? '0';
  if (!/^(?:0|[1-9]\d*|-\d+)$/.test(text)) return 0;
  const cost = Number(text);
  return cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0;
}

const restarts = ({ status }: Pod): number => Math.max(0, ...(status.containerStatuses ?? []).map(({ restartCount }) => restartCount));

function sidecarRestarts({ spec, status }: Pod): number {
  const sidecars = new Set((spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name));
  const counts = (status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)).map(({ restartCount }) => restartCount);
  return Math.max(0, ...counts);
}

interface Timed {
  readonly uid: string;
  readonly at: number | undefined;
}

const timed = ({ metadata }: Stored<Pod>, at: number | undefined): Timed => ({ uid: metadata.uid, at });

const created = ({ metadata }: Pod): number | undefined => (metadata.creationTimestamp === undefined ? undefined : Date.parse(metadata.creationTimestamp));

/**
 * The younger goes first, but only by orders of magnitude: pods of about the same age are ordered by uid, which is as good as
 * random. Otherwise scaling down right after scaling up would empty the newest zone or node.
 */
function byAge(a: Timed, b: Timed, now: number): number {
  if (a.at === b.at) return 0;
  if (a.at === undefined || b.at === undefined) return a.at === undefined ? -1 : 1;
  return magnitude(now - a.at) - magnitude(now - b.at) || (a.uid < b.uid ? -1 : 1);
}

/** As in Kubernetes: the base-2 logarithm of the age in nanoseconds. */
const magnitude = (ms: number): number => (ms > 0 ? Math.trunc(Math.log2(ms * 1e6)) : -1);
