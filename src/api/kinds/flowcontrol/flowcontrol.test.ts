import { describe, expect, test } from 'vitest';
import { created, type Raw, refusal, row, updateRefusal } from '../try-kind.ts';
import { mandatoryFlowSchemas, mandatoryPriorityLevels, suggestedFlowSchemas, suggestedPriorityLevels } from './default-configuration.ts';
import { flowSchemaKind } from './flow-schema.ts';
import { priorityLevelConfigurationKind } from './priority-level-configuration.ts';

describe('a FlowSchema', () => {
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true };
  const rules = [{ subjects: [{ kind: 'User', user: { name: 'jane' } }], resourceRules: [everything] }];
  const schema = (spec: Raw = {}, name = 'own'): Raw => ({
    metadata: { name },
    spec: { priorityLevelConfiguration: { name: 'own' }, matchingPrecedence: 500, rules, ...spec },
  });

  test('is accepted, with a precedence of 1000 unless it says another', () => {
    expect(refusal(flowSchemaKind, schema())).toEqual([]);
    expect(refusal(flowSchemaKind, schema({}, 'constructor'))).toEqual([]);
    expect(created(flowSchemaKind, schema({ matchingPrecedence: 0 })).spec.matchingPrecedence).toBe(1000);
  });

  test.each<[string, Raw, ...string[]]>([
    ['precedence', { matchingPrecedence: -1 }, 'FieldValueInvalid spec.matchingPrecedence: Invalid value: -1: must be a positive value'],
    ['precedence', { matchingPrecedence: 10_001 }, 'FieldValueInvalid spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000'],
    [
      'precedence of exempt',
      { matchingPrecedence: 1 },
      "FieldValueInvalid spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
    ],
    [
      'distinguisher',
      { distinguisherMethod: { type: 'ByMoon' } },
      'FieldValueNotSupported spec.distinguisherMethod.type: Unsupported value: {"Type":"ByMoon"}: supported values: "ByNamespace", "ByUser"',
    ],
    [
      'level',
      { priorityLevelConfiguration: { name: '' } },
      'FieldValueRequired spec.priorityLevelConfiguration.name: Required value: must reference a priority level',
    ],
    [
      'subjects and rules',
      { rules: [{ subjects: [] }] },
      'FieldValueRequired spec.rules[0].subjects: Required value: subjects must contain at least one value',
      'FieldValueRequired spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
    ],
    [
      'one subject of its kind',
      { rules: [{ subjects: [{ kind: 'Group', user: { name: 'a' } }, { kind: 'Cat' }], resourceRules: [everything] }] },
      "FieldValueRequired spec.rules[0].subjects[0].group: Required value: group is required when subject kind is 'Group'",
      "FieldValueForbidden spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'",
      'FieldValueNotSupported spec.rules[0].subjects[1].kind: Unsupported value: "Cat": supported values: "Group", "ServiceAccount", "User"',
    ],
    [
      'rules',
      {
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'a' } }],
            resourceRules: [{ verbs: ['*', 'get'], apiGroups: [], resources: ['*', 'pods'], namespaces: [] }],
            nonResourceRules: [{ verbs: ['eat'], nonResourceURLs: ['healthz', '/a*'] }],
          },
        ],
      },
      `FieldValueInvalid spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`,
      'FieldValueRequired spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group',
      `FieldValueInvalid spec.rules[0].resourceRules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources`,
      'FieldValueRequired spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace',
      'FieldValueNotSupported spec.rules[0].nonResourceRules[0].verbs: Unsupported value: ["eat"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
      'FieldValueInvalid spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "healthz": must start with slash',
      'FieldValueInvalid spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "/a*": wildcard can only do suffix matching',
    ],
  ])('has a valid %s', (_, spec, ...causes) => {
    expect(refusal(flowSchemaKind, schema(spec))).toEqual(causes);
  });

  test('of the server keeps its spec', () => {
    const exempt = { metadata: { name: 'exempt' }, spec: structuredClone(mandatoryFlowSchemas['exempt']) };
    expect(refusal(flowSchemaKind, exempt)).toEqual([]);
    const changed = updateRefusal(flowSchemaKind, created(flowSchemaKind, exempt), ({ spec }) => {
      spec.rules = [];
    });
    expect(changed).toEqual([expect.stringContaining("spec of 'exempt' must equal the fixed value")]);
  });

  test('is printed with its level', () => {
    expect(row(flowSchemaKind, created(flowSchemaKind, schema()))).toMatchObject({ PriorityLevel: 'own', MatchingPrecedence: 500, MissingPL: '?' });
  });
});

