import { describe, expect, test } from 'vitest';
import type { FlowSchema, FlowSchemaSpec, PriorityLevelConfiguration, PriorityLevelConfigurationSpec } from '../../api/generated/types.ts';
import {
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from '../../api/kinds/flowcontrol/default-configuration.ts';
import { parseRequestInfo } from '../../api/request-info.ts';
import { FlowConfiguration } from './flow-configuration.ts';

const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
const schema = (name: string, spec: FlowSchemaSpec): FlowSchema => ({ apiVersion, kind: 'FlowSchema', metadata: { name }, spec, status: {} });
const level = (name: string, spec: PriorityLevelConfigurationSpec): PriorityLevelConfiguration => ({
  apiVersion,
  kind: 'PriorityLevelConfiguration',
  metadata: { name },
  spec,
  status: {},
});
const schemas = Object.entries({ ...mandatoryFlowSchemas, ...suggestedFlowSchemas }).map(([name, spec]) => schema(name, spec));
const levels = Object.entries({ ...mandatoryPriorityLevels, ...suggestedPriorityLevels }).map(([name, spec]) => level(name, spec));

const forJane = (spec: Partial<FlowSchemaSpec> = {}): FlowSchemaSpec => ({
  priorityLevelConfiguration: { name: 'own' },
  matchingPrecedence: 500,
  rules: [
    {
      subjects: [{ kind: 'User', user: { name: 'jane' } }],
      resourceRules: [{ verbs: ['list'], apiGroups: [''], resources: ['pods', 'pods/log'], namespaces: ['a', 'b'] }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/metrics/*'] }],
    },
  ],
  ...spec,
});
const own = level('own', {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 245, limitResponse: { type: 'Queue', queuing: { queues: 4, handSize: 2, queueLengthLimit: 10 } } },
});

const jane = { name: 'jane', groups: ['system:authenticated'] };
const asked = (path: string, user = jane, configuration = new FlowConfiguration([...schemas, schema('jane', forJane())], [...levels, own])) =>
  configuration.classify(user, parseRequestInfo('GET', path, new URLSearchParams()));

test('the objects of every cluster leave all requests to the built-in levels', () => {
  const configuration = new FlowConfiguration(schemas, levels);
  for (const path of ['/api/v1/pods', '/healthz']) expect(asked(path, jane, configuration)).toEqual({ type: 'built-in', level: undefined });
});

describe('a FlowSchema', () => {
  test('gives requests that match it to its level, which has its share of the seats', () => {
    // The shares of all levels: 245 of 490.
    expect(asked('/api/v1/namespaces/a/pods')).toEqual({ type: 'configured', level: { name: 'own', share: 0.5, queueLength: 40 }, flow: 'jane' });
    expect(asked('/metrics/a')).toMatchObject({ type: 'configured' });
  });

  test.each([
    ['another verb', '/api/v1/namespaces/a/pods/p'],
    ['another namespace', '/api/v1/namespaces/c/pods'],
    ['no namespace', '/api/v1/pods'],
    ['another resource', '/api/v1/namespaces/a/services'],
    ['another group', '/apis/apps/v1/namespaces/a/pods'],
    ['another path', '/metrics'],
  ])('leaves %s to others', (_, path) => {
    expect(asked(path)).toEqual({ type: 'built-in', level: undefined });
  });

  test('is about its subjects', () => {
    const path = '/api/v1/namespaces/a/pods';
    expect(asked(path, { name: 'joe', groups: [] }).type).toBe('built-in');
    const subjects = [
      { kind: 'Group', group: { name: 'team' } },
      { kind: 'ServiceAccount', serviceAccount: { namespace: 'a', name: '*' } },
    ];
    const rules = forJane().rules?.map((rule) => ({ ...rule, subjects }));
    const configuration = new FlowConfiguration([schema('team', forJane({ rules: rules ?? [] }))], [own]);
    expect(asked(path, { name: 'joe', groups: ['team'] }, configuration).type).toBe('configured');
    expect(asked(path, { name: 'system:serviceaccount:a:robot', groups: [] }, configuration).type).toBe('configured');
    expect(asked(path, { name: 'system:serviceaccount:b:robot', groups: [] }, configuration).type).toBe('built-in');
  });

  test('tells flows apart', () => {
    const flow = (type: string): string | undefined => {
      const configuration = new FlowConfiguration([schema('s', forJane({ distinguisherMethod: { type } }))], [own]);
      const found = asked('/api/v1/namespaces/b/pods', jane, configuration);
      return found.type === 'configured' ? found.flow : undefined;
    };
    expect([flow('ByUser'), flow('ByNamespace')]).toEqual(['s/jane', 's/b']);
  });

  test('with a lower precedence comes first, then the one with the smaller name', () => {
    const exempt = level('none', { type: 'Limited', limited: { nominalConcurrencyShares: 0, limitResponse: { type: 'Reject' } } });
    const to = (name: string, precedence: number): FlowSchemaSpec => forJane({ priorityLevelConfiguration: { name }, matchingPrecedence: precedence });
    const configuration = new FlowConfiguration([schema('b', to('own', 5)), schema('a', to('none', 5)), schema('c', to('own', 9))], [own, exempt]);
    expect(asked('/api/v1/namespaces/a/pods', jane, configuration)).toMatchObject({ level: { name: 'none', share: 0, queueLength: 0 } });
  });

  test('may give requests to a level of every cluster', () => {
    const configuration = new FlowConfiguration([schema('s', forJane({ priorityLevelConfiguration: { name: 'workload-high' } }))], levels);
    expect(asked('/api/v1/namespaces/a/pods', jane, configuration)).toEqual({ type: 'built-in', level: 'system' });
    const missing = new FlowConfiguration([schema('s', forJane({ priorityLevelConfiguration: { name: 'constructor' } }))], levels);
    expect(asked('/api/v1/namespaces/a/pods', jane, missing)).toEqual({ type: 'built-in', level: undefined });
  });
});

test('a default level that was changed has seats of its own', () => {
  const changed = level('global-default', { type: 'Limited', limited: { nominalConcurrencyShares: 20, limitResponse: { type: 'Reject' } } });
  const others = levels.filter(({ metadata }) => metadata.name !== 'global-default');
  const configuration = new FlowConfiguration(schemas, [...others, changed]);
  expect(asked('/api/v1/pods', jane, configuration)).toMatchObject({ type: 'configured', level: { name: 'global-default' }, flow: 'global-default/jane' });
  expect(asked('/api/v1/pods', { name: 'system:kube-scheduler', groups: ['system:authenticated'] }, configuration).type).toBe('built-in');
});
