import type { Job, Pod } from '../../../api/generated/types.ts';
import { announcedEnding, type Ending } from './conditions.ts';
import { matchFailurePolicy } from './failure-policy.ts';
import { countOf } from './intervals.ts';
import { reasonForSuccess } from './success-policy.ts';
import { hasFailed, isSuspended } from './tracked-pod.ts';
import type { JobState } from './job-state.ts';

/** Whether the Job has to end although pods still run. An announced ending stays; failures come before successes. */
export function endingOf(state: JobState, startedAt: number | undefined, now: number): Ending | undefined {
  return (
    announcedEnding(state.job.status) ??
    failedByPolicy(state) ??
    failedTooOften(state) ??
    failedByDeadline(state.job, startedAt, now) ??
    failedByIndexes(state) ??
    succeededByPolicy(state)
  );
}

const failure = (reason: string, message: string): Ending => ({ type: 'failure', reason, message });

function failedByPolicy({ job, pods }: JobState): Ending | undefined {
  const { podFailurePolicy } = job.spec;
  if (podFailurePolicy === undefined) return undefined;
  for (const pod of pods) {
    const match = hasFailed(pod, job) ? matchFailurePolicy(podFailurePolicy, pod) : undefined;
    if (match?.type === 'failJob') return failure('PodFailurePolicy', match.message);
  }
  return undefined;
}

function failedTooOften({ job, pods, failed }: JobState): Ending | undefined {
  const isOver = failed > backoffLimit(job) || restartedTooOften(job, pods);
  return isOver ? failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit') : undefined;
}

const backoffLimit = ({ spec }: Job): number => spec.backoffLimit ?? 0;

/** restartPolicy OnFailure: the pod never fails, so container restarts are counted instead. */
function restartedTooOften(job: Job, pods: readonly Pod[]): boolean {
  if (job.spec.template.spec.restartPolicy !== 'OnFailure') return false;
  const unfinished = pods.filter(({ status }) => status.phase === 'Running' || status.phase === 'Pending');
  const containers = unfinished.flatMap(({ status }) => [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]);
  const restarts = containers.reduce((sum, { restartCount }) => sum + restartCount, 0);
  return restarts > 0 && restarts >= backoffLimit(job);
}

function failedByDeadline(job: Job, startedAt: number | undefined, now: number): Ending | undefined {
  const deadline = deadlineOf(job, startedAt);
  return deadline !== undefined && now >= deadline ? failure('DeadlineExceeded', 'Job was active longer than specified deadline') : undefined;
}

/** When activeDeadlineSeconds pass; milliseconds since 1970. */
export function deadlineOf(job: Job, startedAt: number | undefined): number | undefined {
  const { activeDeadlineSeconds: seconds } = job.spec;
  return seconds === undefined || startedAt === undefined || isSuspended(job) ? undefined : startedAt + seconds * 1000;
}

function failedByIndexes({ job, indexes }: JobState): Ending | undefined {
  if (indexes?.failed === undefined) return undefined;
  const failed = countOf(indexes.failed);
  if (failed > (job.spec.maxFailedIndexes ?? Infinity)) {
    return failure('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes');
  }
  const isOver = failed > 0 && failed + countOf(indexes.succeeded) >= indexes.completions;
  return isOver ? failure('FailedIndexes', 'Job has failed indexes') : undefined;
}

function succeededByPolicy({ job, indexes }: JobState): Ending | undefined {
  if (indexes === undefined) return undefined;
  const message = reasonForSuccess(job.spec.successPolicy, indexes.succeeded, indexes.completions);
  return message === undefined ? undefined : { type: 'success', reason: 'SuccessPolicy', message };
}

/** The Job is complete. `active`: running pods and those about to be created. */
export function completionOf({ job, succeeded }: JobState, active: number): Ending | undefined {
  const { completions } = job.spec;
  const isComplete = active === 0 && (completions === undefined ? succeeded > 0 : succeeded >= completions);
  return isComplete ? { type: 'success', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' } : undefined;
}
