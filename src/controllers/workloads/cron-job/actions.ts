import type { CronJob, Job } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Draft, Ref } from '../../../client/client.ts';
import type { Decision, EventDraft, ObjectWrite, RecordEvent } from '../../../client/decision.ts';

/** Everything that the controller may do. */
export type CronJobAction =
  | ObjectWrite<Stored<CronJob>>
  | { readonly do: 'createJob'; readonly cronJob: Stored<CronJob>; readonly job: JobDraft }
  /** With its pods, in the background. */
  | { readonly do: 'deleteJob'; readonly cronJob: Stored<CronJob>; readonly job: Stored<Job> }
  /** Goes on only if the server has no such job either: the cache may be old. */
  | { readonly do: 'confirmJobGone'; readonly job: Ref & { readonly uid: string } }
  | RecordEvent;

export type CronJobDecision = Decision<CronJobAction>;

export type JobDraft = Draft<Job>;

const normal = (reason: string, message: string): EventDraft => ({ type: 'Normal', reason, message });
const warning = (reason: string, message: string): EventDraft => ({ type: 'Warning', reason, message });

export const createdJob = (name: string): EventDraft => normal('SuccessfulCreate', `Created job ${name}`);
export const failedCreate = (error: string): EventDraft => warning('FailedCreate', `Error creating job: ${error}`);
export const deletedJob = (name: string): EventDraft => normal('SuccessfulDelete', `Deleted job ${name}`);
export const failedDelete = (error: string): EventDraft => warning('FailedDelete', `Deleted job: ${error}`);
export const sawCompletedJob = (name: string, condition: string): EventDraft =>
  normal('SawCompletedJob', `Saw completed job: ${name}, condition: ${condition}`);
export const missingJob = (name: string): EventDraft => normal('MissingJob', `Active job went missing: ${name}`);
export const unexpectedJob = (name: string): EventDraft => warning('UnexpectedJob', `Saw a job that the controller did not create or forgot: ${name}`);
export const jobAlreadyActive: EventDraft = normal('JobAlreadyActive', 'Not starting job because prior execution is running and concurrency policy is Forbid');
export const tooManyMissedTimes: EventDraft = warning(
  'TooManyMissedTimes',
  'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
);
export const unknownTimeZone = (zone: string): EventDraft => warning('UnknownTimeZone', `invalid timeZone: ${JSON.stringify(zone)}: unknown time zone ${zone}`);
export const unparseableSchedule = (schedule: string, problem: string): EventDraft =>
  warning('UnparseableSchedule', `unparseable schedule: ${JSON.stringify(schedule)} : ${problem}`);
export const invalidSchedule = (schedule: string, problem: string): EventDraft => warning('InvalidSchedule', `invalid schedule: ${schedule} : ${problem}`);
export const unsupportedSchedule = (schedule: string): EventDraft =>
  warning(
    'UnsupportedSchedule',
    `CRON_TZ or TZ used in schedule ${JSON.stringify(schedule)} is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details`,
  );
/** 'Mon, 02 Jan 2006 15:04:05 +0000' */
export const missSchedule = (time: number): EventDraft =>
  warning('MissSchedule', `Missed scheduled time to start a job: ${new Date(time).toUTCString().replace('GMT', '+0000')}`);
