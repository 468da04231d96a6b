import { duplicate, type FieldError, forbidden, invalid, required } from '../../field-error.ts';
import type { LimitRange, LimitRangeItem } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { compareQuantities, quantityToNumber } from '../../quantity.ts';
import { labelKeyProblems, nameIsDnsSubdomain } from '../../validation/names.ts';
import { amountOf, isOvercommitAllowed, validateContainerResourceName, validateResourceName } from '../../validation/resources.ts';
import { plainColumns } from '../../printer-columns.ts';
import { roundUpResourceList } from '../resource-list.ts';
import { everyVerb } from '../../verbs.ts';

type List = 'max' | 'min' | 'default' | 'defaultRequest' | 'maxLimitRequestRatio';
const lists: readonly List[] = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'];
const standardTypes = ['Pod', 'Container', 'PersistentVolumeClaim'];

function defaults(range: LimitRange): void {
  for (const item of range.spec.limits ?? []) {
    if (item.type === 'Container') defaultContainerLimits(item);
    for (const list of lists) roundUpResourceList(item[list]);
  }
}

/** Missing values follow from the others: the limit from the maximum, the request from the limit, or else from the minimum. */
function defaultContainerLimits(item: LimitRangeItem): void {
  const limit = { ...item.max, ...item.default };
  const request = { ...item.min, ...limit, ...item.defaultRequest };
  if (Object.keys(limit).length > 0) item.default = limit;
  if (Object.keys(request).length > 0) item.defaultRequest = request;
}

function validate(range: LimitRange): FieldError[] {
  const types = new Set<string>();
  return (range.spec.limits ?? []).flatMap((item, i) => {
    const field = `spec.limits[${i}]`;
    const repeated = types.has(item.type) ? [duplicate(`${field}.type`, item.type)] : [];
    types.add(item.type);
    return [...validateType(item.type, `${field}.type`), ...repeated, ...validateNames(item, field), ...validateAmounts(item, field)];
  });
}

function validateType(type: string, field: string): FieldError[] {
  const errors = labelKeyProblems(type).map((wrong) => invalid(field, type, wrong));
  if (errors.length > 0 || type.includes('/') || standardTypes.includes(type)) return errors;
  return [invalid(field, type, 'must be a standard limit type or fully qualified')];
}

function validateNames(item: LimitRangeItem, field: string): FieldError[] {
  const { type } = item;
  const validateName = type === 'Pod' || type === 'Container' ? validateContainerResourceName : validateResourceName;
  const names = (list: List): FieldError[] => Object.keys(item[list] ?? {}).flatMap((name) => validateName(name, `${field}.${list}[${name}]`));
  const defaultLists: readonly List[] = ['default', 'defaultRequest'];
  const ofDefaults =
    type === 'Pod'
      ? defaultLists.filter((list) => item[list] !== undefined).map((list) => forbidden(`${field}.${list}`, "may not be specified when `type` is 'Pod'"))
      : defaultLists.flatMap(names);
  const hasStorage = item.min?.storage !== undefined || item.max?.storage !== undefined;
  const needsStorage =
    type === 'PersistentVolumeClaim' && !hasStorage
      ? [required(`${field}.limits`, 'either minimum or maximum storage value is required, but neither was provided')]
      : [];
  return [...names('max'), ...names('min'), ...ofDefaults, ...needsStorage, ...names('maxLimitRequestRatio')];
}

function validateAmounts(item: LimitRangeItem, field: string): FieldError[] {
  const resources = new Set(lists.flatMap((list) => Object.keys(item[list] ?? {})));
  return [...resources].flatMap((name) => validateResource(item, name, field));
}

/** Kubernetes' message for one amount that is larger than another: where, the value it shows, and what both are called. */
interface Order {
  readonly list: List;
  readonly shown: string | undefined;
  readonly smaller: readonly [name: string, value: string | undefined];
  readonly larger: readonly [name: string, value: string | undefined];
}

function validateResource(item: LimitRangeItem, name: string, field: string): FieldError[] {
  const [min, max, ratio] = [amountOf(item.min, name), amountOf(item.max, name), amountOf(item.maxLimitRequestRatio, name)];
  const [limit, request] = item.type === 'Pod' ? [undefined, undefined] : [amountOf(item.default, name), amountOf(item.defaultRequest, name)];
  const orders: readonly Order[] = [
    { list: 'min', shown: min, smaller: ['min value', min], larger: ['max value', max] },
    { list: 'defaultRequest', shown: request, smaller: ['min value', min], larger: ['default request value', request] },
    { list: 'defaultRequest', shown: request, smaller: ['default request value', request], larger: ['max value', max] },
    { list: 'defaultRequest', shown: request, smaller: ['default request value', request], larger: ['default limit value', limit] },
    { list: 'default', shown: min, smaller: ['min value', min], larger: ['default value', limit] },
    { list: 'default', shown: max, smaller: ['default value', limit], larger: ['max value', max] },
  ];
  const errors = orders.flatMap(({ list, shown, smaller: [a, low], larger: [b, high] }) => {
    if (low === undefined || high === undefined || compareQuantities(low, high) <= 0) return [];
    return [invalid(`${field}.${list}[${name}]`, shown, `${a} ${low} is greater than ${b} ${high}`)];
  });
  if (ratio !== undefined) errors.push(...validateRatio(ratio, { min, max }, `${field}.maxLimitRequestRatio[${name}]`));
  if (!isOvercommitAllowed(name) && limit !== undefined && request !== undefined && compareQuantities(limit, request) !== 0) {
    errors.push(invalid(`${field}.defaultRequest[${name}]`, request, `default value ${limit} must equal to defaultRequest value ${request} in ${name}`));
  }
  return errors;
}

function validateRatio(ratio: string, { min, max }: { min: string | undefined; max: string | undefined }, field: string): FieldError[] {
  const errors = compareQuantities(ratio, '1') < 0 ? [invalid(field, ratio, `ratio ${ratio} is less than 1`)] : [];
  if (min === undefined || max === undefined) return errors;
  const most = quantityToNumber(max) / quantityToNumber(min);
  if (quantityToNumber(ratio) > most) errors.push(invalid(field, ratio, `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`));
  return errors;
}

export const limitRangeKind: Kind<LimitRange> = {
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  plural: 'limitranges',
  singular: 'limitrange',
  shortNames: ['limits'],
  categories: [],
  namespaced: true,
  type: 'LimitRange',
  storage: { resource: 'limitranges' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  // A range without a name gets one; its uid is as good as any other.
  prepareForCreate: ({ metadata }) => {
    if ((metadata.name ?? '') === '' && metadata.uid !== undefined) metadata.name = metadata.uid;
  },
  validate,
  checks: { update: ['metadata', 'object'] },
  hasGeneration: false,
  createOnUpdate: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: plainColumns,
};
