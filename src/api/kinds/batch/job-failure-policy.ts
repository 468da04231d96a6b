import { duplicate, type FieldError, invalid, notSupported, omittedValue, required, tooMany } from '../../field-error.ts';
import type { JobSpec, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyRule } from '../../generated/types.ts';
import { qualifiedName } from '../../validation/field-rules.ts';

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const MAX_PATTERNS = 20;
const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const operators = ['In', 'NotIn'];
const statuses = ['False', 'True', 'Unknown'];

/** What becomes of a job when one of its pods fails in a certain way. */
export function validateFailurePolicy(spec: JobSpec, field: string): FieldError[] {
  if (spec.podFailurePolicy === undefined) return [];
  const rules = spec.podFailurePolicy.rules ?? [];
  const { containers, initContainers = [] } = spec.template.spec;
  const names = new Set([...(containers ?? []), ...initContainers].map((container) => container.name));
  return [
    ...(rules.length > MAX_RULES ? [tooMany(`${field}.rules`, rules.length, MAX_RULES)] : []),
    ...rules.flatMap((rule, i) => validateRule(rule, `${field}.rules[${i}]`, { names, perIndex: spec.backoffLimitPerIndex !== undefined })),
  ];
}

/** '["Count" "FailIndex"]': as Go prints a list of texts. */
const listed = (values: readonly string[]): string => `valid values: [${values.map((value) => JSON.stringify(value)).join(' ')}]`;

interface RuleContext {
  readonly names: ReadonlySet<string>;
  /** Failures are counted for each index. */
  readonly perIndex: boolean;
}

function validateRule({ action, onExitCodes, onPodConditions = [] }: PodFailurePolicyRule, field: string, context: RuleContext): FieldError[] {
  const patterns = onPodConditions ?? [];
  const isBoth = onExitCodes !== undefined && patterns.length > 0;
  const isNeither = onExitCodes === undefined && patterns.length === 0;
  return [
    ...validateAction(action, `${field}.action`, context.perIndex),
    ...(onExitCodes === undefined ? [] : validateExitCodes(onExitCodes, `${field}.onExitCodes`, context.names)),
    ...validatePatterns(patterns, `${field}.onPodConditions`),
    ...(isBoth ? [invalid(field, omittedValue, 'specifying both OnExitCodes and OnPodConditions is not supported')] : []),
    ...(isNeither ? [invalid(field, omittedValue, 'specifying one of OnExitCodes and OnPodConditions is required')] : []),
  ];
}

function validateAction(action: string, field: string, perIndex: boolean): FieldError[] {
  if (action === '') return [required(field, listed(actions))];
  if (action === 'FailIndex') return perIndex ? [] : [invalid(field, action, 'requires the backoffLimitPerIndex to be set')];
  return actions.includes(action) ? [] : [notSupported(field, action, actions)];
}

function validatePatterns(patterns: readonly PodFailurePolicyOnPodConditionsPattern[], field: string): FieldError[] {
  return [
    ...(patterns.length > MAX_PATTERNS ? [tooMany(field, patterns.length, MAX_PATTERNS)] : []),
    ...patterns.flatMap(({ type, status }, i) => {
      const at = `${field}[${i}]`;
      const wrongStatus =
        status === '' ? [required(`${at}.status`, listed(statuses))] : statuses.includes(status) ? [] : [notSupported(`${at}.status`, status, statuses)];
      return [...qualifiedName(type, `${at}.type`), ...wrongStatus];
    }),
  ];
}

function validateExitCodes(requirement: PodFailurePolicyOnExitCodesRequirement, field: string, names: ReadonlySet<string>): FieldError[] {
  const { operator, containerName } = requirement;
  const values = requirement.values ?? [];
  const errors: FieldError[] = [];
  if (operator === '') errors.push(required(`${field}.operator`, listed(operators)));
  else if (!operators.includes(operator)) errors.push(notSupported(`${field}.operator`, operator, operators));
  if (containerName !== undefined && !names.has(containerName)) {
    errors.push(invalid(`${field}.containerName`, containerName, 'must be one of the container or initContainer names in the pod template'));
  }
  const at = `${field}.values`;
  if (values.length === 0) errors.push(invalid(at, requirement.values, 'at least one value is required'));
  if (values.length > MAX_EXIT_CODES) errors.push(tooMany(at, values.length, MAX_EXIT_CODES));
  const seen = new Set<number>();
  values.forEach((value, i) => {
    if (operator === 'In' && value === 0) errors.push(invalid(`${at}[${i}]`, value, 'must not be 0 for the In operator'));
    if (seen.has(value)) errors.push(duplicate(`${at}[${i}]`, value));
    seen.add(value);
  });
  const isOrdered = values.every((value, i) => i === 0 || (values[i - 1] ?? 0) <= value);
  return isOrdered ? errors : [...errors, invalid(at, values, 'must be ordered')];
}
