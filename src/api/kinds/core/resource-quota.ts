import { type FieldError, invalid, required } from '../../field-error.ts';
import type { ResourceQuota, ResourceQuotaSpec, ScopedResourceSelectorRequirement } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { compareQuantities } from '../../quantity.ts';
import { IMMUTABLE } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { amountOf, isQuotaResource, validateQuotaResourceName, validateResourceQuantity } from '../../validation/resources.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { roundUpResourceList } from '../resource-list.ts';
import { everyVerb } from '../../verbs.ts';

const computeResources = ['pods', 'cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
/** What a quota may count of the pods or claims that a scope names. */
const resourcesOfScopes: ReadonlyMap<string, readonly string[]> = new Map([
  ['Terminating', computeResources],
  ['NotTerminating', computeResources],
  ['NotBestEffort', computeResources],
  ['PriorityClass', computeResources],
  ['CrossNamespacePodAffinity', computeResources],
  ['BestEffort', ['pods']],
  ['VolumeAttributesClass', ['persistentvolumeclaims', 'requests.storage']],
]);
/** Scopes that pods are in or not: there are no values to compare. */
const plainScopes = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];
const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

type Amounts = Readonly<Record<string, string>> | undefined;

const validateAmounts = (amounts: Amounts, field: string): FieldError[] =>
  Object.entries(amounts ?? {}).flatMap(([name, quantity]) => [
    ...validateQuotaResourceName(name, `${field}[${name}]`),
    ...validateResourceQuantity(name, quantity, `${field}[${name}]`),
  ]);

const validateStatus = ({ status }: ResourceQuota): FieldError[] => [
  ...validateAmounts(status.hard, 'status.hard'),
  ...validateAmounts(status.used, 'status.used'),
];

function validateSpec(spec: ResourceQuotaSpec, field: string): FieldError[] {
  return [...validateAmounts(spec.hard, `${field}.hard`), ...validateScopes(spec, `${field}.scopes`), ...validateSelector(spec, `${field}.scopeSelector`)];
}

/** How many of the resources a scope cannot be applied to: each is an error of its own. */
function misapplied(scope: string, hard: Amounts): number {
  const allowed = resourcesOfScopes.get(scope);
  return Object.keys(hard ?? {}).filter((name) => isQuotaResource(name) && allowed?.includes(name) === false).length;
}

const conflicts = (scopes: readonly string[]): number => opposites.filter((pair) => pair.every((scope) => scopes.includes(scope))).length;
const repeat = (times: number, error: FieldError): FieldError[] => Array<FieldError>(times).fill(error);

function validateScopes({ scopes = [], hard }: ResourceQuotaSpec, field: string): FieldError[] {
  return [
    ...scopes.flatMap((scope) => [
      ...(resourcesOfScopes.has(scope) ? [] : [invalid(field, scopes, 'unsupported scope')]),
      ...repeat(misapplied(scope, hard), invalid(field, scopes, 'unsupported scope applied to resource')),
    ]),
    ...repeat(conflicts(scopes), invalid(field, scopes, 'conflicting scopes')),
  ];
}

function validateSelector({ scopeSelector, scopes, hard }: ResourceQuotaSpec, field: string): FieldError[] {
  const requirements = scopeSelector?.matchExpressions ?? [];
  const at = `${field}.matchExpressions`;
  const shown = {
    MatchExpressions: requirements.map(({ scopeName, operator, values }) => ({ ScopeName: scopeName, Operator: operator, Values: values ?? null })),
  };
  return [
    ...requirements.flatMap((requirement) => [
      ...(resourcesOfScopes.has(requirement.scopeName) ? [] : [invalid(`${at}.scopeName`, requirement.scopeName, 'unsupported scope')]),
      ...repeat(misapplied(requirement.scopeName, hard), invalid(at, shown, 'unsupported scope applied to resource')),
      ...validateRequirement(requirement, at),
    ]),
    ...repeat(conflicts(requirements.map(({ scopeName }) => scopeName)), invalid(at, scopes, 'conflicting scopes')),
  ];
}

function validateRequirement({ scopeName, operator, values = [] }: ScopedResourceSelectorRequirement, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (plainScopes.includes(scopeName) && operator !== 'Exists') {
    const scopes =
      'ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity';
    errors.push(invalid(`${field}.operator`, operator, `must be 'Exists' when scope is any of ${scopes}`));
  }
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return errors;
      return [...errors, required(`${field}.values`, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")];
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return errors;
      return [...errors, invalid(`${field}.values`, values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")];
    default:
      return [...errors, invalid(`${field}.operator`, operator, 'not a valid selector operator')];
  }
}

function validateUpdate(quota: ResourceQuota, old: ResourceQuota): FieldError[] {
  const scopes = new Set(quota.spec.scopes);
  const before = new Set(old.spec.scopes);
  const same = scopes.size === before.size && [...scopes].every((scope) => before.has(scope));
  return [...validateSpec(quota.spec, 'spec'), ...(same ? [] : [invalid('spec.scopes', quota.spec.scopes, IMMUTABLE)])];
}

/** A limit below what may be requested could never be used. */
function warnings({ spec: { hard = {} } }: ResourceQuota, old: ResourceQuota | undefined): string[] {
  if (old !== undefined) return [];
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((resource) => {
    const isBare = hard[`requests.${resource}`] === undefined && (resource === 'cpu' || resource === 'memory');
    const name = isBare ? resource : `requests.${resource}`;
    const [request, limit] = [hard[name], hard[`limits.${resource}`]];
    if (request === undefined || limit === undefined || compareQuantities(request, limit) <= 0) return [];
    return [`ResourceQuota ${name} (${request}) should be less than limits.${resource} (${limit})`];
  });
}

/** 'pods: 1/10, requests.cpu: 1/2': what is used of what may be. */
function usage({ status }: ResourceQuota, wanted: (name: string) => boolean): string {
  return Object.entries(status.hard ?? {})
    .filter(([name]) => wanted(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, hard]) => `${name}: ${amountOf(status.used, name) ?? '0'}/${hard}`)
    .join(', ');
}

const isLimit = (name: string): boolean => name.startsWith('limits.');

export const resourceQuotaKind: Kind<ResourceQuota> = {
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  singular: 'resourcequota',
  shortNames: ['quota'],
  categories: [],
  namespaced: true,
  type: 'ResourceQuota',
  storage: { resource: 'resourcequotas' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults: ({ spec, status }) => {
    for (const list of [spec.hard, status.hard, status.used]) roundUpResourceList(list);
  },
  prepareForCreate: (quota) => {
    quota.status = {};
  },
  validate: (quota) => [...validateSpec(quota.spec, 'spec'), ...validateStatus(quota)],
  validateUpdate,
  checks: { update: ['metadataChange', 'change'] },
  warnings,
  status: {
    validateUpdate: (quota) => [...((quota.metadata.resourceVersion ?? '') === '' ? [required('resourceVersion')] : []), ...validateStatus(quota)],
  },
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    nameColumn,
    textColumn('Request', (quota) => usage(quota, (name) => !isLimit(name))),
    textColumn('Limit', (quota) => usage(quota, isLimit)),
    ageColumn,
  ],
};
