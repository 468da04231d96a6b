/** Which scheduled time of a CronJob is due now. Moments are milliseconds since 1970. */
import type { CronJob } from '../../../api/generated/types.ts';
import type { Timetable } from './next-time.ts';

export interface DueOptions {
  readonly timetable: Timetable;
  readonly now: number;
  /** Times before the schedule was changed do not count as missed. */
  readonly changedAt?: number | undefined;
}

export interface Due {
  /** The latest scheduled time that has come and has no Job yet. */
  readonly time?: number;
  /** More than 100 scheduled times were missed. */
  readonly manyMissed: boolean;
  /** When to check again. Absent: never. */
  readonly next?: number;
  /** The schedule parses but never comes: 31 February. */
  readonly problem?: string;
}

export function dueNow(cronJob: CronJob, options: DueOptions): Due {
  const { now } = options;
  const { startingDeadlineSeconds: deadline } = cronJob.spec;
  const earliest = earliestTime(cronJob, options.changedAt);
  const withinDeadline = deadline === undefined ? earliest : Math.max(earliest, now - deadline * 1000);
  const latest = latestSince(withinDeadline, options);
  if ('problem' in latest) return { manyMissed: false, problem: latest.problem };
  const next = nextCheck(earliest, options);
  const { time, missed } = latest;
  return {
    manyMissed: time !== undefined && missed > tooMany,
    ...(time === undefined ? {} : { time }),
    ...(next === undefined ? {} : { next }),
  };
}

const tooMany = 100;

function earliestTime({ metadata, status }: CronJob, changedAt = 0): number {
  return Math.max(Date.parse(status.lastScheduleTime ?? metadata.creationTimestamp ?? ''), changedAt);
}

type Latest = { readonly time: number | undefined; readonly missed: number } | { readonly problem: string };

/** The latest scheduled time since then. How many were missed is estimated from the distance of the first two. */
function latestSince(earliest: number, { timetable, now }: DueOptions): Latest {
  const first = timetable.nextAfter(earliest);
  const second = first === undefined ? undefined : timetable.nextAfter(first);
  if (first === undefined) return { problem: 'time difference between two schedules is less than 1 second' };
  if (now < first) return { time: undefined, missed: 0 };
  if (second === undefined || now < second) return { time: first, missed: 0 };
  const distance = second - first;
  const missed = Math.floor((now - first) / distance) + 1;
  let time: number | undefined;
  // Starts one distance earlier than estimated, because schedules are irregular.
  for (let at = timetable.nextAfter(first + (missed - 2) * distance); at !== undefined && at <= now; at = timetable.nextAfter(at)) time = at;
  return { time, missed };
}

/** A little after the next scheduled time: clocks may differ. */
function nextCheck(earliest: number, options: DueOptions): number | undefined {
  const { timetable, now } = options;
  const latest = latestSince(earliest, options);
  const from = 'problem' in latest || (latest.time === undefined && latest.missed > 0) ? now : (latest.time ?? earliest);
  const next = timetable.nextAfter(from);
  return next === undefined ? undefined : next + behindMs;
}

const behindMs = 100;
