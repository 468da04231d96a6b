import { type FieldError, invalid, notOneOf, required } from '../../field-error.ts';
import type {
  DeviceClaim,
  DeviceClaimConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
  ResourceClaimSpec,
} from '../../generated/types.ts';
import { dnsLabel, dnsSubdomain } from '../../validation/field-rules.ts';
import { validateList } from './lists.ts';
import { validateFullyQualifiedName } from './names.ts';
import { validateConfiguration, validateSelectors, validateToleration } from './selectors.ts';

const MAX_REQUESTS = 32;
const MAX_CONSTRAINTS = 32;
const MAX_CONFIGURATIONS = 32;
const MAX_ALTERNATIVES = 8;
const modes = ['All', 'ExactCount'];

/** The names that a claim's requests have: 'gpu', and 'gpu/large' for an alternative. */
export type RequestNames = ReadonlySet<string>;

export function requestNamesOf({ requests }: DeviceClaim): RequestNames {
  return new Set((requests ?? []).flatMap(({ name, firstAvailable = [] }) => [name, ...firstAvailable.map((alternative) => `${name}/${alternative.name}`)]));
}

export function setClaimDefaults({ devices }: ResourceClaimSpec): void {
  for (const { exactly, firstAvailable = [] } of devices.requests ?? []) {
    for (const request of [...(exactly === undefined ? [] : [exactly]), ...firstAvailable]) {
      if ((request.allocationMode ?? '') === '') request.allocationMode = 'ExactCount';
      if (request.allocationMode === 'ExactCount' && (request.count ?? 0) === 0) request.count = 1;
    }
  }
}

export function validateClaimSpec({ devices }: ResourceClaimSpec, field: string): FieldError[] {
  const at = `${field}.devices`;
  const names = requestNamesOf(devices);
  const { requests, constraints = [], config = [] } = devices;
  return [
    ...validateList(requests ?? [], { field: `${at}.requests`, max: MAX_REQUESTS, validate: validateRequest, key: ({ name }) => name }),
    ...validateList(constraints, { field: `${at}.constraints`, max: MAX_CONSTRAINTS, validate: (item, place) => validateConstraint(item, place, names) }),
    ...validateList(config, { field: `${at}.config`, max: MAX_CONFIGURATIONS, validate: (item, place) => validateClaimConfiguration(item, place, names) }),
  ];
}

function validateRequest({ name, exactly, firstAvailable = [] }: DeviceRequest, field: string): FieldError[] {
  const errors = dnsLabel(name, `${field}.name`);
  const rule = 'exactly one of `exactly` or `firstAvailable` is required';
  if (exactly !== undefined && firstAvailable.length > 0) return [...errors, invalid(field, null, `${rule}, but multiple fields are set`)];
  if (exactly !== undefined) return [...errors, ...validateWanted(exactly, `${field}.exactly`)];
  if (firstAvailable.length === 0) return [...errors, required(field, rule)];
  const alternatives = validateList(firstAvailable, {
    field: `${field}.firstAvailable`,
    max: MAX_ALTERNATIVES,
    validate: (item, place) => [...dnsLabel(item.name, `${place}.name`), ...validateWanted(item, place)],
    key: (item) => item.name,
  });
  return [...errors, ...alternatives];
}

/** Which devices, and how many. */
function validateWanted(wanted: ExactDeviceRequest | DeviceSubRequest, field: string): FieldError[] {
  const { deviceClassName, selectors = [], allocationMode = '', count = 0, tolerations = [] } = wanted;
  const at = `${field}.deviceClassName`;
  return [
    ...(deviceClassName === '' ? [required(at)] : dnsSubdomain(deviceClassName, at)),
    ...validateSelectors(selectors, `${field}.selectors`),
    ...validateCount(allocationMode, count, field),
    ...tolerations.flatMap((toleration, i) => validateToleration(toleration, `${field}.tolerations[${i}]`)),
  ];
}

function validateCount(mode: string, count: number, field: string): FieldError[] {
  switch (mode) {
    case 'All':
      return count === 0 ? [] : [invalid(`${field}.count`, count, "must not be specified when allocationMode is 'All'")];
    case 'ExactCount':
      return count > 0 ? [] : [invalid(`${field}.count`, count, 'must be greater than zero')];
    default:
      return [notOneOf(`${field}.allocationMode`, mode, modes)];
  }
}

function validateConstraint({ requests = [], matchAttribute, distinctAttribute }: DeviceConstraint, field: string, names: RequestNames): FieldError[] {
  const errors = validateRequestReferences(requests, `${field}.requests`, names);
  if (matchAttribute !== undefined) return [...errors, ...validateFullyQualifiedName(matchAttribute, `${field}.matchAttribute`)];
  if (distinctAttribute !== undefined) return [...errors, ...validateFullyQualifiedName(distinctAttribute, `${field}.distinctAttribute`)];
  return [...errors, required(field, 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set')];
}

const validateClaimConfiguration = (config: DeviceClaimConfiguration, field: string, names: RequestNames): FieldError[] => [
  ...validateRequestReferences(config.requests ?? [], `${field}.requests`, names),
  ...validateConfiguration(config, field),
];

export const validateRequestReferences = (requests: readonly string[], field: string, names: RequestNames): FieldError[] =>
  validateList(requests, { field, max: MAX_REQUESTS, validate: (name, at) => validateRequestReference(name, at, names), key: (name) => name });

export function validateRequestReference(name: string, field: string, names: RequestNames): FieldError[] {
  const unknown = invalid(field, name, "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'");
  const segments = name.split('/');
  if (segments.length > 2) return [unknown];
  return [...segments.flatMap((segment) => dnsLabel(segment, field)), ...(names.has(name) ? [] : [unknown])];
}
