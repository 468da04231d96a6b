import { duplicate, type FieldError, invalid, omittedValue, required } from '../../field-error.ts';
import type { Job, JobStatus } from '../../generated/types.ts';
import { nonNegative } from '../../validation/metadata.ts';
import { hasTrueCondition, isFinished } from './job-conditions.ts';
import { readIndexes, sharedIndex } from './job-indexes.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';

/**
 * What may be reported of a job. Other controllers than the built-in one may report it, so it is watched closely; but only what
 * changes is checked, since a change of the spec may have made the rest wrong for a while.
 */
export function validateJobStatusUpdate(job: Job, old: Job): FieldError[] {
  return [
    ...validateCounts(job.status),
    ...validateOutcome(job, old),
    ...validateFinish(job, old),
    ...validateIndexSets(job, old),
    ...validatePodsLeft(job, old),
    ...validateContradictions(job),
    ...validateProgress(job, old),
  ];
}

const conditionError = (detail: string): FieldError => invalid('status.conditions', omittedValue, detail);

function validateCounts(status: JobStatus): FieldError[] {
  const { active = 0, succeeded = 0, failed = 0, ready = 0, terminating = 0, uncountedTerminatedPods: uncounted } = status;
  const errors = Object.entries({ active, succeeded, failed, ready, terminating }).flatMap(([name, count]) => nonNegative(count, `status.${name}`));
  const seen = new Set<string>();
  for (const list of ['succeeded', 'failed'] as const) {
    for (const [i, uid] of (uncounted?.[list] ?? []).entries()) {
      const field = `status.uncountedTerminatedPods.${list}[${i}]`;
      if (uid === '') errors.push(invalid(field, uid, 'must not be empty'));
      else if (seen.has(uid)) errors.push(duplicate(field, uid));
      else seen.add(uid);
    }
  }
  return errors;
}

/** Whether the truth of a condition differs between two statuses. */
const flips = (a: JobStatus, b: JobStatus, condition: string): boolean => hasTrueCondition(a, condition) !== hasTrueCondition(b, condition);

function validateOutcome({ status }: Job, { status: before }: Job): FieldError[] {
  const is = (condition: string): boolean => hasTrueCondition(status, condition);
  const changed = (condition: string): boolean => flips(status, before, condition);
  const errors: FieldError[] = [];
  const isComplete = is('Complete');
  if (isComplete && is('Failed') && (changed('Complete') || changed('Failed'))) {
    errors.push(conditionError('cannot set Complete=True and Failed=true conditions'));
  }
  if (isComplete && is('FailureTarget') && (changed('Complete') || changed('FailureTarget'))) {
    errors.push(conditionError('cannot set Complete=True and FailureTarget=true conditions'));
  }
  const { completionTime, startTime } = status;
  const timeChanged = completionTime !== before.completionTime;
  if (changed('Complete') || timeChanged) {
    if (completionTime !== undefined && !isComplete) {
      errors.push(invalid('status.completionTime', completionTime, 'cannot set completionTime when there is no Complete=True condition'));
    }
    if (completionTime === undefined && isComplete) errors.push(required('status.completionTime', 'completionTime is required for Complete jobs'));
  }
  const isBackwards = startTime !== undefined && completionTime !== undefined && Date.parse(completionTime) < Date.parse(startTime);
  if (isBackwards && (timeChanged || startTime !== before.startTime)) {
    errors.push(invalid('status.completionTime', completionTime, 'must be equal to or after `startTime`'));
  }
  if (is('Failed') && !is('FailureTarget') && (changed('Failed') || status.failedIndexes !== before.failedIndexes)) {
    errors.push(conditionError('cannot set Failed=True condition without the FailureTarget=true condition'));
  }
  if (isComplete && !is('SuccessCriteriaMet') && (changed('Complete') || changed('SuccessCriteriaMet'))) {
    errors.push(conditionError('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'));
  }
  return errors;
}

/** A finished job has started, and has nothing left to do. */
function validateFinish({ spec, status }: Job, { status: before }: Job): FieldError[] {
  if (!isFinished(status)) return [];
  const justFinished = !isFinished(before);
  const { active = 0, startTime, uncountedTerminatedPods: uncounted } = status;
  const errors: FieldError[] = [];
  if (active > 0 && (justFinished || active !== (before.active ?? 0))) {
    errors.push(invalid('status.active', active, 'active>0 is invalid for finished job'));
  }
  const neverRan = spec.suspend === true && spec.completions === 0;
  if (startTime === undefined && !neverRan && (justFinished || before.startTime !== undefined)) {
    errors.push(required('status.startTime', 'startTime is required for finished job'));
  }
  const left = (uncounted?.failed ?? []).length + (uncounted?.succeeded ?? []).length;
  if (left > 0 && (justFinished || !sameMeaning(uncounted, before.uncountedTerminatedPods))) {
    const shown = { Succeeded: uncounted?.succeeded ?? null, Failed: uncounted?.failed ?? null };
    errors.push(invalid('status.uncountedTerminatedPods', shown, 'must be empty for finished job'));
  }
  return errors;
}

