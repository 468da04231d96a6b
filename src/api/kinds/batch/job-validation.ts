import { type FieldError, invalid, notOneOf, notSupported, required, tooLong, tooMany } from '../../field-error.ts';
import type { Job, JobSpec, SuccessPolicyRule } from '../../generated/types.ts';
import { httpPathProblem } from '../../validation/formats.ts';
import { validateLabelSelector } from '../../validation/labels.ts';
import { nonNegative } from '../../validation/metadata.ts';
import { dnsLabelProblems } from '../../validation/names.ts';
import { byteLength } from '../../validation/text.ts';
import { dnsSubdomain, entry } from '../../validation/field-rules.ts';
import { internalForm } from '../pod/internal-form.ts';
import { validateFailurePolicy } from './job-failure-policy.ts';
import { readIndexes } from './job-indexes.ts';
import { selects } from '../../validation/label-selector.ts';
import { validatePodTemplate } from '../pod/pod-validation.ts';
import { validateTemplateLabels } from '../apps/workload-template.ts';

/** Labels that a job puts on its pods; those without a domain are from before labels had one. */
export const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid';
export const JOB_NAME = 'batch.kubernetes.io/job-name';
export const LEGACY_CONTROLLER_UID = 'controller-uid';
export const LEGACY_JOB_NAME = 'job-name';

export function validateJob(job: Job): FieldError[] {
  return [...validateGeneratedSelector(job), ...validateJobSpec(job.spec, 'spec'), ...validateHostnames(job)];
}

/** A selector that was to be generated must be the one that is generated: the client may have put in other labels. */
function validateGeneratedSelector({ metadata, spec }: Job): FieldError[] {
  if (spec.manualSelector === true || spec.selector === undefined) return [];
  const { uid = '', name = '' } = metadata;
  const expected = { [LEGACY_CONTROLLER_UID]: uid, [LEGACY_JOB_NAME]: name, [CONTROLLER_UID]: uid, [JOB_NAME]: name };
  const labels = spec.template.metadata.labels ?? {};
  const errors: FieldError[] = uid === '' ? [required('metadata.uid')] : [];
  for (const [label, value] of Object.entries(expected)) {
    const field = `spec.template.metadata.labels[${label}]`;
    const actual = entry(labels, label);
    if (actual === undefined) errors.push(required(field, `must be '${value}'`));
    else if (actual !== value) errors.push(invalid(field, labels, `must be '${value}'`));
  }
  if (selects(spec.selector, expected) !== false) return errors;
  return [...errors, invalid('spec.selector', spec.selector, '`selector` not auto-generated')];
}

/** The pods of an indexed job are called by their index. */
function validateHostnames({ metadata: { name = '' }, spec: { completionMode, completions = 0 } }: Job): FieldError[] {
  if (completionMode !== 'Indexed' || completions <= 0) return [];
  const longest = `${name}-${completions - 1}`;
  if (dnsLabelProblems(longest).length === 0) return [];
  return [invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${longest}`)];
}

export function validateJobSpec(spec: JobSpec, field: string): FieldError[] {
  const selector = spec.selector === undefined ? [required(`${field}.selector`)] : validateLabelSelector(spec.selector, `${field}.selector`);
  return [...validateAnyJobSpec(spec, field), ...selector, ...validateTemplateLabels(spec.template, spec.selector, `${field}.template`)];
}

const counts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;
const completionModes = ['NonIndexed', 'Indexed'];

/** What holds for jobs and for the jobs that a cron job makes. */
export function validateAnyJobSpec(spec: JobSpec, field: string): FieldError[] {
  const { completionMode } = spec;
  const errors = counts.flatMap((count) => nonNegative(spec[count] ?? 0, `${field}.${count}`));
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.push(required(`${field}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  }
  if (spec.managedBy !== undefined) errors.push(...validateManagedBy(spec.managedBy, `${field}.managedBy`));
  if (completionMode !== undefined && !completionModes.includes(completionMode)) {
    errors.push(notOneOf(`${field}.completionMode`, completionMode, completionModes));
  }
  return [
    ...errors,
    ...(completionMode === 'Indexed' ? validateIndexed(spec, field) : []),
    ...(completionMode === undefined || completionMode === 'NonIndexed' ? validateNonIndexed(spec, field) : []),
    ...validateFailurePolicy(spec, `${field}.podFailurePolicy`),
    ...validateSuccessPolicy(spec, `${field}.successPolicy`),
    ...validateReplacementPolicy(spec, `${field}.podReplacementPolicy`),
    ...validatePodTemplate(spec.template, `${field}.template`),
    ...validateRestartPolicy(spec, `${field}.template.spec.restartPolicy`),
  ];
}

const MAX_MANAGED_BY_LENGTH = 63;

/** 'acme.io/controller' */
function validateManagedBy(name: string, field: string): FieldError[] {
  const slash = name.indexOf('/');
  const length = byteLength(name) > MAX_MANAGED_BY_LENGTH ? [tooLong(field, MAX_MANAGED_BY_LENGTH)] : [];
  if (name === '') return [required(field)];
  if (slash <= 0 || slash === name.length - 1) return [invalid(field, name, 'must be a domain-prefixed path (such as "acme.io/foo")'), ...length];
  const path = name.slice(slash + 1);
  const problem = httpPathProblem(path);
  return [...dnsSubdomain(name.slice(0, slash), field), ...(problem === undefined ? [] : [invalid(field, path, problem)]), ...length];
}

