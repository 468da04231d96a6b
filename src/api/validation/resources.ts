import { type FieldError, invalid } from '../field-error.ts';
import { compareQuantities, parseQuantity, quantitySign, quantityValue, roundUpToMilli } from '../quantity.ts';
import { labelKeyProblems } from './names.ts';

/** The names of resources, as Kubernetes sorts them into families, and the amounts they may have. */

const REQUESTS_PREFIX = 'requests.';
const HUGE_PAGES_PREFIX = 'hugepages-';
const DEFAULT_NAMESPACE = 'kubernetes.io/';

const containerResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
const countedObjects: ReadonlySet<string> = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);
const quotaResources: ReadonlySet<string> = new Set([
  ...containerResources,
  ...countedObjects,
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);
const standardResources: ReadonlySet<string> = new Set([...quotaResources, 'storage']);

export const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES_PREFIX);
const isQuotaHugePages = (name: string): boolean => isHugePages(name) || name.startsWith(`${REQUESTS_PREFIX}${HUGE_PAGES_PREFIX}`);
/** What quotas count under a name without a domain. */
export const isQuotaResource = (name: string): boolean => quotaResources.has(name) || isQuotaHugePages(name);
/** A name without a domain, or in Kubernetes' own. */
export const isNativeResource = (name: string): boolean => !name.includes('/') || name.includes(DEFAULT_NAMESPACE);
export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePages(name);
/** An extended resource: 'example.com/gpu'. It must also fit into a quota with 'requests.' before it. */
export const isExtendedResource = (name: string): boolean =>
  !isNativeResource(name) && !name.startsWith(REQUESTS_PREFIX) && labelKeyProblems(`${REQUESTS_PREFIX}${name}`).length === 0;
/** Resources that come whole: a pod, a device. */
export const isIntegerResource = (name: string): boolean => countedObjects.has(name) || isExtendedResource(name);

export function validateResourceName(name: string, field: string): FieldError[] {
  const errors = labelKeyProblems(name).map((wrong) => invalid(field, name, wrong));
  if (errors.length > 0 || name.includes('/') || standardResources.has(name) || isQuotaHugePages(name)) return errors;
  return [invalid(field, name, 'must be a standard resource type or fully qualified')];
}

export function validateContainerResourceName(name: string, field: string): FieldError[] {
  const errors = validateResourceName(name, field);
  if (!name.includes('/')) {
    if (!containerResources.has(name) && !isHugePages(name)) errors.push(invalid(field, name, 'must be a standard resource for containers'));
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.push(invalid(field, name, "doesn't follow extended resource name standard"));
  }
  return errors;
}

export function validateQuotaResourceName(name: string, field: string): FieldError[] {
  const errors = validateResourceName(name, field);
  return name.includes('/') || isQuotaResource(name) ? errors : [...errors, invalid(field, name, 'must be a standard resource for quota')];
}

/** An amount of a resource: not negative, and whole where the resource is. */
export function validateResourceQuantity(resource: string, quantity: string, field: string): FieldError[] {
  const errors = nonNegativeQuantity(quantity, field);
  if (isIntegerResource(resource) && isFractional(quantity)) errors.push(invalid(field, quantity, 'must be an integer'));
  return errors;
}

export function isFractional(quantity: string): boolean {
  const { unscaled, exponent } = roundUpToMilli(parseQuantity(quantity));
  return exponent < 0 && unscaled % 10n ** BigInt(-exponent) !== 0n;
}

export function nonNegativeQuantity(quantity: string, field: string): FieldError[] {
  return quantitySign(quantity) < 0 ? [invalid(field, quantity, 'must be greater than or equal to 0')] : [];
}

export function positiveQuantity(quantity: string, field: string): FieldError[] {
  return quantitySign(quantity) <= 0 ? [invalid(field, quantity, 'must be greater than zero')] : [];
}

/** The check that volumes have had longest; it shows the value as a number. */
export function validateBasicResource(quantity: string, field: string): FieldError[] {
  const value = quantityValue(quantity);
  return value < 0n ? [invalid(field, value, 'must be a valid resource quantity')] : [];
}

/** The amount of a resource in a list; names like 'constructor' are names like any other. */
export const amountOf = (list: Readonly<Record<string, string>> | undefined, name: string): string | undefined =>
  list !== undefined && Object.hasOwn(list, name) ? list[name] : undefined;

/** Whether two lists have the same amounts, however they are written: 1Gi is 1073741824. */
export function equalResourceLists(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const entries = Object.entries(a);
  if (entries.length !== Object.keys(b).length) return false;
  return entries.every(([name, left]) => {
    const right = amountOf(b, name);
    return right !== undefined && (left === right || compareQuantities(left, right) === 0);
  });
}
