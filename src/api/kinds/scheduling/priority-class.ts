import { type FieldError, forbidden, notOneOf, required } from '../../field-error.ts';
import type { PriorityClass } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { immutable } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, booleanColumn, integerColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';

const SYSTEM_PREFIX = 'system-';
const HIGHEST_USER_PRIORITY = 1_000_000_000;
/** The classes that exist in every cluster. A client cannot create others with this prefix. */
export const systemPriorities: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2 * HIGHEST_USER_PRIORITY + 1000],
  ['system-cluster-critical', 2 * HIGHEST_USER_PRIORITY],
]);
const preemptionPolicies = ['PreemptLowerPriority', 'Never'];

function validate(priorityClass: PriorityClass): FieldError[] {
  return [...validateReserved(priorityClass), ...validatePreemptionPolicy(priorityClass.preemptionPolicy)];
}

function validateReserved({ metadata: { name = '' }, value, globalDefault = false }: PriorityClass): FieldError[] {
  if (!name.startsWith(SYSTEM_PREFIX)) {
    return value > HIGHEST_USER_PRIORITY ? [forbidden('value', `maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`)] : [];
  }
  const problem = systemClassProblem(name, value, globalDefault);
  if (problem === undefined) return [];
  return [forbidden('metadata.name', `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${problem}`)];
}

function systemClassProblem(name: string, value: number, globalDefault: boolean): string | undefined {
  const priority = systemPriorities.get(name);
  if (priority === undefined) return `${name} is not a known system priority class`;
  if (priority !== value) return `value of ${name} PriorityClass must be ${priority}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function validatePreemptionPolicy(policy: string | undefined): FieldError[] {
  if (policy === undefined || preemptionPolicies.includes(policy)) return [];
  return [policy === '' ? required('preemptionPolicy') : notOneOf('preemptionPolicy', policy, preemptionPolicies)];
}

function validateUpdate(priorityClass: PriorityClass, old: PriorityClass): FieldError[] {
  return [
    ...(priorityClass.value === old.value ? [] : [forbidden('value', 'may not be changed in an update.')]),
    ...immutable(priorityClass.preemptionPolicy, old.preemptionPolicy, 'preemptionPolicy'),
  ];
}

export const priorityClassKind: Kind<PriorityClass> = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  singular: 'priorityclass',
  shortNames: ['pc'],
  categories: [],
  namespaced: false,
  type: 'PriorityClass',
  storage: { resource: 'scheduling.k8s.io/priorityclasses' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults: (priorityClass) => {
    priorityClass.preemptionPolicy ??= 'PreemptLowerPriority';
  },
  // It never grows: all that could make it grow is fixed.
  prepareForCreate: ({ metadata }) => {
    metadata.generation = 1;
  },
  validate,
  validateUpdate,
  checks: { update: ['metadataChange', 'change'] },
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    nameColumn,
    integerColumn('Value', (priorityClass) => priorityClass.value),
    booleanColumn('Global-Default', (priorityClass) => priorityClass.globalDefault ?? false),
    ageColumn,
    textColumn('PreemptionPolicy', (priorityClass) => priorityClass.preemptionPolicy ?? ''),
  ],
};