function validateIndexSets({ spec, status }: Job, { status: before }: Job): FieldError[] {
  const { completedIndexes = '', failedIndexes } = status;
  const completedChanged = completedIndexes !== (before.completedIndexes ?? '');
  const failedChanged = failedIndexes !== before.failedIndexes;
  const { completions, backoffLimitPerIndex, completionMode } = spec;
  const errors: FieldError[] = [];
  const [completedField, failedField] = ['status.completedIndexes', 'status.failedIndexes'];
  const check = (text: string, field: string, name: string): void => {
    const { problem } = readIndexes(text, completions ?? 0);
    if (problem !== undefined) errors.push(invalid(field, text, `error parsing ${name}: ${problem}`));
  };
  if (completedChanged && completions !== undefined) check(completedIndexes, completedField, 'completedIndexes');
  if (failedChanged && completions !== undefined && backoffLimitPerIndex !== undefined && failedIndexes !== undefined) {
    check(failedIndexes, failedField, 'failedIndexes');
  }
  if (completedChanged && completedIndexes !== '' && completionMode !== 'Indexed') {
    errors.push(invalid(completedField, completedIndexes, 'cannot set non-empty completedIndexes when non-indexed completion mode'));
  }
  if (failedChanged && backoffLimitPerIndex === undefined && failedIndexes !== undefined) {
    errors.push(invalid(failedField, failedIndexes, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'));
  }
  if ((completedChanged || failedChanged) && completions !== undefined && failedIndexes !== undefined) {
    const shared = sharedIndex(completedIndexes, failedIndexes, completions);
    if (shared !== undefined) errors.push(invalid(failedField, failedIndexes, `failedIndexes and completedIndexes overlap at index: ${shared}`));
  }
  return errors;
}

function validatePodsLeft({ status }: Job, { status: before }: Job): FieldError[] {
  const { terminating, ready, active = 0 } = status;
  const errors: FieldError[] = [];
  const finishChanged = isFinished(status) !== isFinished(before);
  if ((terminating ?? 0) > 0 && isFinished(status) && (finishChanged || terminating !== before.terminating)) {
    errors.push(invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job'));
  }
  if (ready !== undefined && ready > active && (ready !== before.ready || active !== (before.active ?? 0))) {
    errors.push(invalid('status.ready', ready, 'cannot set more ready pods than active'));
  }
  return errors;
}

function validateContradictions({ spec, status }: Job): FieldError[] {
  const isMet = hasTrueCondition(status, 'SuccessCriteriaMet');
  const errors: FieldError[] = [];
  if (isMet && hasTrueCondition(status, 'Failed')) errors.push(conditionError('cannot set SuccessCriteriaMet=True and Failed=true conditions'));
  if (isMet && hasTrueCondition(status, 'FailureTarget')) {
    errors.push(conditionError('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'));
  }
  if (spec.successPolicy !== undefined && !isMet && hasTrueCondition(status, 'Complete')) {
    errors.push(conditionError('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'));
  }
  return errors;
}

/** What was reached is not taken back. */
function validateProgress({ spec, status }: Job, { status: before }: Job): FieldError[] {
  const errors: FieldError[] = [];
  for (const condition of ['Failed', 'Complete', 'FailureTarget']) {
    const isGone = hasTrueCondition(before, condition) && !hasTrueCondition(status, condition);
    if (isGone) errors.push(conditionError(`cannot disable the terminal ${condition}=True condition`));
  }
  const { failed = 0, succeeded = 0, completionTime, startTime } = status;
  if (failed < (before.failed ?? 0)) errors.push(invalid('status.failed', failed, 'cannot decrease the failed counter'));
  // An indexed job that runs all at once can be made smaller, and then has fewer successes.
  const canShrink = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  if (!canShrink && succeeded < (before.succeeded ?? 0)) errors.push(invalid('status.succeeded', succeeded, 'cannot decrease the succeeded counter'));
  if (completionTime !== undefined && before.completionTime !== undefined && completionTime !== before.completionTime) {
    errors.push(invalid('status.completionTime', completionTime, 'field is immutable'));
  }
  const resumes = hasTrueCondition(before, 'Suspended') && (status.conditions ?? []).some(({ type, status: is }) => type === 'Suspended' && is === 'False');
  if (before.startTime !== undefined && startTime !== before.startTime && !resumes && spec.suspend !== true) {
    errors.push(invalid('status.startTime', startTime, 'field is immutable for unsuspended job once set'));
  }
  const [wasMet, isMet] = [hasTrueCondition(before, 'SuccessCriteriaMet'), hasTrueCondition(status, 'SuccessCriteriaMet')];
  if (wasMet && !isMet) errors.push(conditionError('cannot disable the SuccessCriteriaMet=True condition'));
  if (hasTrueCondition(before, 'Complete') && !wasMet && isMet) {
    errors.push(conditionError('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'));
  }
  return errors;
}
