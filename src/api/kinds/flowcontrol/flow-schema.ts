import { type FieldError, invalid, notSupported, required } from '../../field-error.ts';
import type { FlowSchema, FlowSchemaSpec } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { dnsSubdomain, entry } from '../../validation/field-rules.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { validateStatus } from './conditions.ts';
import { mandatoryFlowSchemas } from './default-configuration.ts';
import { validatePolicyRules } from './policy-rules.ts';

const MAX_PRECEDENCE = 10_000;
const DEFAULT_PRECEDENCE = 1_000;
const distinguishers = ['ByNamespace', 'ByUser'];

function validate({ metadata: { name = '' }, spec, status }: FlowSchema): FieldError[] {
  const mandatory = entry(mandatoryFlowSchemas, name);
  const isChanged = mandatory !== undefined && !sameMeaning(spec, mandatory);
  return [
    ...validateSpec(spec, name),
    ...(isChanged ? [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)] : []),
    ...validateStatus(status.conditions),
  ];
}

function validateSpec(spec: FlowSchemaSpec, name: string): FieldError[] {
  const { matchingPrecedence: precedence, distinguisherMethod: method, priorityLevelConfiguration: level, rules = [] } = spec;
  const at = 'spec.matchingPrecedence';
  const levelName = 'spec.priorityLevelConfiguration.name';
  return [
    ...(precedence <= 0 ? [invalid(at, precedence, 'must be a positive value')] : []),
    ...(precedence > MAX_PRECEDENCE ? [invalid(at, precedence, `must not be greater than ${MAX_PRECEDENCE}`)] : []),
    ...(precedence === 1 && name !== 'exempt' ? [invalid(at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")] : []),
    ...(method === undefined || distinguishers.includes(method.type)
      ? []
      : [notSupported('spec.distinguisherMethod.type', { Type: method.type }, distinguishers)]),
    ...(level.name === '' ? [required(levelName, 'must reference a priority level')] : dnsSubdomain(level.name, levelName)),
    ...rules.flatMap((rule, i) => validatePolicyRules(rule, `spec.rules[${i}]`)),
  ];
}

/** Which requests belong to a priority level, and which of them to one flow. */
export const flowSchemaKind: Kind<FlowSchema> = {
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'FlowSchema',
  plural: 'flowschemas',
  singular: 'flowschema',
  shortNames: [],
  categories: [],
  namespaced: false,
  type: 'FlowSchema',
  storage: { resource: 'flowcontrol.apiserver.k8s.io/flowschemas' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults: ({ spec }) => {
    if (spec.matchingPrecedence === 0) spec.matchingPrecedence = DEFAULT_PRECEDENCE;
  },
  prepareForCreate: (schema) => {
    schema.status = {};
  },
  validate,
  checks: { update: ['metadata', 'object'], status: ['change'] },
  status: { validateUpdate: ({ status }) => validateStatus(status.conditions) },
  hasGeneration: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    nameColumn,
    textColumn('PriorityLevel', ({ spec }) => spec.priorityLevelConfiguration.name),
    textColumn('MatchingPrecedence', ({ spec }) => spec.matchingPrecedence),
    textColumn('DistinguisherMethod', ({ spec }) => spec.distinguisherMethod?.type ?? '<none>'),
    ageColumn,
    textColumn('MissingPL', ({ status }) => status.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?'),
  ],
};
