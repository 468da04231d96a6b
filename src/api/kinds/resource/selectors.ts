import { type Checked, loadedCel } from '../../cel/environment.ts';
import { type FieldError, invalid, notOneOf, omittedValue, required, tooLong } from '../../field-error.ts';
import type { DeviceConfiguration, DeviceSelector, DeviceTaint, DeviceToleration } from '../../generated/types.ts';
import { invalidEach } from '../../validation/field-rules.ts';
import { validateLabelName } from '../../validation/labels.ts';
import { labelValueProblems } from '../../validation/names.ts';
import { validateList } from './lists.ts';
import { validateDriverName } from './names.ts';

const MAX_SELECTORS = 32;
const MAX_EXPRESSION = 10 * 1024;
const MAX_PARAMETERS = 10 * 1024;
const operators = ['Equal', 'Exists'];
const effects = ['NoExecute', 'NoSchedule', 'None'];

/** What an expression sees of a device. */
const deviceVariables = { device: { driver: 'string', attributes: 'dyn', capacity: 'dyn', allowMultipleAllocations: 'bool' } };

export const validateSelectors = (selectors: readonly DeviceSelector[], field: string): FieldError[] =>
  validateList(selectors, {
    field,
    max: MAX_SELECTORS,
    validate: ({ cel }, at) => (cel === undefined ? [required(`${at}.cel`)] : validateExpression(cel.expression, `${at}.cel.expression`)),
  });

function validateExpression(expression: string, field: string): FieldError[] {
  if (expression.length > MAX_EXPRESSION) return [tooLong(field, MAX_EXPRESSION)];
  const checked = check(expression);
  if (checked.error !== undefined) return [invalid(field, expression, `compilation failed: ${checked.error.message}`)];
  const { type = 'dyn' } = checked;
  return type === 'bool' || type === 'dyn' ? [] : [invalid(field, expression, 'must evaluate to bool')];
}

function check(expression: string): Checked {
  try {
    return loadedCel()?.check(expression, deviceVariables) ?? {};
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}

export function validateConfiguration({ opaque }: DeviceConfiguration, field: string): FieldError[] {
  if (opaque === undefined) return [required(`${field}.opaque`)];
  return [...validateDriverName(opaque.driver, `${field}.opaque.driver`), ...validateParameters(opaque.parameters, `${field}.opaque.parameters`)];
}

/** A JSON object of bounded size. */
export function validateParameters(parameters: unknown, field: string): FieldError[] {
  if (parameters === undefined || parameters === null) return [required(field)];
  if (typeof parameters !== 'object' || Array.isArray(parameters)) return [invalid(field, omittedValue, 'must be a valid JSON object')];
  return JSON.stringify(parameters).length > MAX_PARAMETERS ? [tooLong(field, MAX_PARAMETERS)] : [];
}

export function validateToleration({ key = '', operator = '', value = '', effect = '' }: DeviceToleration, field: string): FieldError[] {
  return [
    ...(key === '' ? [] : validateLabelName(key, `${field}.key`)),
    ...validateOperator(operator, value, field),
    ...(effect === '' || effects.includes(effect) ? [] : [notOneOf(`${field}.effect`, effect, effects)]),
  ];
}

function validateOperator(operator: string, value: string, field: string): FieldError[] {
  switch (operator) {
    case 'Exists':
      return value === '' ? [] : [invalid(`${field}.value`, value, 'must be empty for operator `Exists`')];
    case 'Equal':
      return invalidEach(`${field}.value`, value, labelValueProblems(value));
    case '':
      return [required(`${field}.operator`)];
    default:
      return [notOneOf(`${field}.operator`, operator, operators)];
  }
}

export function validateTaint({ key, value = '', effect }: DeviceTaint, field: string): FieldError[] {
  return [
    ...validateLabelName(key, `${field}.key`),
    ...(value === '' ? [] : invalidEach(`${field}.value`, value, labelValueProblems(value))),
    ...(effect === '' ? [required(`${field}.effect`)] : effects.includes(effect) ? [] : [notOneOf(`${field}.effect`, effect, effects)]),
  ];
}
