/** The status of a CronJob, computed from its Jobs. */
import type { CronJob, CronJobStatus, Job, ObjectReference } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { hasTrueCondition } from '../../../api/kinds/batch/job-conditions.ts';
import { timestamp } from '../../../api/kinds/timestamps.ts';
import type { EventDraft } from '../../../client/decision.ts';
import { missingJob, sawCompletedJob } from './actions.ts';

export interface JobsSummary {
  readonly status: CronJobStatus;
  /** Jobs that the old status lists and that are not in the cache any more. */
  readonly missing: readonly ObjectReference[];
  /** The events to record once the status is written. */
  readonly events: readonly EventDraft[];
  /** Jobs that it controls but did not create. */
  readonly unexpected: readonly Stored<Job>[];
}

const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

export const jobName = ({ metadata }: Stored<CronJob>, time: number): string => `${metadata.name}-${Math.floor(time / 60_000)}`;

export const scheduledAtAnnotation = (time: string): Readonly<Record<string, string>> => ({ [SCHEDULED_AT]: time });

/** The scheduled time of a Job. Undefined: this controller did not create it. */
function scheduledAt(cronJob: Stored<CronJob>, { metadata }: Stored<Job>): number | undefined {
  const time = Date.parse(metadata.annotations?.[SCHEDULED_AT] ?? '');
  return metadata.name === jobName(cronJob, time) ? time : undefined;
}

export type Finish = 'Complete' | 'Failed';

export function finishOf({ status }: Job): Finish | undefined {
  return hasTrueCondition(status, 'Complete') ? 'Complete' : hasTrueCondition(status, 'Failed') ? 'Failed' : undefined;
}

/**
 * A Job is created first and added to the status afterwards. After a crash in between the Job is found by its name, so no scheduled
 * time gets two Jobs, and every running Job gets into the status.
 */
export function summarizeJobs(cronJob: Stored<CronJob>, jobs: readonly Stored<Job>[]): JobsSummary {
  const existing = new Set<string | undefined>(jobs.map(({ metadata }) => metadata.uid));
  const missing = (cronJob.status.active ?? []).filter(({ uid }) => !existing.has(uid));
  const events = missing.map(({ name = '' }) => missingJob(name));
  const unexpected: Stored<Job>[] = [];
  let { lastSuccessfulTime, lastScheduleTime } = cronJob.status;
  let active = (cronJob.status.active ?? []).filter(({ uid }) => existing.has(uid));
  for (const job of jobs) {
    const { uid, name } = job.metadata;
    const isListed = active.some((reference) => reference.uid === uid);
    const time = scheduledAt(cronJob, job);
    const isNew = time !== undefined && isLater(time, lastScheduleTime);
    const finish = finishOf(job);
    if (finish !== undefined) {
      active = active.filter((reference) => reference.uid !== uid);
      if (isListed || isNew) events.push(sawCompletedJob(name, finish));
      if (finish === 'Complete' && isLater(Date.parse(job.status.completionTime ?? ''), lastSuccessfulTime)) lastSuccessfulTime = job.status.completionTime;
    } else if (!isListed && time !== undefined) {
      active.push(referenceTo(job));
    } else if (!isListed) {
      unexpected.push(job);
    }
    if (isNew) lastScheduleTime = timestamp(time);
  }
  return {
    status: {
      ...(active.length === 0 ? {} : { active }),
      ...(lastScheduleTime === undefined ? {} : { lastScheduleTime }),
      ...(lastSuccessfulTime === undefined ? {} : { lastSuccessfulTime }),
    },
    missing,
    events,
    unexpected,
  };
}

const isLater = (moment: number, than: string | undefined): boolean => !Number.isNaN(moment) && (than === undefined || moment > Date.parse(than));

function referenceTo({ metadata }: Stored<Job>): ObjectReference {
  const { namespace = '', name, uid, resourceVersion } = metadata;
  return { kind: 'Job', namespace, name, uid, apiVersion: 'batch/v1', resourceVersion };
}
