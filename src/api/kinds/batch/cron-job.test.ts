import { describe, expect, test } from 'vitest';
import type { CronJob } from '../../generated/types.ts';
import { created, refusal, row, updateRefusal } from '../try-kind.ts';
import { cronJobKind } from './cron-job.ts';
import { scheduleProblem } from './cron-schedule.ts';
import { podSpec } from '../workload-samples.ts';

const jobTemplate = { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } };
const raw = (spec: object = {}, metadata: object = {}) => ({
  metadata: { name: 'nightly', ...metadata },
  spec: { schedule: '0 1 * * *', jobTemplate, ...spec },
});
const said = (spec: object): string[] => refusal(cronJobKind, raw(spec));

test('defaults; of its jobs only the pods get theirs', () => {
  const { spec } = created(cronJobKind, raw());
  expect(spec).toMatchObject({ concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
  expect(Object.keys(spec.jobTemplate.spec)).toEqual(['template']);
  expect(spec.jobTemplate.spec.template.spec.dnsPolicy).toBe('ClusterFirst');
});

describe('schedules', () => {
  test.each(['* * * * *', '?  0 1 1 0', '*/5 0-6/2 1,15 jan-MAR mon-fri', '5/15 * * * *', '@daily', '@every 1h30m', '@every 0', '1,,2 * * * *'])(
    '%j is one',
    (schedule) => {
      expect(scheduleProblem(schedule)).toBeUndefined();
      expect(said({ schedule })).toEqual([]);
    },
  );

  test.each([
    ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ['*/-2 * * * *', 'negative number (-2) not allowed: -2'],
    ['@never', 'unrecognized descriptor: @never'],
    ['@every day', 'failed to parse duration @every day: time: invalid duration "day"'],
    ['@every 5', 'failed to parse duration @every 5: time: missing unit in duration "5"'],
    ['@every 5d', 'failed to parse duration @every 5d: time: unknown unit "d" in duration "5d"'],
  ])('%j is none', (schedule, problem) => {
    expect(said({ schedule })).toEqual([`FieldValueInvalid spec.schedule: Invalid value: ${JSON.stringify(schedule)}: ${problem}`]);
  });

  test('have their time zone in a field of its own', () => {
    const zoned = (schedule: string, ...problems: string[]): void =>
      expect(said({ schedule })).toEqual(problems.map((problem) => `FieldValueInvalid spec.schedule: Invalid value: "${schedule}": ${problem}`));
    const refused = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
    zoned('TZ=Europe/Berlin 0 1 * * *', refused);
    zoned('TZ=Nowhere 0 1 * * *', 'provided bad location Nowhere: unknown time zone Nowhere', refused);
    zoned('CRON_TZ=UTC', 'invalid schedule format: runtime error: slice bounds out of range [:-1]', refused);
  });

  test('cannot be left out', () => {
    expect(said({ schedule: '' })).toEqual(['FieldValueRequired spec.schedule: Required value']);
  });
});

test.each([
  ['Europe/Berlin', []],
  ['UTC', []],
  ['Etc/GMT+5', []],
  ['', ['timeZone must be nil or non-empty string']],
  ['Europe/Atlantis', ['unknown time zone Europe/Atlantis']],
  ['europe/berlin', ['unknown time zone europe/berlin']],
  ['../etc/passwd', ['unknown time zone ../etc/passwd']],
  ['+0100', ['unknown time zone +0100']],
  ['Local', ['timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones']],
])('time zone %j', (timeZone, problems) => {
  expect(said({ timeZone })).toEqual(problems.map((problem) => `FieldValueInvalid spec.timeZone: Invalid value: "${timeZone}": ${problem}`));
});

test('what else is refused', () => {
  expect(said({ concurrencyPolicy: 'Maybe', startingDeadlineSeconds: -1, failedJobsHistoryLimit: -1 })).toEqual([
    'FieldValueInvalid spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
    'FieldValueNotSupported spec.concurrencyPolicy: Unsupported value: "Maybe": supported values: "Allow", "Forbid", "Replace"',
    'FieldValueInvalid spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
  ]);
  const selecting = { spec: { ...jobTemplate.spec, manualSelector: true, selector: { matchLabels: { a: 'b' } } } };
  expect(said({ jobTemplate: selecting })).toEqual([
    'FieldValueInvalid spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
    'FieldValueNotSupported spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
  ]);
  expect(said({ jobTemplate: { spec: { template: { spec: podSpec } } } })).toEqual([
    'FieldValueRequired spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ]);
});

test('a new name leaves room for those of the jobs', () => {
  const name = 'n'.repeat(53);
  expect(refusal(cronJobKind, raw({}, { name }))).toEqual([`FieldValueInvalid metadata.name: Invalid value: "${name}": must be no more than 52 characters`]);
  expect(updateRefusal(cronJobKind, created(cronJobKind, raw({}, { name })), ({ spec }) => Object.assign(spec, { suspend: true }))).toEqual([]);
});

test('its row', () => {
  const status = { active: [{ name: 'a' }], lastScheduleTime: '2026-03-01T11:00:00Z' };
  const object: CronJob = { ...created(cronJobKind, raw({ suspend: true, timeZone: 'UTC' })), status };
  expect(row(cronJobKind, object)).toEqual({
    Name: 'nightly',
    Schedule: '0 1 * * *',
    Timezone: 'UTC',
    Suspend: 'True',
    Active: 1,
    'Last Schedule': '60m',
    Age: '60m',
    Containers: 'main',
    Images: 'nginx',
    Selector: '<none>',
  });
  expect(row(cronJobKind, created(cronJobKind, raw()))).toMatchObject({ Timezone: '<none>', Suspend: 'False', Active: 0, 'Last Schedule': '<none>' });
});
