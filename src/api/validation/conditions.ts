import { duplicate, type FieldError, invalid, notSupported, required, tooLong } from '../field-error.ts';
import type { Condition } from '../generated/types.ts';
import { validateLabelName } from './labels.ts';
import { byteLength, mismatch } from './text.ts';

const REASON_MAX_LENGTH = 1024;
const MESSAGE_MAX_LENGTH = 32 * 1024;
const statuses = ['False', 'True', 'Unknown'];
const reasonFormat = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonExpression = new RegExp(`^${reasonFormat}$`);
const reasonMessage =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
const reasonExamples = ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB'];

/** The conditions of kinds that use the type which all kinds share (a budget for disruptions, a service). */
export function validateConditions(conditions: readonly Condition[], field: string): FieldError[] {
  const seen = new Set<string>();
  return conditions.flatMap((condition, i) => {
    const repeated = seen.has(condition.type) ? [duplicate(`${field}[${i}].type`, condition.type)] : [];
    seen.add(condition.type);
    return [...repeated, ...validateCondition(condition, `${field}[${i}]`)];
  });
}

function validateCondition(condition: Condition, field: string): FieldError[] {
  const errors = validateLabelName(condition.type, `${field}.type`);
  const generation = condition.observedGeneration ?? 0;
  if (!statuses.includes(condition.status)) errors.push(notSupported(`${field}.status`, condition.status, statuses));
  if (generation < 0) errors.push(invalid(`${field}.observedGeneration`, generation, 'must be greater than or equal to zero'));
  if ((condition.lastTransitionTime ?? '') === '') errors.push(required(`${field}.lastTransitionTime`));
  errors.push(...validateReason(condition.reason, `${field}.reason`));
  if (byteLength(condition.message) > MESSAGE_MAX_LENGTH) errors.push(tooLong(`${field}.message`, MESSAGE_MAX_LENGTH));
  return errors;
}

function validateReason(reason: string, field: string): FieldError[] {
  if (reason === '') return [required(field)];
  const errors = reasonExpression.test(reason) ? [] : [invalid(field, reason, mismatch(reasonMessage, reasonFormat, ...reasonExamples))];
  return byteLength(reason) > REASON_MAX_LENGTH ? [...errors, tooLong(field, REASON_MAX_LENGTH)] : errors;
}
