import { duplicate, type FieldError, forbidden, invalid, notFound, notSupported, required } from '../../../field-error.ts';
import type { ContainerResizePolicy, ResourceClaim, ResourceRequirements } from '../../../generated/types.ts';
import { compareQuantities, parseQuantity, QuantityError, quantitySign, quantityValue } from '../../../quantity.ts';
import {
  isFractional,
  isHugePages,
  isOvercommitAllowed,
  validateContainerResourceName,
  validateResourceName,
  validateResourceQuantity,
} from '../../../validation/resources.ts';
import { dnsLabel, entry } from '../../../validation/field-rules.ts';
import { isPodLevelResource } from '../pod-resources.ts';

type NameRule = (name: string, field: string) => FieldError[];

export interface ResourceContext {
  /** Names of the pod's resourceClaims. */
  readonly claimNames: ReadonlySet<string>;
}

export const validateContainerResources = (resources: ResourceRequirements, field: string, context: ResourceContext): FieldError[] =>
  validateResources(resources, field, { ...context, nameRule: validateContainerResourceName });

/** Resources of a pod as a whole. */
export const validatePodLevelResources = (resources: ResourceRequirements, field: string, context: ResourceContext): FieldError[] =>
  validateResources(resources, field, { ...context, nameRule: podResourceName });

function validateResources(resources: ResourceRequirements, field: string, context: ResourceContext & { nameRule: NameRule }): FieldError[] {
  const { limits = {}, requests = {}, claims = [] } = resources;
  const errors: FieldError[] = [];
  for (const [name, quantity] of Object.entries(limits)) {
    const at = `${field}.limits[${name}]`;
    errors.push(...context.nameRule(name, at), ...validateResourceQuantity(name, quantity, at), ...validateHugePages(name, quantity, at));
  }
  for (const [name, quantity] of Object.entries(requests)) {
    const at = `${field}.requests[${name}]`;
    errors.push(...context.nameRule(name, at), ...validateResourceQuantity(name, quantity, at));
    errors.push(...validateAgainstLimit({ name, quantity, limit: entry(limits, name) }, field), ...validateHugePages(name, quantity, at));
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) errors.push(forbidden(field, 'HugePages require cpu or memory'));
  return [...errors, ...validateClaims(claims, `${field}.claims`, context.claimNames)];
}

interface Request {
  readonly name: string;
  readonly quantity: string;
  readonly limit: string | undefined;
}

function validateAgainstLimit({ name, quantity, limit }: Request, field: string): FieldError[] {
  if (limit === undefined) return isOvercommitAllowed(name) ? [] : [required(`${field}.limits`, 'Limit must be set for non overcommitable resources')];
  const order = compareQuantities(quantity, limit);
  if (order !== 0 && !isOvercommitAllowed(name)) return [invalid(`${field}.requests`, quantity, `must be equal to ${name} limit of ${limit}`)];
  return order > 0 ? [invalid(`${field}.requests`, quantity, `must be less than or equal to ${name} limit of ${limit}`)] : [];
}

const HUGE_PAGES = 'hugepages-';

/** Huge pages come as wholes: 'hugepages-2Mi' in multiples of 2Mi. */
function validateHugePages(name: string, quantity: string, field: string): FieldError[] {
  if (!isHugePages(name) || isMultipleOf(name.slice(HUGE_PAGES.length), quantity)) return [];
  return [invalid(field, quantity, `${quantity} is not positive integer multiple of ${name}`)];
}

function isMultipleOf(pageSize: string, quantity: string): boolean {
  try {
    const size = parseQuantity(pageSize);
    if (quantitySign(size) <= 0 || isFractional(pageSize)) return false;
    return quantityValue(quantity) % quantityValue(size) === 0n;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

const podLevelResources = ['cpu', 'hugepages-', 'memory'];

function podResourceName(name: string, field: string): FieldError[] {
  const errors = validateResourceName(name, field);
  return errors.length > 0 || isPodLevelResource(name) ? errors : [notSupported(field, name, podLevelResources)];
}

/** A container uses whole claims of the pod, or single requests of them, each once. */
function validateClaims(claims: readonly ResourceClaim[], field: string, claimNames: ReadonlySet<string>): FieldError[] {
  const used = new Set<string>();
  /** How many single requests of a claim are used. */
  const requests = new Map<string, number>();
  return claims.flatMap(({ name, request = '' }, i) => {
    const at = `${field}[${i}]`;
    if (name === '') return [required(at)];
    const errors = request === '' || used.has(name) ? [] : dnsLabel(request, `${at}.request`);
    const key = request === '' ? name : `${name}/${request}`;
    if (used.has(name)) errors.push(duplicate(at, name));
    else if (used.has(key)) errors.push(duplicate(at, key));
    else if (request === '') for (let n = requests.get(name) ?? 0; n > 0; n--) errors.push(duplicate(at, name));
    if (!used.has(name) && !used.has(key)) requests.set(name, (requests.get(name) ?? 0) + (request === '' ? 0 : 1));
    if (!used.has(name)) used.add(key);
    return claimNames.has(name) ? errors : [...errors, notFound(at, name, `must be one of the names in pod.spec.resourceClaims${listOf(claimNames)}`)];
  });
}

const listOf = (names: ReadonlySet<string>): string => (names.size === 0 ? ' which is empty' : `: ${[...names].sort().join(', ')}`);

const resizableResources = ['cpu', 'memory'];
const resizePolicies = ['NotRequired', 'RestartContainer'];

export function validateResizePolicy(policies: readonly ContainerResizePolicy[], field: string, podRestartPolicy: string): FieldError[] {
  const seen = new Set<string>();
  return policies.flatMap(({ resourceName: name, restartPolicy }, i) => {
    const errors = seen.has(name) ? [duplicate(`${field}[${i}]`, name)] : [];
    seen.add(name);
    errors.push(...oneOf(name, resizableResources, field), ...oneOf(restartPolicy, resizePolicies, field));
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      errors.push(invalid(field, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
    return errors;
  });
}

function oneOf(value: string, allowed: readonly string[], field: string): FieldError[] {
  if (value === '') return [required(field)];
  return allowed.includes(value) ? [] : [notSupported(field, value, allowed)];
}
