import type { CronJob, Job } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { parseSchedule } from '../../../api/kinds/batch/cron-schedule.ts';
import { type EventDraft, type RecordEvent, recordOnce } from '../../../client/decision.ts';
import { sortedJson } from '../../../api/sorted-json.ts';
import {
  type CronJobAction,
  type CronJobDecision,
  invalidSchedule,
  type JobDraft,
  jobAlreadyActive,
  missSchedule,
  tooManyMissedTimes,
  unexpectedJob,
  unknownTimeZone,
  unparseableSchedule,
  unsupportedSchedule,
} from './actions.ts';
import { type Due, dueNow } from './due.ts';
import { timetableOf } from './next-time.ts';
import { type Finish, finishOf, jobName, summarizeJobs, scheduledAtAnnotation } from './status.ts';
import { type TimeZone, timeZone } from './time-zone.ts';

export interface CronJobSnapshot {
  readonly cronJob: Stored<CronJob>;
  /** Jobs that it controls. */
  readonly jobs: readonly Stored<Job>[];
  /** Any Job of this name in its namespace. */
  readonly jobNamed: (name: string) => Stored<Job> | undefined;
  /** When this process saw the schedule change; milliseconds since 1970. */
  readonly changedAt?: number | undefined;
  /** The event that was recorded under a key, and is not recorded again. */
  readonly recorded: (key: string) => Pick<EventDraft, 'message'> | undefined;
}

/**
 * First the status is updated from the Jobs, then old Jobs are deleted, then a Job may be started. The next pass sees that Job
 * and adds it to the status.
 */
export function decideCronJob(snapshot: CronJobSnapshot, now: number): CronJobDecision {
  const seen = { ...snapshot, jobs: snapshot.jobs.toSorted(byName) };
  const { cronJob, actions } = updateStatus(seen);
  const { actions: starting, ...start } = decideStart({ ...seen, cronJob }, now);
  return { ...start, actions: [...actions, ...oldJobs(seen).map((job) => deletion(cronJob, job)), ...starting] };
}

const byName = (a: Stored<Job>, b: Stored<Job>): number => (a.metadata.name < b.metadata.name ? -1 : 1);

const deletion = (cronJob: Stored<CronJob>, job: Stored<Job>): CronJobAction => ({ do: 'deleteJob', cronJob, job });

/** The CronJob with its status updated from its Jobs, and the actions that write it. */
function updateStatus(snapshot: CronJobSnapshot): { readonly cronJob: Stored<CronJob>; readonly actions: readonly CronJobAction[] } {
  const { cronJob, jobs } = snapshot;
  const { status, missing, events, unexpected } = summarizeJobs(cronJob, jobs);
  const strange = unexpected.flatMap((job) => recordUnlessRecorded(snapshot, unexpectedJob(job.metadata.name), job.metadata.uid));
  if (sortedJson(status) === sortedJson(cronJob.status)) return { cronJob, actions: strange };
  const recorded = { ...cronJob, status };
  return {
    cronJob: recorded,
    actions: [
      ...missing.map(({ namespace, name = '', uid = '' }): CronJobAction => ({ do: 'confirmJobGone', job: { namespace, name, uid } })),
      { do: 'updateStatus', object: recorded, from: cronJob },
      ...events.map((report): CronJobAction => recordOnce({ about: cronJob, ...report })),
      ...strange,
    ],
  };
}

/** A standing event, recorded unless it was before. `about` tells different cases apart. */
function recordUnlessRecorded(
  { cronJob, recorded }: Pick<CronJobSnapshot, 'cronJob' | 'recorded'>,
  report: EventDraft,
  about: string | number = '',
): readonly RecordEvent[] {
  const rememberAs = `${cronJob.metadata.uid} ${report.reason} ${about}`;
  return recorded(rememberAs)?.message === report.message ? [] : [{ do: 'recordEvent', event: { about: cronJob, ...report }, rememberAs }];
}

