import { type FieldError, forbidden, invalid, required, tooLong, tooMany } from '../../field-error.ts';
import type {
  CapacityRequestPolicy,
  CapacityRequestPolicyRange,
  CounterSet,
  Device,
  DeviceAttribute,
  DeviceCounterConsumption,
} from '../../generated/types.ts';
import { compareQuantities } from '../../quantity.ts';
import { dnsLabel } from '../../validation/field-rules.ts';
import { validateBindingConditions } from './binding-conditions.ts';
import { validateList } from './lists.ts';
import { validateQualifiedName } from './names.ts';
import { validateTaint } from './selectors.ts';

const MAX_VALUE = 64;
const MAX_TAINTS = 16;
const MAX_COUNTERS = 32;
const MAX_CONSUMPTIONS = 2;
const MAX_ATTRIBUTES_AND_CAPACITIES = 32;
const MAX_OPTIONS = 10;

export function validateDevice(device: Device, field: string): FieldError[] {
  const { name, attributes = {}, capacity = {}, taints = [], consumesCounters = [], allowMultipleAllocations: isShared = false } = device;
  const size = Object.keys(attributes).length + Object.keys(capacity).length;
  const tooLarge = `the total number of attributes and capacities must not exceed ${MAX_ATTRIBUTES_AND_CAPACITIES}`;
  if (size > MAX_ATTRIBUTES_AND_CAPACITIES) return [...dnsLabel(name, `${field}.name`), invalid(field, size, tooLarge)];
  const capacityErrors = Object.entries(capacity).flatMap(([key, { value, requestPolicy }]) => {
    const at = `${field}.capacity[${key}].requestPolicy`;
    if (requestPolicy === undefined) return [];
    return isShared ? validateRequestPolicy(requestPolicy, at, value) : [forbidden(at, 'allowMultipleAllocations must be true')];
  });
  return [
    ...dnsLabel(name, `${field}.name`),
    ...Object.entries(attributes).flatMap(([key, attribute]) => [
      ...validateQualifiedName(key, `${field}.attributes`),
      ...validateAttribute(attribute, `${field}.attributes[${key}]`),
    ]),
    ...Object.keys(capacity).flatMap((key) => validateQualifiedName(key, `${field}.capacity`)),
    ...capacityErrors,
    ...validateList(taints, { field: `${field}.taints`, max: MAX_TAINTS, validate: validateTaint }),
    ...validateList(consumesCounters, {
      field: `${field}.consumesCounters`,
      max: MAX_CONSUMPTIONS,
      validate: validateConsumption,
      key: ({ counterSet }) => counterSet,
    }),
    ...validateBindingConditions(device, field),
  ];
}

const validateConsumption = ({ counterSet, counters }: DeviceCounterConsumption, field: string): FieldError[] => [
  ...(counterSet === '' ? [required(`${field}.counterSet`)] : dnsLabel(counterSet, `${field}.counterSet`)),
  ...validateCounters(counters, `${field}.counters`),
];

export const validateCounterSet = ({ name, counters }: CounterSet, field: string): FieldError[] => [
  ...(name === '' ? [required(`${field}.name`)] : dnsLabel(name, `${field}.name`)),
  ...validateCounters(counters, `${field}.counters`),
];

function validateCounters(counters: Readonly<Record<string, unknown>> = {}, field: string): FieldError[] {
  const names = Object.keys(counters);
  if (names.length === 0) return [required(field)];
  return names.length > MAX_COUNTERS ? [tooMany(field, names.length, MAX_COUNTERS)] : names.flatMap((name) => dnsLabel(name, field));
}

// semver.org, 2.0.0
const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/;

function validateAttribute(attribute: DeviceAttribute, field: string): FieldError[] {
  const { string, version } = attribute;
  const count = Object.keys(attribute).length;
  return [
    ...(string !== undefined && string.length > MAX_VALUE ? [tooLong(`${field}.string`, MAX_VALUE)] : []),
    // A text that is too long is not matched.
    ...(version !== undefined && version.length <= MAX_VALUE && !semver.test(version)
      ? [invalid(`${field}.version`, version, 'must be a string compatible with semver.org spec 2.0.0')]
      : []),
    ...(version !== undefined && version.length > MAX_VALUE ? [tooLong(`${field}.version`, MAX_VALUE)] : []),
    ...(count === 1 ? [] : [invalid(field, count === 0 ? '' : attribute, 'exactly one value must be specified')]),
  ];
}

/** What requests for a part of a capacity are rounded to. */
function validateRequestPolicy({ default: standard, validValues = [], validRange }: CapacityRequestPolicy, field: string, capacity: string): FieldError[] {
  if (validValues.length > 0 && validRange !== undefined) {
    return [forbidden(field, 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time')];
  }
  if (validValues.length === 0 && validRange === undefined) return [];
  const kind = validRange === undefined ? 'validValues' : 'validRange';
  if (standard === null || standard === undefined) return [required(`${field}.default`, `required when ${kind} is defined`)];
  return validRange === undefined
    ? validateOptions(validValues, `${field}.validValues`, { standard, capacity })
    : validateRange(validRange, `${field}.validRange`, { standard, capacity });
}

interface Amounts {
  readonly standard: string;
  readonly capacity: string;
}

function validateOptions(options: readonly string[], field: string, { standard, capacity }: Amounts): FieldError[] {
  const errors: FieldError[] = options.flatMap((option, i) =>
    i > 0 && compareQuantities(options[i - 1] ?? option, option) > 0 ? [invalid(`${field}[${i}]`, option, 'values must be sorted in ascending order')] : [],
  );
  const tooLarge = (option: string, at: string): FieldError[] =>
    compareQuantities(option, capacity) > 0 ? [invalid(at, option, `option is larger than capacity value: ${capacity}`)] : [];
  errors.push(...validateList(options, { field, max: MAX_OPTIONS, validate: tooLarge, key: (option) => option }));
  if (options.some((option) => compareQuantities(option, standard) === 0)) return errors;
  return [...errors, invalid(field, standard, 'default value is not valid according to the requestPolicy')];
}

function validateRange({ min, max }: CapacityRequestPolicyRange, field: string, { standard, capacity }: Amounts): FieldError[] {
  if (min === undefined) return [required(`${field}.min`, 'required when validRange is defined')];
  const exceeds = (a: string, b: string): boolean => compareQuantities(a, b) > 0;
  return [
    ...(exceeds(min, capacity) ? [invalid(`${field}.min`, min, `min is larger than capacity value: ${capacity}`)] : []),
    ...(exceeds(min, standard) ? [invalid(`${field}.min`, standard, `default is less than min: ${min}`)] : []),
    ...(max !== undefined && exceeds(min, max) ? [invalid(`${field}.max`, min, `min is larger than max: ${max}`)] : []),
    ...(max !== undefined && exceeds(max, capacity) ? [invalid(`${field}.max`, max, `max is larger than capacity value: ${capacity}`)] : []),
    ...(max !== undefined && exceeds(standard, max) ? [invalid(`${field}.max`, standard, `default is more than max: ${max}`)] : []),
  ];
}
