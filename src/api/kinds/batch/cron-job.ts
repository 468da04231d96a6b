import { type FieldError, invalid, notOneOf, required } from '../../field-error.ts';
import type { CronJob, CronJobSpec, JobTemplateSpec } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { nonNegative } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { byteLength } from '../../validation/text.ts';
import { age, ageColumn, booleanColumn, integerColumn, nameColumn, textColumn, wideColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { isTimeZone, scheduleProblem } from './cron-schedule.ts';
import { defaultFailurePolicy, jobSpecWarnings } from './job.ts';
import { validateAnyJobSpec } from './job-validation.ts';
import { selectorCell } from '../../validation/label-selector.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { dropDisabledFields } from '../pod/pod-disabled-fields.ts';
import { nameWarnings } from '../pod/pod-warnings.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';
import { containerColumns } from '../apps/workload-template.ts';

const SUCCESSES_KEPT = 3;
const FAILURES_KEPT = 1;
/** Jobs are named after the cron job, with '-' and ten digits behind. */
const MAX_NAME_LENGTH = 52;

/** Of the jobs that it makes, only the pods get defaults here; the rest they get when they are made. */
function defaults({ spec }: CronJob): void {
  spec.concurrencyPolicy ??= 'Allow';
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= SUCCESSES_KEPT;
  spec.failedJobsHistoryLimit ??= FAILURES_KEPT;
  defaultFailurePolicy(spec.jobTemplate.spec);
  defaultPodTemplate(spec.jobTemplate.spec.template);
}

const concurrencyPolicies = ['Allow', 'Forbid', 'Replace'];

function validateSpec(spec: CronJobSpec): FieldError[] {
  const { concurrencyPolicy: policy = '' } = spec;
  const wrongPolicy =
    policy === ''
      ? [required('spec.concurrencyPolicy')]
      : concurrencyPolicies.includes(policy)
        ? []
        : [notOneOf('spec.concurrencyPolicy', policy, concurrencyPolicies)];
  return [
    ...validateSchedule(spec.schedule, 'spec.schedule'),
    ...nonNegative(spec.startingDeadlineSeconds ?? 0, 'spec.startingDeadlineSeconds'),
    ...validateTimeZone(spec.timeZone, 'spec.timeZone'),
    ...wrongPolicy,
    ...validateJobTemplate(spec.jobTemplate, 'spec.jobTemplate'),
    ...nonNegative(spec.successfulJobsHistoryLimit ?? 0, 'spec.successfulJobsHistoryLimit'),
    ...nonNegative(spec.failedJobsHistoryLimit ?? 0, 'spec.failedJobsHistoryLimit'),
  ];
}

function validateSchedule(schedule: string, field: string): FieldError[] {
  if (schedule === '') return [required(field)];
  const problem = scheduleProblem(schedule);
  const errors = problem === undefined ? [] : [invalid(field, schedule, problem)];
  return schedule.includes('TZ') ? [...errors, invalid(field, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')] : errors;
}

/** A part of the name of a time zone; digits and '+' are in some of old. */
const zonePart = /^(?!\.{1,2}$)(?!-)[A-Za-z.\-_0-9+]{1,14}$/;

function validateTimeZone(zone: string | undefined, field: string): FieldError[] {
  if (zone === undefined) return [];
  if (zone === '') return [invalid(field, zone, 'timeZone must be nil or non-empty string')];
  const unknown = invalid(field, zone, `unknown time zone ${zone}`);
  if (!zone.split('/').every((part) => zonePart.test(part))) return [unknown];
  const isLocal = zone.toLowerCase() === 'local';
  const errors = isLocal ? [invalid(field, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')] : [];
  return zone === 'Local' || isTimeZone(zone) ? errors : [...errors, unknown];
}

function validateJobTemplate({ spec }: JobTemplateSpec, field: string): FieldError[] {
  const errors = validateAnyJobSpec(spec, `${field}.spec`);
  if (spec.selector !== undefined) errors.push(invalid(`${field}.spec.selector`, spec.selector, '`selector` will be auto-generated'));
  if (spec.manualSelector === true) errors.push(notOneOf(`${field}.spec.manualSelector`, true, ['nil', 'false']));
  return errors;
}

function warnings(cronJob: CronJob, old: CronJob | undefined): string[] {
  const { metadata, spec } = cronJob;
  const ofJobs = jobSpecWarnings(spec.jobTemplate.spec, 'spec.jobTemplate.spec');
  if (old === undefined) return [...nameWarnings(metadata.name), ...ofJobs];
  return sameMeaning(spec, old.spec) ? [] : ofJobs;
}

export const cronJobKind: Kind<CronJob> = {
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  singular: 'cronjob',
  shortNames: ['cj'],
  categories: ['all'],
  namespaced: true,
  type: 'CronJob',
  storage: { resource: 'batch/cronjobs' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  prepareForCreate: (cronJob) => {
    cronJob.status = {};
    dropDisabledFields(cronJob.spec.jobTemplate.spec.template.spec);
  },
  prepareForUpdate: ({ spec }) => dropDisabledFields(spec.jobTemplate.spec.template.spec),
  validate: ({ spec }) => validateSpec(spec),
  validateCreate: ({ metadata: { name = '' } }) =>
    byteLength(name) > MAX_NAME_LENGTH ? [invalid('metadata.name', name, `must be no more than ${MAX_NAME_LENGTH} characters`)] : [],
  checks: { update: ['metadataChange', 'object', 'change'], status: [] },
  warnings,
  status: {},
  hasGeneration: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    nameColumn,
    textColumn('Schedule', ({ spec }) => spec.schedule),
    textColumn('Timezone', ({ spec }) => spec.timeZone ?? '<none>'),
    booleanColumn('Suspend', ({ spec: { suspend } }) => (suspend === undefined ? '<unset>' : suspend ? 'True' : 'False')),
    integerColumn('Active', ({ status }) => (status.active ?? []).length),
    textColumn('Last Schedule', ({ status }, now) => (status.lastScheduleTime === undefined ? '<none>' : age(status.lastScheduleTime, now))),
    ageColumn,
    ...containerColumns<CronJob>(({ spec }) => spec.jobTemplate.spec.template),
    wideColumn('Selector', ({ spec }) => selectorCell(spec.jobTemplate.spec.selector)),
  ],
};