const MAX_INDEXED_PARALLELISM = 100_000;
const MAX_FAILED_INDEXES = 100_000;
const MANY_COMPLETIONS = 100_000;
const MAX_WITH_MANY_COMPLETIONS = 10_000;

function validateIndexed({ completions, parallelism = 0, maxFailedIndexes, backoffLimitPerIndex }: JobSpec, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (completions === undefined) errors.push(required(`${field}.completions`, 'when completion mode is Indexed'));
  if (parallelism > MAX_INDEXED_PARALLELISM) {
    errors.push(invalid(`${field}.parallelism`, parallelism, `must be less than or equal to ${MAX_INDEXED_PARALLELISM} when completion mode is Indexed`));
  }
  const failed = `${field}.maxFailedIndexes`;
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions) {
    errors.push(invalid(failed, maxFailedIndexes, 'must be less than or equal to completions'));
  }
  if ((maxFailedIndexes ?? 0) > MAX_FAILED_INDEXES) errors.push(invalid(failed, maxFailedIndexes, `must be less than or equal to ${MAX_FAILED_INDEXES}`));
  if (completions === undefined || completions <= MANY_COMPLETIONS || backoffLimitPerIndex === undefined) return errors;
  if (maxFailedIndexes === undefined) errors.push(required(failed, `must be specified when completions is above ${MANY_COMPLETIONS}`));
  const limit = `must be less than or equal to ${MAX_WITH_MANY_COMPLETIONS} when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  if (parallelism > MAX_WITH_MANY_COMPLETIONS) errors.push(invalid(`${field}.parallelism`, parallelism, limit));
  if ((maxFailedIndexes ?? 0) > MAX_WITH_MANY_COMPLETIONS) errors.push(invalid(failed, maxFailedIndexes, limit));
  return errors;
}

const validateNonIndexed = (spec: JobSpec, field: string): FieldError[] =>
  (['backoffLimitPerIndex', 'maxFailedIndexes'] as const).flatMap((name) =>
    spec[name] === undefined ? [] : [invalid(`${field}.${name}`, spec[name], 'requires indexed completion mode')],
  );

const MAX_SUCCESS_RULES = 20;
const MAX_SUCCEEDED_INDEXES_LENGTH = 64 * 1024;

function validateSuccessPolicy({ successPolicy, completionMode, completions }: JobSpec, field: string): FieldError[] {
  if (successPolicy === undefined) return [];
  if (completionMode !== 'Indexed') return [invalid(field, internalForm('SuccessPolicy', successPolicy), 'requires indexed completion mode')];
  const rules = successPolicy.rules ?? [];
  const errors = rules.length === 0 ? [required(`${field}.rules`, 'at least one rules must be specified when the successPolicy is specified')] : [];
  if (rules.length > MAX_SUCCESS_RULES) errors.push(tooMany(`${field}.rules`, rules.length, MAX_SUCCESS_RULES));
  return [...errors, ...rules.flatMap((rule, i) => validateSuccessRule(rule, `${field}.rules[${i}]`, completions ?? 0))];
}

function validateSuccessRule({ succeededCount: count, succeededIndexes: indexes }: SuccessPolicyRule, field: string, completions: number): FieldError[] {
  const errors: FieldError[] = [];
  if (count === undefined && indexes === undefined) errors.push(required(field, 'at least one of succeededCount or succeededIndexes must be specified'));
  let total = 0;
  if (indexes !== undefined) {
    const at = `${field}.succeededIndexes`;
    if (byteLength(indexes) > MAX_SUCCEEDED_INDEXES_LENGTH) errors.push(tooLong(at, MAX_SUCCEEDED_INDEXES_LENGTH));
    const read = readIndexes(indexes, completions);
    if (read.problem === undefined) total = read.total;
    else errors.push(invalid(at, indexes, `error parsing succeededIndexes: ${read.problem}`));
  }
  if (count === undefined) return errors;
  const at = `${field}.succeededCount`;
  errors.push(...nonNegative(count, at));
  if (count > completions) errors.push(invalid(at, count, `must be less than or equal to ${completions} (the number of specified completions)`));
  if (indexes !== undefined && count > total) {
    errors.push(invalid(at, count, `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`));
  }
  return errors;
}

const replacementPolicies = ['Failed', 'TerminatingOrFailed'];

function validateReplacementPolicy({ podReplacementPolicy: policy, podFailurePolicy }: JobSpec, field: string): FieldError[] {
  const allowed = podFailurePolicy === undefined ? replacementPolicies : ['Failed'];
  return policy === undefined || allowed.includes(policy) ? [] : [notSupported(field, policy, allowed)];
}

/** Pods of a job must be able to end. */
function validateRestartPolicy({ template, podFailurePolicy }: JobSpec, field: string): FieldError[] {
  const { restartPolicy: policy = '' } = template.spec;
  if (policy === '' || policy === 'Always') return [required(field, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never') return [notOneOf(field, policy, ['OnFailure', 'Never'])];
  if (podFailurePolicy === undefined || policy === 'Never') return [];
  return [invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified')];
}
