import { expect, test } from 'vitest';
import { parseSchedule } from '../../../api/kinds/batch/cron-schedule.ts';
import { timetableOf } from './next-time.ts';
import { timeZone } from './time-zone.ts';

const zoneOf = (name: string) => timeZone(name) ?? expect.fail(`no zone ${name}`);

/** The next times, in that zone. */
function times(schedule: string, after: string, { zone = 'UTC', count = 1 } = {}): string[] {
  const parsed = parseSchedule(schedule);
  if (parsed.problem !== undefined) throw new Error(parsed.problem);
  const here = zoneOf(zone);
  const timetable = timetableOf(parsed.schedule, here);
  const found: string[] = [];
  for (let at = timetable.nextAfter(Date.parse(after)); at !== undefined && found.length < count; at = timetable.nextAfter(at)) found.push(here.format(at));
  return found;
}

test.each([
  // From the tests of robfig/cron v3, which Kubernetes uses.
  ['0/15 * * * *', '2012-07-09T14:45:00Z', '2012-07-09T15:00:00Z'],
  ['0/15 * * * *', '2012-07-09T14:59:59Z', '2012-07-09T15:00:00Z'],
  ['20-35/15 * * * *', '2012-07-09T15:45:00Z', '2012-07-09T16:20:00Z'],
  ['*/15 * * * *', '2012-07-09T23:46:00Z', '2012-07-10T00:00:00Z'],
  ['20-35/15 * * * *', '2012-07-09T23:45:00Z', '2012-07-10T00:20:00Z'],
  ['20-35/15 1/2 * * *', '2012-07-09T23:45:00Z', '2012-07-10T01:20:00Z'],
  ['0 0 9 Apr-Oct ?', '2012-07-09T23:35:00Z', '2012-08-09T00:00:00Z'],
  ['0 0 */5 Apr,Aug,Oct Mon', '2012-07-09T23:35:00Z', '2012-08-01T00:00:00Z'],
  ['0 0 */5 Oct Mon', '2012-07-09T23:35:00Z', '2012-10-01T00:00:00Z'],
  ['0 0 * Feb Mon', '2012-07-09T23:35:00Z', '2013-02-04T00:00:00Z'],
  ['0 0 29 Feb ?', '2012-07-09T23:35:00Z', '2016-02-29T00:00:00Z'],
  // Day of month and day of week: one match is enough, unless one field is a star.
  ['0 0 13 * Fri', '2026-11-02T00:00:00Z', '2026-11-06T00:00:00Z'],
  ['0 0 * * Fri', '2026-11-07T00:00:00Z', '2026-11-13T00:00:00Z'],
  ['0 0 */2 * Fri', '2026-11-01T00:00:00Z', '2026-11-03T00:00:00Z'],
  ['@hourly', '2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'],
  ['@daily', '2026-12-31T00:00:01Z', '2027-01-01T00:00:00Z'],
  ['@weekly', '2026-11-16T00:00:00Z', '2026-11-22T00:00:00Z'],
  ['@monthly', '2026-11-16T00:00:00Z', '2026-12-01T00:00:00Z'],
  ['@yearly', '2026-11-16T00:00:00Z', '2027-01-01T00:00:00Z'],
  ['@every 90s', '2026-11-16T00:00:10Z', '2026-11-16T00:01:40Z'],
  ['@every 1h30m', '2026-11-16T00:00:10.600Z', '2026-11-16T01:30:10Z'],
  ['@every 10ms', '2026-11-16T00:00:10Z', '2026-11-16T00:00:11Z'],
])('%s after %s is due at %s', (schedule, after, due) => {
  expect(times(schedule, after)).toEqual([due]);
});

test.each(['0 0 31 2 *', '0 0 30 Feb ?', ', * * * *', '0 0 31 Apr,Jun ?'])('%s is never due', (schedule) => {
  expect(times(schedule, '2026-01-01T00:00:00Z')).toEqual([]);
});

test('a schedule runs in its time zone, also in one of its own', () => {
  expect(times('0 9 * * *', '2026-07-01T00:00:00Z', { zone: 'Europe/Berlin' })).toEqual(['2026-07-01T09:00:00+02:00']);
  expect(times('0 9 * * *', '2026-12-01T00:00:00Z', { zone: 'America/New_York' })).toEqual(['2026-12-01T09:00:00-05:00']);
  expect(times('0 9 * * *', '2026-12-01T00:00:00Z', { zone: 'Asia/Kolkata' })).toEqual(['2026-12-01T09:00:00+05:30']);
  expect(times('TZ=Asia/Tokyo 0 9 * * *', '2026-12-01T00:00:00Z', { zone: 'Europe/London' })).toEqual(['2026-12-02T00:00:00Z']);
});

test('a time that is skipped in spring is not due that day; one that comes twice in autumn is due twice', () => {
  const spring = { zone: 'Europe/Berlin', count: 2 };
  expect(times('30 2 * * *', '2026-03-28T00:00:00Z', spring)).toEqual(['2026-03-28T02:30:00+01:00', '2026-03-30T02:30:00+02:00']);
  expect(times('30 2 * * *', '2026-10-24T22:00:00Z', spring)).toEqual(['2026-10-25T02:30:00+02:00', '2026-10-25T02:30:00+01:00']);
  expect(times('0 * * * *', '2026-03-29T00:30:00Z', spring)).toEqual(['2026-03-29T03:00:00+02:00', '2026-03-29T04:00:00+02:00']);
});

test("a day that begins at one o'clock counts", () => {
  expect(times('0 5 28 3 *', '2021-03-01T00:00:00Z', { zone: 'Asia/Beirut' })).toEqual(['2021-03-28T05:00:00+03:00']);
  expect(times('0 5 1 10 *', '2017-09-01T00:00:00Z', { zone: 'America/Asuncion' })).toEqual(['2017-10-01T05:00:00-03:00']);
  expect(times('0 5 * 10 *', '2017-09-01T00:00:00Z', { zone: 'America/Asuncion' })).toEqual(['2017-10-01T05:00:00-03:00']);
});

test('every zone works, and the next time is always later', () => {
  for (const zone of Intl.supportedValuesOf('timeZone').filter((_, i) => i % 8 === 0)) {
    const timetable = timetableOf(parse('17 */7 1,15 * *'), zoneOf(zone));
    let at = Date.parse('2026-01-01T00:00:00Z');
    for (let i = 0; i < 20; i++) {
      const next = timetable.nextAfter(at) ?? 0;
      expect(next, `${zone} after ${new Date(at).toISOString()}`).toBeGreaterThan(at);
      at = next;
    }
  }
});

function parse(schedule: string) {
  const parsed = parseSchedule(schedule);
  if (parsed.problem !== undefined) throw new Error(parsed.problem);
  return parsed.schedule;
}

test('an unknown zone is undefined', () => {
  expect(timeZone('Europe/Atlantis')).toBeUndefined();
});
