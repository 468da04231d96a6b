import type { Job, JobStatus, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { isFinished } from '../../../api/kinds/batch/job-conditions.ts';
import { jobKind } from '../../../api/kinds/batch/job.ts';
import { timestamp } from '../../../api/kinds/timestamps.ts';
import { recordOnce, updateStatus } from '../../../client/decision.ts';
import { sortedJson } from '../../../api/sorted-json.ts';
import { sortByOwner, ownershipActions } from '../../pods/ownership.ts';
import { selects } from '../../pods/selector.ts';
import { isPodReady } from '../../pods/state.ts';
import { controllerReference } from '../../pods/template.ts';
import { trackPods } from './pod-tracking.ts';
import { type JobAction, type JobDecision, endReports, resumed, suspended } from './actions.ts';
import type { Backoff } from './backoff.ts';
import { type Ending, withAnnouncement, withConclusion, withCondition } from './conditions.ts';
import { completionOf, deadlineOf, endingOf } from './ending.ts';
import { type JobPodChanges, managePods } from './manage-pods.ts';
import { isSuspended, TRACKING_FINALIZER } from './tracked-pod.ts';
import { type JobState, jobStateOf } from './job-state.ts';

export interface JobSnapshot {
  readonly job: Stored<Job>;
  /** The pods that it controls, and those in its namespace without controller. */
  readonly candidates: readonly Stored<Pod>[];
  /** The back-off that this process remembers. */
  readonly backoff: Backoff | undefined;
}

/** With any other `spec.managedBy`, another controller handles the Job. */
const OUR_NAME = 'kubernetes.io/job-controller';

export function decideJob({ job, candidates, backoff }: JobSnapshot, now: number): JobDecision {
  if ((job.spec.managedBy ?? OUR_NAME) !== OUR_NAME) return nothing('ManagedElsewhere', `${job.spec.managedBy} manages it`);
  if (isFinished(job.status)) return nothing('Finished', 'it has ended');
  const { owned, ...claims } = sortByOwner(job, candidates, ({ metadata }) => selects(job.spec.selector, metadata.labels));
  const claiming = ownershipActions(controllerReference(job, jobKind), job, claims).map((action) =>
    action.do === 'confirmOwner' ? action : { ...action, finalizers: [TRACKING_FINALIZER] },
  );
  if (claiming.length > 0) return { ...nothing('PodsClaimed', 'pods begin or cease to match its selector'), actions: claiming };
  return decideManaged(jobStateOf(job, owned, backoff), now);
}

const nothing = (code: string, text: string): JobDecision => ({ actions: [], reasons: [{ code, text }] });

/**
 * Surplus pods are deleted, and the next pass sees what is left. Then ended pods are counted, then missing pods are created: a creation
 * that a quota refuses must not keep pods from being counted. The status counts new pods once the cache shows them.
 */
function decideManaged(state: JobState, now: number): JobDecision {
  const { job, active } = state;
  const startedAt = startOf(job, now);
  const early = endingOf(state, startedAt, now);
  const isManaged = early === undefined && job.metadata.deletionTimestamp === undefined;
  const staffing: JobPodChanges = isManaged ? managePods(state, now) : { remove: [], create: [] };
  if (staffing.remove.length > 0) return { actions: [{ do: 'dropPods', job, pods: staffing.remove }], reasons: [reasonOf(state, undefined, staffing)] };
  const ending = early ?? completionOf(state, active.length + staffing.create.length);
  const ended = early === undefined ? [] : active;
  const status = statusBut(state, { startedAt, ended, isManaged: isManaged && ending === undefined, now });
  const again = earliest(staffing.again, ending === undefined ? deadlineOf(job, startedAt) : undefined);
  return {
    actions: [
      ...settle(state, { ending, status, ended, now }),
      ...(staffing.create.length === 0 ? [] : [{ do: 'createPods', job, pods: staffing.create } as const]),
    ],
    reasons: [reasonOf(state, ending, staffing)],
    ...(again === undefined ? {} : { again }),
  };
}

/** The start time; milliseconds since 1970. Undefined while the Job is suspended. */
function startOf(job: Job, now: number): number | undefined {
  const { startTime } = job.status;
  return startTime === undefined ? (isSuspended(job) ? undefined : now) : Date.parse(startTime);
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

interface Changes {
  readonly startedAt: number | undefined;
  /** Active pods that the end of the Job terminates. */
  readonly ended: readonly Stored<Pod>[];
  /** False once the Job is ending: suspension does not matter any more. */
  readonly isManaged: boolean;
  readonly now: number;
}

/** The status without counts of ended pods. */
function statusBut({ job, active, terminating }: JobState, { startedAt, ended, isManaged, now }: Changes): JobStatus {
  const left = ended.length > 0 ? [] : active;
  const { active: _, startTime: __, ...rest } = job.status;
  const status: JobStatus = {
    ...rest,
    ...(startedAt === undefined ? {} : { startTime: timestamp(startedAt) }),
    ...(left.length === 0 ? {} : { active: left.length }),
    ready: left.filter(isPodReady).length,
    terminating: terminating.length + ended.length,
  };
  return isManaged ? withSuspension(status, job, now) : status;
}

/** A resumed Job gets a new start time. */
function withSuspension(status: JobStatus, job: Job, now: number): JobStatus {
  if (isSuspended(job)) {
    const said = withCondition(status, { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' }, now);
    if (said === status) return status;
    const { startTime: _, ...rest } = said;
    return rest;
  }
  if (status.conditions?.some(({ type }) => type === 'Suspended') !== true) return status;
  const said = withCondition(status, { type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' }, now);
  return said === status ? status : { ...said, startTime: timestamp(now) };
}

interface StatusChange {
  readonly ending: Ending | undefined;
  readonly status: JobStatus;
  readonly ended: readonly Stored<Pod>[];
  readonly now: number;
}

/**
 * Counts ended pods, and finishes the Job once no pod is left. The ending is announced before pods are deleted for it: a deleted pod looks
 * like a failed one, and might change the ending.
 */
function settle(state: JobState, { ending, status, ended, now }: StatusChange): readonly JobAction[] {
  const { job } = state;
  const { first, release, last, isFull } = trackPods(state, ending, withAnnouncement(status, ending, now));
  const isOver = ending !== undefined && !isFull && (last.terminating ?? 0) === 0 && isEmpty(last.uncountedTerminatedPods);
  const announced = release.length + ended.length === 0 ? job : withStatus(job, first);
  const concluded = withStatus(announced, isOver ? withConclusion(last, ending, now) : last);
  return [
    ...updateStatus(job, announced),
    ...(announced === job ? [] : [{ do: 'rememberFailures', job, backoff: state.backoff } as const]),
    ...(ended.length === 0 ? [] : [{ do: 'deletePods', job, pods: ended } as const]),
    ...(release.length === 0 ? [] : [{ do: 'releasePods', pods: release } as const]),
    ...updateStatus(announced, concluded),
    ...suspensionEvents(job, concluded),
    ...(isOver ? endReports(concluded, ending).map((event) => recordOnce({ about: job, ...event })) : []),
  ];
}

const isEmpty = ({ succeeded = [], failed = [] }: NonNullable<JobStatus['uncountedTerminatedPods']> = {}): boolean => succeeded.length + failed.length === 0;

const withStatus = (job: Stored<Job>, status: JobStatus): Stored<Job> => (sortedJson(job.status) === sortedJson(status) ? job : { ...job, status });

function suspensionEvents(before: Stored<Job>, after: Stored<Job>): readonly JobAction[] {
  const statusOf = ({ status }: Job) => status.conditions?.find(({ type }) => type === 'Suspended')?.status;
  if (statusOf(before) === statusOf(after)) return [];
  return [recordOnce({ about: before, ...(statusOf(after) === 'True' ? suspended : resumed) })];
}

function reasonOf({ active, succeeded, failed, job }: JobState, ending: Ending | undefined, { create, remove, again }: JobPodChanges) {
  const counts = `${succeeded} of ${job.spec.completions ?? 'any'} succeeded, ${failed} failed, ${active.length} active`;
  if (ending !== undefined) return { code: ending.reason, text: `${ending.message}: ${counts}` };
  if (remove.length > 0) return { code: isSuspended(job) ? 'Suspended' : 'TooManyPods', text: counts };
  if (create.length > 0) return { code: 'TooFewPods', text: counts };
  return again === undefined ? { code: 'Running', text: counts } : { code: 'BackOff', text: `it failed a moment ago: ${counts}` };
}
