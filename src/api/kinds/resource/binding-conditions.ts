import { duplicate, type FieldError, invalid } from '../../field-error.ts';
import { validateLabelName } from '../../validation/labels.ts';
import { validateList } from './lists.ts';
import { repeats } from '../../validation/repeats.ts';

const MAX_CONDITIONS = 4;

interface BindingConditions {
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
}

/** What a pod waits for before it is bound to a node with the device, and what ends the waiting: none, or both. */
export function validateBindingConditions({ bindingConditions: success = [], bindingFailureConditions: failure = [] }: BindingConditions, field: string) {
  const at = { success: `${field}.bindingConditions`, failure: `${field}.bindingFailureConditions` };
  const errors: FieldError[] = [
    ...validateList(success, { field: at.success, max: MAX_CONDITIONS, validate: validateLabelName }),
    ...validateList(failure, { field: at.failure, max: MAX_CONDITIONS, validate: validateLabelName }),
  ];
  // More are not looked at.
  if (success.length > MAX_CONDITIONS || failure.length > MAX_CONDITIONS) return errors;
  const [repeated, repeatedFailure] = [repeats(success), repeats(failure)];
  for (const [i, condition] of success.entries()) if (repeated[i]) errors.push(duplicate(`${at.success}[${i}]`, condition));
  for (const [i, condition] of failure.entries()) {
    if (repeatedFailure[i]) errors.push(duplicate(`${at.failure}[${i}]`, condition));
    if (success.includes(condition)) errors.push(invalid(`${at.failure}[${i}]`, condition, 'bindingFailureConditions must not overlap with bindingConditions'));
  }
  if (success.length === 0 && failure.length > 0) {
    errors.push(invalid(at.success, success, 'bindingConditions are required to use bindingFailureConditions'));
  }
  if (failure.length === 0 && success.length > 0) {
    errors.push(invalid(at.failure, failure, 'bindingFailureConditions are required to use bindingConditions'));
  }
  return errors;
}
