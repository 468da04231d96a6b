import type { Job, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { isPodActive, isPodTerminating } from '../../pods/state.ts';
import { afterEnds, type Backoff, noFailures } from './backoff.ts';
import { announcedEnding } from './conditions.ts';
import { countsAsFailure, matchFailurePolicy } from './failure-policy.ts';
import { countOf, has, type Intervals, intervalsOf, parseIntervals, union } from './intervals.ts';
import { completionIndex, endOf, failuresBefore, hasFailed, hasSucceeded, ignoredFailuresBefore, isIndexed, isTracked, validIndex } from './tracked-pod.ts';

/** A Job and its pods, counted. */
export interface JobState {
  readonly job: Stored<Job>;
  /** The pods that it controls, sorted by index, else by name. */
  readonly pods: readonly Stored<Pod>[];
  readonly active: readonly Stored<Pod>[];
  readonly terminating: readonly Stored<Pod>[];
  /** Includes pods that the status does not count yet. In an Indexed Job: the number of indexes. */
  readonly succeeded: number;
  /** Without failures that its policy ignores. */
  readonly failed: number;
  /** Includes pods that ended since the status was written. */
  readonly backoff: Backoff;
  /** Absent: the Job is not Indexed. */
  readonly indexes?: IndexState;
}

export interface IndexState {
  readonly completions: number;
  /** completedIndexes of the status. */
  readonly known: Intervals;
  readonly succeeded: Intervals;
  /** Absent: no backoffLimitPerIndex. */
  readonly failed?: Intervals;
  /** By index to retry: its last failed pod, which stays until a new pod carries on its failure count. */
  readonly awaiting: ReadonlyMap<number, Stored<Pod>>;
}

/** `remembered`: includes failures of pods that do not exist any more. */
export function jobStateOf(job: Stored<Job>, pods: readonly Stored<Pod>[], remembered: Backoff | undefined): JobState {
  const inOrder = [...pods].sort(isIndexed(job) ? byIndex : byName);
  const { uncountedTerminatedPods: uncounted = {}, succeeded = 0, failed = 0 } = job.status;
  const isUncounted = (pod: Stored<Pod>, list: readonly string[] = []) => list.includes(pod.metadata.uid);
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

const byName = (a: Stored<Pod>, b: Stored<Pod>): number => (a.metadata.name < b.metadata.name ? -1 : 1);
const byIndex = (a: Stored<Pod>, b: Stored<Pod>): number => (completionIndex(a) ?? -1) - (completionIndex(b) ?? -1) || byName(a, b);

/** A new process rebuilds the back-off from counted pods that still exist. */
function backoffOf(job: Job, pods: readonly Pod[]): Backoff {
  const counted = pods.filter((pod) => !isTracked(pod));
  return afterEnds(
    noFailures,
    counted.filter(hasSucceeded),
    counted.filter((pod) => hasFailed(pod, job)),
  );
}

interface IndexedPods {
  /** Pods that are not counted yet and have a valid index. */
  readonly valid: readonly Stored<Pod>[];
  readonly active: readonly Stored<Pod>[];
}

function indexStateOf(job: Stored<Job>, { valid, active }: IndexedPods): IndexState {
  const { completions = 0, backoffLimitPerIndex } = job.spec;
  const known = parseIntervals(job.status.completedIndexes, completions);
  const succeeded = union(known, indexesOf(valid.filter(hasSucceeded)));
  if (backoffLimitPerIndex === undefined) return { completions, known, succeeded, awaiting: new Map() };
  // Pods of a Job that is ending are deleted: that is no failure of their indexes.
  const newlyFailed = announcedEnding(job.status) === undefined ? valid.filter((pod) => hasFailedForGood(pod, job)) : [];
  const failed = union(parseIntervals(job.status.failedIndexes, completions), indexesOf(newlyFailed));
  const settled = union(union(succeeded, failed), indexesOf(active));
  return { completions, known, succeeded, failed, awaiting: awaitingSuccessors(job, valid, settled) };
}

const indexesOf = (pods: readonly Pod[]): Intervals => intervalsOf(pods.flatMap((pod) => completionIndex(pod) ?? []));

/** The index of the pod is not retried. */
function hasFailedForGood(pod: Stored<Pod>, { spec, ...job }: Job): boolean {
  if (!hasFailed(pod, { spec, ...job })) return false;
  const match = matchFailurePolicy(spec.podFailurePolicy, pod).type;
  return match === 'failIndex' || (match !== 'ignore' && failuresBefore(pod) >= (spec.backoffLimitPerIndex ?? 0));
}

function awaitingSuccessors(job: Stored<Job>, valid: readonly Stored<Pod>[], settled: Intervals): ReadonlyMap<number, Stored<Pod>> {
  const last = new Map<number, Stored<Pod>>();
  for (const pod of valid) {
    const index = completionIndex(pod);
    if (index === undefined || !hasFailed(pod, job) || has(settled, index)) continue;
    const other = last.get(index);
    if (other === undefined || (tries(other) <= tries(pod) && endOf(other) <= endOf(pod))) last.set(index, pod);
  }
  return last;
}

const tries = (pod: Pod): number => failuresBefore(pod) + ignoredFailuresBefore(pod);