/** Finished Jobs beyond the history limits, oldest first. */
function oldJobs({ cronJob: { spec }, jobs }: CronJobSnapshot): readonly Stored<Job>[] {
  const surplus = (finish: Finish, kept: number | undefined): readonly Stored<Job>[] => {
    const finished = jobs.filter((job) => finishOf(job) === finish).sort(byStart);
    return kept === undefined ? [] : finished.slice(0, Math.max(0, finished.length - kept));
  };
  const all = [...surplus('Complete', spec.successfulJobsHistoryLimit), ...surplus('Failed', spec.failedJobsHistoryLimit)];
  return all.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

const byStart = (a: Stored<Job>, b: Stored<Job>): number => startOf(a) - startOf(b) || byName(a, b);
const startOf = ({ status }: Job): number => (status.startTime === undefined ? Number.MAX_VALUE : Date.parse(status.startTime));

/** Whether a scheduled time has come, and a Job has to be started for it. */
function decideStart(snapshot: CronJobSnapshot, now: number): CronJobDecision {
  const { cronJob, changedAt } = snapshot;
  const { schedule, timeZone: zoneName = 'UTC', suspend } = cronJob.spec;
  if (cronJob.metadata.deletionTimestamp !== undefined) return nothing('Deleted', 'it is being deleted');
  const zone = timeZone(zoneName);
  if (zone === undefined) return nothing('UnknownTimeZone', `there is no time zone ${zoneName}`, recordUnlessRecorded(snapshot, unknownTimeZone(zoneName)));
  if (suspend === true) return nothing('Suspended', 'it is suspended');
  const parsed = parseSchedule(schedule);
  if (parsed.problem !== undefined) {
    return nothing('UnparseableSchedule', parsed.problem, recordUnlessRecorded(snapshot, unparseableSchedule(schedule, parsed.problem)));
  }
  const due = dueNow(cronJob, { timetable: timetableOf(parsed.schedule, zone), now, changedAt });
  if (due.problem !== undefined) return nothing('InvalidSchedule', due.problem, recordUnlessRecorded(snapshot, invalidSchedule(schedule, due.problem)));
  const { actions, reasons } =
    due.time === undefined ? nothing('NotDue', 'its next time has not come yet') : decideDue(snapshot, { ...due, time: due.time, zone, now });
  const odd = schedule.includes('TZ') ? recordUnlessRecorded(snapshot, unsupportedSchedule(schedule)) : [];
  return { actions: [...odd, ...actions], reasons, ...(due.next === undefined ? {} : { again: due.next }) };
}

interface DueTime extends Due {
  readonly time: number;
  readonly zone: TimeZone;
  readonly now: number;
}

/** A scheduled time has come: its Job may exist already, it may be too late, or an active Job may forbid it. */
function decideDue(snapshot: CronJobSnapshot, due: DueTime): Pick<CronJobDecision, 'actions' | 'reasons'> {
  const { cronJob, jobNamed } = snapshot;
  const { startingDeadlineSeconds: deadline, concurrencyPolicy } = cronJob.spec;
  const { time, now } = due;
  const { active = [], lastScheduleTime } = cronJob.status;
  const name = jobName(cronJob, time);
  const missed = due.manyMissed ? recordUnlessRecorded(snapshot, tooManyMissedTimes, time) : [];
  if (deadline !== undefined && time + deadline * 1000 < now) {
    return nothing('MissSchedule', 'it is too late to start', [...missed, ...recordUnlessRecorded(snapshot, missSchedule(time), time)]);
  }
  if (lastScheduleTime !== undefined && Date.parse(lastScheduleTime) === time) return nothing('Met', 'its last time is met', missed);
  if (jobNamed(name) !== undefined) return nothing('NameTaken', `there is a job ${name} already`, missed);
  if (concurrencyPolicy === 'Forbid' && active.length > 0) {
    return nothing('JobAlreadyActive', 'its last job still runs', [...missed, ...recordUnlessRecorded(snapshot, jobAlreadyActive, time)]);
  }
  const replaced = concurrencyPolicy === 'Replace' ? replace(snapshot) : [];
  const starting: CronJobAction = { do: 'createJob', cronJob, job: jobFor(cronJob, due) };
  return { actions: [...missed, ...replaced, starting], reasons: [{ code: 'Due', text: `${name} is to be started` }] };
}

/** concurrencyPolicy Replace: active Jobs are deleted. */
function replace({ cronJob, jobs }: CronJobSnapshot): readonly CronJobAction[] {
  const { active = [], ...status } = cronJob.status;
  if (active.length === 0) return [];
  const uids = new Set(active.map(({ uid }) => uid));
  return [
    ...jobs.filter(({ metadata }) => uids.has(metadata.uid)).map((job) => deletion(cronJob, job)),
    { do: 'updateStatus', object: { ...cronJob, status }, from: cronJob },
  ];
}

/** The name contains the scheduled time, so that there is never a second Job for it. */
function jobFor(cronJob: Stored<CronJob>, { time, zone }: DueTime): JobDraft {
  const { metadata, spec } = cronJob.spec.jobTemplate;
  const { namespace, name, uid } = cronJob.metadata;
  return {
    metadata: {
      namespace,
      name: jobName(cronJob, time),
      ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
      annotations: { ...metadata.annotations, ...scheduledAtAnnotation(zone.format(time)) },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec,
  };
}

const nothing = (code: string, text: string, actions: readonly CronJobAction[] = []): CronJobDecision => ({ actions, reasons: [{ code, text }] });
