/**
 * Every pod is counted once, however often the process crashes. A finalizer keeps each pod until it is counted.
 *
 *     1  the pod's uid is added to status.uncountedTerminatedPods
 *     2  the pod loses its finalizer
 *     3  the status counts the pod, and its uid is removed
 *
 * After a crash behind 1 the next pass goes on with 2. Behind 2, a listed uid whose pod has no finalizer still has to be counted.
 */
import type { JobStatus, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Ending } from './conditions.ts';
import { countsAsFailure } from './failure-policy.ts';
import { formatIntervals, has } from './intervals.ts';
import { completionIndex, hasFailed, hasSucceeded, isTracked, validIndex } from './tracked-pod.ts';
import type { JobState } from './job-state.ts';

export interface PodTracking {
  /** Written before any finalizer is removed. */
  readonly first: JobStatus;
  readonly release: readonly Stored<Pod>[];
  /** Written after the finalizers are removed. */
  readonly last: JobStatus;
  /** The list of uids is full: other pods wait for the next pass. */
  readonly isFull: boolean;
}

/** `status`: the new status without counts of ended pods. */
export function trackPods(state: JobState, ending: Ending | undefined, status: JobStatus): PodTracking {
  const tracked = state.pods.filter(isTracked);
  const base = countReleased(status, new Set(tracked.map(uidOf)));
  const { succeeded = [], failed = [] } = base.uncountedTerminatedPods ?? {};
  const lists = { succeeded: [...succeeded], failed: [...failed] };
  const release: Stored<Pod>[] = [];
  let newIndexes = 0;
  for (const pod of tracked.filter((each) => mayRelease(state, ending, each))) {
    release.push(pod);
    const how = newEnd(state, ending, pod);
    if (how === 'index') newIndexes++;
    else if (how !== undefined && !lists[how].includes(uidOf(pod))) lists[how].push(uidOf(pod));
    if (newIndexes + lists.succeeded.length + lists.failed.length >= longestList) break;
  }
  const first = { ...withIndexes(base, state), uncountedTerminatedPods: uncountedOf(lists) };
  const released = new Set(release.map(uidOf));
  const left = tracked.map(uidOf).filter((uid) => !released.has(uid));
  return { first, release, last: countReleased(first, new Set(left)), isFull: newIndexes + lists.succeeded.length + lists.failed.length >= longestList };
}

/** Keeps the status below 20 KB, and one large Job from delaying the others. */
const longestList = 500;

const uidOf = ({ metadata }: Stored<Pod>): string => metadata.uid;

function uncountedOf({ succeeded, failed }: { readonly succeeded: readonly string[]; readonly failed: readonly string[] }) {
  return { ...(succeeded.length === 0 ? {} : { succeeded: [...succeeded] }), ...(failed.length === 0 ? {} : { failed: [...failed] }) };
}

/** Counts the listed pods that have no finalizer any more. */
function countReleased(status: JobStatus, tracked: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const left = { succeeded: succeeded.filter((uid) => tracked.has(uid)), failed: failed.filter((uid) => tracked.has(uid)) };
  return {
    ...status,
    ...plus('succeeded', (status.succeeded ?? 0) + succeeded.length - left.succeeded.length),
    ...plus('failed', (status.failed ?? 0) + failed.length - left.failed.length),
    uncountedTerminatedPods: uncountedOf(left),
  };
}

const plus = (field: 'succeeded' | 'failed', count: number): JobStatus => (count === 0 ? {} : { [field]: count });

function withIndexes(status: JobStatus, { indexes, succeeded }: JobState): JobStatus {
  if (indexes === undefined) return status;
  const { succeeded: _, completedIndexes: __, ...rest } = status;
  const completedIndexes = formatIntervals(indexes.succeeded);
  return {
    ...rest,
    ...plus('succeeded', succeeded),
    ...(completedIndexes === '' ? {} : { completedIndexes }),
    ...(indexes.failed === undefined ? {} : { failedIndexes: formatIntervals(indexes.failed) }),
  };
}

/** Whether the finalizer of a pod may be removed. */
function mayRelease({ job, indexes }: JobState, ending: Ending | undefined, pod: Pod): boolean {
  if (job.metadata.deletionTimestamp !== undefined || ending !== undefined || hasSucceeded(pod)) return true;
  return hasFailed(pod, job) && indexes?.awaiting.get(completionIndex(pod) ?? -1) !== pod;
}

/** In a Job that fails, every pod that has not succeeded counts as failed. */
function newEnd(state: JobState, ending: Ending | undefined, pod: Stored<Pod>): 'succeeded' | 'failed' | 'index' | undefined {
  const { job, indexes } = state;
  const wasFailed = job.status.uncountedTerminatedPods?.failed?.includes(uidOf(pod)) ?? false;
  const index = indexes === undefined ? undefined : validIndex(pod, job);
  const isStrange = indexes !== undefined && index === undefined;
  if (hasSucceeded(pod) && !wasFailed) {
    if (indexes === undefined) return 'succeeded';
    return index !== undefined && !has(indexes.known, index) ? 'index' : undefined;
  }
  if (isStrange || !(hasFailed(pod, job) || ending?.type === 'failure')) return undefined;
  return wasFailed || countsAsFailure(job.spec.podFailurePolicy, pod) ? 'failed' : undefined;
}
