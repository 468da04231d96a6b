import type { Job, JobSpec } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { age, ageColumn, humanDuration, nameColumn, textColumn, wideColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { hasTrueCondition } from './job-conditions.ts';
import { validateJobStatusUpdate } from './job-status.ts';
import { validateJobUpdate } from './job-update.ts';
import { CONTROLLER_UID, JOB_NAME, LEGACY_CONTROLLER_UID, LEGACY_JOB_NAME, validateJob } from './job-validation.ts';
import { selectorCell } from '../../validation/label-selector.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { dropDisabledFields } from '../pod/pod-disabled-fields.ts';
import { nameWarnings, podTemplateWarnings } from '../pod/pod-warnings.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';
import { containerColumns } from '../apps/workload-template.ts';

const BACKOFF_LIMIT = 6;
const NO_BACKOFF_LIMIT = 2 ** 31 - 1;

function defaults(job: Job): void {
  const { spec } = job;
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  // With a limit for each index, the job as a whole needs none.
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? BACKOFF_LIMIT : NO_BACKOFF_LIMIT;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
  spec.manualSelector ??= false;
  defaultFailurePolicy(spec);
  defaultPodTemplate(spec.template);
  takeLabelsOfTemplate(job);
}

export function defaultFailurePolicy({ podFailurePolicy }: JobSpec): void {
  for (const { onPodConditions } of podFailurePolicy?.rules ?? []) {
    for (const pattern of onPodConditions ?? []) if (pattern.status === '') pattern.status = 'True';
  }
}

/**
 * A job without labels has those of its template. It is the very same map, as it is in Kubernetes: labels that are
 * generated for the template later are the job's as well.
 */
function takeLabelsOfTemplate({ metadata, spec }: Job): void {
  const { labels } = spec.template.metadata;
  if (labels !== undefined && metadata.labels === undefined) metadata.labels = labels;
}

/** Unless the client selects its pods itself, they are found by the job's uid. The registry has given name and uid by now. */
function generateSelector(job: Job): void {
  const { metadata, spec } = job;
  const { name = '', uid = '' } = metadata;
  const labels = (spec.template.metadata.labels ??= {});
  for (const label of [LEGACY_JOB_NAME, JOB_NAME]) labels[label] ??= name;
  for (const label of [LEGACY_CONTROLLER_UID, CONTROLLER_UID]) labels[label] ??= uid;
  const selector = (spec.selector ??= {});
  selector.matchLabels = { [CONTROLLER_UID]: uid, ...selector.matchLabels };
}

function prepareForCreate(job: Job): void {
  if (job.spec.manualSelector !== true) generateSelector(job);
  job.status = {};
  dropDisabledFields(job.spec.template.spec);
  takeLabelsOfTemplate(job);
}

const MANY_COMPLETIONS = 100_000;
const MANY_AT_ONCE = 10_000;

export function jobSpecWarnings(spec: JobSpec, field: string): string[] {
  const { completionMode, completions = 0, parallelism = 0 } = spec;
  const isHuge = completionMode === 'Indexed' && completions > MANY_COMPLETIONS && parallelism > MANY_AT_ONCE;
  const warning =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
  return [...(isHuge ? [`${field}: ${warning}`] : []), ...podTemplateWarnings(spec.template, `${field}.template`)];
}

function warnings(job: Job, old: Job | undefined): string[] {
  if (old !== undefined && sameMeaning(job.spec, old.spec)) return [];
  return [...(old === undefined ? nameWarnings(job.metadata.name) : []), ...jobSpecWarnings(job.spec, 'spec')];
}

function completionsCell({ spec: { completions, parallelism = 0 }, status: { succeeded = 0 } }: Job): string {
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationCell({ status: { startTime, completionTime } }: Job, now: number): string {
  if (startTime === undefined) return '';
  return completionTime === undefined ? age(startTime, now) : humanDuration(Date.parse(completionTime) - Date.parse(startTime));
}

function statusCell({ metadata, status }: Job): string {
  const is = (condition: string): boolean => hasTrueCondition(status, condition);
  if (is('Complete')) return 'Complete';
  if (is('Failed')) return 'Failed';
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(is) ?? 'Running';
}

export const jobKind: Kind<Job> = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  singular: 'job',
  shortNames: [],
  categories: ['all'],
  namespaced: true,
  type: 'Job',
  storage: { resource: 'batch/jobs' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  prepareForCreate,
  prepareForUpdate: ({ spec }) => dropDisabledFields(spec.template.spec),
  validate: validateJob,
  validateUpdate: validateJobUpdate,
  warnings,
  status: { validateUpdate: validateJobStatusUpdate },
  hasGeneration: true,
  unconditionalUpdate: true,
  selectableFields: { 'status.successful': ({ status }) => String(status.succeeded ?? 0) },
  columns: [
    nameColumn,
    textColumn('Status', statusCell),
    textColumn('Completions', completionsCell),
    textColumn('Duration', durationCell),
    ageColumn,
    ...containerColumns<Job>(({ spec }) => spec.template),
    wideColumn('Selector', ({ spec }) => selectorCell(spec.selector)),
  ],
};
