import type { Job, Pod } from '../../../api/generated/types.ts';
import { isPodActive, isPodTerminating } from '../../pods/state.ts';
import { afterEnds, type Backoff, noFailures } from './backoff.ts';
import { announcedEnding } from './conditions.ts';
import { countsAsFailure, matchFailurePolicy } from './failure-policy.ts';
import { countOf, has, type Intervals, intervalsOf, parseIntervals, union } from './intervals.ts';
import { completionIndex, endOf, failuresBefore, hasFailed, hasSucceeded, ignoredFailuresBefore, isIndexed, isTracked, validIndex } from './tracked-pod.ts';

/** A job and its pods, counted. */
export interface JobState {
  readonly job: Job;
  /** Its own, in the order of their indexes, or else of their names. */
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  readonly terminating: readonly Pod[];
  /** How many have, those included that the status does not count yet. Of an indexed job: how many indexes. */
  readonly succeeded: number;
  /** Without those that its policy ignores. */
  readonly failed: number;
  /** With what has ended since the status was written. */
  readonly backoff: Backoff;
  /** Absent: its completions are not told apart. */
  readonly indexes?: IndexState;
}

export interface IndexState {
  readonly completions: number;
  /** As the status knows them. */
  readonly known: Intervals;
  readonly succeeded: Intervals;
  /** Absent: failures are not counted by index. */
  readonly failed?: Intervals;
  /** By index: the last failed pod of one that is to be tried again. It stays until its successor has taken over its count of failures. */
  readonly awaiting: ReadonlyMap<number, Pod>;
}

/** `remembered`: of failures that may have left no trace. */
export function jobStateOf(job: Job, pods: readonly Pod[], remembered: Backoff | undefined): JobState {
  const inOrder = [...pods].sort(isIndexed(job) ? byIndex : byName);
  const { uncountedTerminatedPods: uncounted = {}, succeeded = 0, failed = 0 } = job.status;
  const isUncounted = (pod: Pod, list: readonly string[] = []) => list.includes(pod.metadata.uid ?? '');
  const valid = inOrder.filter((pod) => isTracked(pod) && (!isIndexed(job) || validIndex(pod, job) !== undefined));
  const newlySucceeded = valid.filter((pod) => hasSucceeded(pod) && !isUncounted(pod, uncounted.succeeded));
  const newlyFailed = valid.filter((pod) => hasFailed(pod, job) && !isUncounted(pod, uncounted.failed));
  const active = inOrder.filter(isPodActive);
  const indexes = isIndexed(job) ? indexStateOf(job, { valid, active }) : undefined;
  return {
    job,
    pods: inOrder,
    active,
    terminating: inOrder.filter(isPodTerminating),
    succeeded: indexes === undefined ? succeeded + newlySucceeded.length + (uncounted.succeeded?.length ?? 0) : countOf(indexes.succeeded),
    failed: failed + newlyFailed.filter((pod) => countsAsFailure(job.spec.podFailurePolicy, pod)).length + (uncounted.failed?.length ?? 0),
    backoff: afterEnds(remembered ?? backoffOf(job, inOrder), newlySucceeded, newlyFailed),
    ...(indexes === undefined ? {} : { indexes }),
  };
}

const byName = (a: Pod, b: Pod): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
const byIndex = (a: Pod, b: Pod): number => (completionIndex(a) ?? -1) - (completionIndex(b) ?? -1) || byName(a, b);

/** A new process knows of failures only what pods that were counted still tell. */
function backoffOf(job: Job, pods: readonly Pod[]): Backoff {
  const counted = pods.filter((pod) => !isTracked(pod));
  return afterEnds(
    noFailures,
    counted.filter(hasSucceeded),
    counted.filter((pod) => hasFailed(pod, job)),
  );
}

interface IndexedPods {
  /** Not counted yet, and of an index that there is. */
  readonly valid: readonly Pod[];
  readonly active: readonly Pod[];
}

function indexStateOf(job: Job, { valid, active }: IndexedPods): IndexState {
  const { completions = 0, backoffLimitPerIndex } = job.spec;
  const known = parseIntervals(job.status.completedIndexes, completions);
  const succeeded = union(known, indexesOf(valid.filter(hasSucceeded)));
  if (backoffLimitPerIndex === undefined) return { completions, known, succeeded, awaiting: new Map() };
  // Once it is known how the job ends its pods are deleted: that is no failure of their indexes.
  const newlyFailed = announcedEnding(job.status) === undefined ? valid.filter((pod) => hasFailedForGood(pod, job)) : [];
  const failed = union(parseIntervals(job.status.failedIndexes, completions), indexesOf(newlyFailed));
  const settled = union(union(succeeded, failed), indexesOf(active));
  return { completions, known, succeeded, failed, awaiting: awaitingSuccessors(job, valid, settled) };
}

const indexesOf = (pods: readonly Pod[]): Intervals => intervalsOf(pods.flatMap((pod) => completionIndex(pod) ?? []));

/** Its index is not tried again. */
function hasFailedForGood(pod: Pod, { spec, ...job }: Job): boolean {
  if (!hasFailed(pod, { spec, ...job })) return false;
  const verdict = matchFailurePolicy(spec.podFailurePolicy, pod).type;
  return verdict === 'failIndex' || (verdict !== 'ignore' && failuresBefore(pod) >= (spec.backoffLimitPerIndex ?? 0));
}

function awaitingSuccessors(job: Job, valid: readonly Pod[], settled: Intervals): ReadonlyMap<number, Pod> {
  const last = new Map<number, Pod>();
  for (const pod of valid) {
    const index = completionIndex(pod);
    if (index === undefined || !hasFailed(pod, job) || has(settled, index)) continue;
    const other = last.get(index);
    if (other === undefined || (tries(other) <= tries(pod) && endOf(other) <= endOf(pod))) last.set(index, pod);
  }
  return last;
}

const tries = (pod: Pod): number => failuresBefore(pod) + ignoredFailuresBefore(pod);
