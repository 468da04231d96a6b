import type { Calendar, Schedule } from '../../../api/kinds/batch/cron-schedule.ts';
import { type TimeZone, timeZone, type WallTime } from './time-zone.ts';

/** A schedule in a time zone. Moments are milliseconds since 1970. */
export interface Timetable {
  /** The first scheduled time after this moment. Undefined: there is none within five years (31 February). */
  nextAfter(moment: number): number | undefined;
}

/** `zone` is for schedules without a time zone of their own. */
export function timetableOf(schedule: Schedule, zone: TimeZone): Timetable {
  if (schedule.type === 'interval') return { nextAfter: (moment) => wholeSecond(moment) + schedule.seconds * 1000 };
  const own = schedule.zone === undefined ? zone : (timeZone(schedule.zone) ?? zone);
  const isNever = [schedule.minutes, schedule.hours, schedule.months].some(({ values }) => values.size === 0);
  return { nextAfter: (moment) => (isNever ? undefined : nextTime(schedule, own, moment)) };
}

const wholeSecond = (moment: number): number => Math.floor(moment / 1000) * 1000;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const yearsAhead = 5;

/**
 * Finds the first matching month, then the first day in it, then hour, then minute. A search that runs over the end of a month or
 * day begins again, because the larger units may no longer match. Daylight saving follows robfig/cron v3 (spec.go), which
 * Kubernetes uses: hours are counted as they pass, so a time that is skipped in spring is not run that day.
 */
function nextTime(calendar: Calendar, zone: TimeZone, moment: number): number | undefined {
  let at = Math.ceil((wholeSecond(moment) + 1000) / minuteMs) * minuteMs;
  const lastYear = zone.wallAt(at).year + yearsAhead;
  for (;;) {
    if (zone.wallAt(at).year > lastYear) return undefined;
    const month = toMonth(calendar, zone, at);
    const day = month.wrapped ? month : toDay(calendar, zone, month.at);
    const hour = day.wrapped ? day : toHour(calendar, zone, day.at);
    const minute = hour.wrapped ? hour : toMinute(calendar, zone, hour.at);
    if (!minute.wrapped) return minute.at;
    at = minute.at;
  }
}

/** How far a search has got. Wrapped: it ran into the next larger unit. */
interface Step {
  readonly at: number;
  readonly wrapped: boolean;
}

function toMonth({ months }: Calendar, zone: TimeZone, from: number): Step {
  let at = from;
  for (let wall = zone.wallAt(at); !months.values.has(wall.month); wall = zone.wallAt(at)) {
    at = startOfDay(zone, { year: wall.year, month: wall.month + 1, day: 1 });
    if (zone.wallAt(at).month === 1) return { at, wrapped: true };
  }
  return { at, wrapped: false };
}

function toDay(calendar: Calendar, zone: TimeZone, from: number): Step {
  let at = from;
  for (let wall = zone.wallAt(at); !isDay(calendar, wall); wall = zone.wallAt(at)) {
    at = startOfDay(zone, { year: wall.year, month: wall.month, day: wall.day + 1 });
    if (zone.wallAt(at).day === 1) return { at, wrapped: true };
  }
  return { at, wrapped: false };
}

/**
 * In zones whose clocks are moved forward at midnight, that day begins at one o'clock: `moment` then returns one o'clock, or an hour
 * before. (robfig/cron skips such a day, which is a bug.)
 */
function startOfDay(zone: TimeZone, date: Pick<WallTime, 'year' | 'month' | 'day'>): number {
  const at = zone.moment(date);
  const { hour } = zone.wallAt(at);
  return hour > 12 ? at + (24 - hour) * hourMs : at;
}

function toHour({ hours }: Calendar, zone: TimeZone, from: number): Step {
  let at = from;
  for (let wall = zone.wallAt(at); !hours.values.has(wall.hour); wall = zone.wallAt(at)) {
    at += hourMs - wall.minute * minuteMs;
    if (zone.wallAt(at).hour === 0) return { at, wrapped: true };
  }
  return { at, wrapped: false };
}

function toMinute({ minutes }: Calendar, zone: TimeZone, from: number): Step {
  let at = from;
  for (let wall = zone.wallAt(at); !minutes.values.has(wall.minute); wall = zone.wallAt(at)) {
    at += minuteMs;
    if (zone.wallAt(at).minute === 0) return { at, wrapped: true };
  }
  return { at, wrapped: false };
}

/** Day of month and day of week both have to match if one of them is a star; otherwise one is enough. */
function isDay({ days, weekdays }: Calendar, { day, weekday }: { readonly day: number; readonly weekday: number }): boolean {
  const [fitsDay, fitsWeekday] = [days.values.has(day), weekdays.values.has(weekday)];
  return days.any || weekdays.any ? fitsDay && fitsWeekday : fitsDay || fitsWeekday;
}