describe('a PriorityLevelConfiguration', () => {
  const level = (spec: Raw, name = 'own'): Raw => ({ metadata: { name }, spec });
  const limited = (of: Raw): Raw => level({ type: 'Limited', limited: of });

  test('gets its defaults', () => {
    expect(created(priorityLevelConfigurationKind, limited({ limitResponse: { type: 'Queue', queuing: {} } })).spec.limited).toEqual({
      nominalConcurrencyShares: 30,
      lendablePercent: 0,
      limitResponse: { type: 'Queue', queuing: { handSize: 8, queues: 64, queueLengthLimit: 50 } },
    });
  });

  test.each<[string, Raw, ...string[]]>([
    [
      'is exempt by name alone',
      level({ type: 'Exempt' }),
      "FieldValueInvalid spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'",
    ],
    ['has limits', level({ type: 'Limited' }), 'FieldValueRequired spec.limited: Required value: must not be empty when type is Limited'],
    [
      'queues by a queuing configuration',
      limited({ limitResponse: { type: 'Queue' } }),
      'FieldValueRequired spec.limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited',
    ],
    [
      'draws hands that a hash has bits for',
      limited({ limitResponse: { type: 'Queue', queuing: { queues: 1024, handSize: 7, queueLengthLimit: -1 } } }),
      'FieldValueInvalid spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive',
      'FieldValueInvalid spec.limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 1024 and handSize 7 should not be greater than 60',
    ],
    [
      'has shares of its own',
      limited({ nominalConcurrencyShares: -1, lendablePercent: 101, borrowingLimitPercent: -1, limitResponse: { type: 'Reject' } }),
      'FieldValueInvalid spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
      'FieldValueInvalid spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
      'FieldValueInvalid spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer',
    ],
  ])('%s', (_, raw, ...causes) => {
    expect(refusal(priorityLevelConfigurationKind, raw)).toEqual(causes);
  });

  test('of the server keeps its spec, except for what exempt lends', () => {
    const mandatory = (name: string): Raw => ({ metadata: { name }, spec: structuredClone(mandatoryPriorityLevels[name]) });
    const change = (name: string, lendable: number): string[] =>
      updateRefusal(priorityLevelConfigurationKind, created(priorityLevelConfigurationKind, mandatory(name)), ({ spec }) => {
        Object.assign(spec.limited ?? spec.exempt ?? {}, { lendablePercent: lendable });
      });
    expect(change('exempt', 10)).toEqual([]);
    expect(change('catch-all', 10)).toEqual([expect.stringContaining("spec of 'catch-all' must equal the fixed value")]);
  });
});

test('the default configuration is accepted as it is', () => {
  const schemas = Object.entries({ ...mandatoryFlowSchemas, ...suggestedFlowSchemas });
  const levels = Object.entries({ ...mandatoryPriorityLevels, ...suggestedPriorityLevels });
  for (const [name, spec] of schemas) {
    expect(refusal(flowSchemaKind, { metadata: { name }, spec: structuredClone(spec) }), name).toEqual([]);
    expect(levels.map(([level]) => level)).toContain(spec.priorityLevelConfiguration.name);
  }
  for (const [name, spec] of levels) {
    expect(created(priorityLevelConfigurationKind, { metadata: { name }, spec: structuredClone(spec) }).spec, name).toEqual(spec);
    expect(refusal(priorityLevelConfigurationKind, { metadata: { name }, spec: structuredClone(spec) }), name).toEqual([]);
  }
});
