import { describe, expect, test } from 'vitest';
import type { ClusterRole, ClusterRoleBinding, PolicyRule, RoleBinding, Subject } from '../../../api/generated/types.ts';
import { rbacGroup } from '../../../api/kinds/rbac/policy-rules.ts';
import type { RequestInfo } from '../../../api/request-info.ts';
import { RbacAuthorizer } from './authorizer.ts';
import { describeRules, missingRules, ruleAllows } from './rule.ts';

const asked = (verb: string, what: string, name = '', namespace = ''): RequestInfo => {
  const [group = '', resource = '', ...parts] = what.split('/');
  return { type: 'resource', verb, group, version: 'v1', resource, subresource: parts.join('/'), name, namespace };
};
const path = (text: string, verb = 'get'): RequestInfo => ({ type: 'path', verb, path: text });
const rule = (fields: Partial<PolicyRule>): PolicyRule => ({ verbs: ['get'], ...fields });
const pods = rule({ apiGroups: [''], resources: ['pods'] });

describe('a rule', () => {
  test.each<[string, PolicyRule, RequestInfo, boolean]>([
    ['what it names', pods, asked('get', '/pods', 'web', 'a'), true],
    ['another verb', pods, asked('list', '/pods'), false],
    ['another group', pods, asked('get', 'apps/pods'), false],
    ['a part that it does not name', pods, asked('get', '/pods/log'), false],
    ['a part of anything', rule({ apiGroups: ['*'], resources: ['*/scale'] }), asked('get', 'apps/deployments/scale'), true],
    ['the whole, where it names a part of anything', rule({ apiGroups: ['*'], resources: ['*/scale'] }), asked('get', 'apps/deployments'), false],
    ['a part that only ends so', rule({ apiGroups: ['*'], resources: ['*/scale'] }), asked('get', 'apps/deployments/rescale'), false],
    ['parts, where it names everything', rule({ apiGroups: ['*'], resources: ['*'] }), asked('get', 'apps/deployments/scale'), true],
    ['the object that it names', rule({ apiGroups: [''], resources: ['pods'], resourceNames: ['web'] }), asked('get', '/pods', 'web'), true],
    ['another object', rule({ apiGroups: [''], resources: ['pods'], resourceNames: ['web'] }), asked('get', '/pods', 'db'), false],
    ['all of them, where it names one', rule({ apiGroups: [''], resources: ['pods'], resourceNames: ['web'] }), asked('get', '/pods'), false],
    ['a path', rule({ nonResourceURLs: ['/version'] }), path('/version'), true],
    ['a path that begins so', rule({ nonResourceURLs: ['/api/*'] }), path('/api/v1'), true],
    ['the beginning itself', rule({ nonResourceURLs: ['/api/*'] }), path('/api'), false],
    ['every path', rule({ verbs: ['*'], nonResourceURLs: ['*'] }), path('/x', 'post'), true],
    ['a path, where it names resources', rule({ apiGroups: ['*'], resources: ['*'] }), path('/version'), false],
  ])('and %s', (_, given, wanted, allowed) => expect(ruleAllows(given, wanted)).toBe(allowed));
});

describe('what is missing to give a role away', () => {
  test('nothing, to who has it in more words', () => {
    const owned = [rule({ verbs: ['get', 'list'], apiGroups: ['*'], resources: ['pods', '*/scale'] })];
    const wanted = [
      rule({ verbs: ['list'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }),
      rule({ apiGroups: ['apps'], resources: ['sets/scale'] }),
    ];
    expect(missingRules(owned, wanted)).toEqual([]);
  });

  test('all names, to who has one; said verb by verb, resource by resource', () => {
    const owned = [rule({ verbs: ['*'], apiGroups: [''], resources: ['pods'], resourceNames: ['web'] }), rule({ nonResourceURLs: ['/a*'] })];
    const wanted = [rule({ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'nodes'] }), rule({ nonResourceURLs: ['/abc', '/b'] })];
    expect(describeRules(missingRules(owned, wanted))).toEqual([
      '{APIGroups:[""], Resources:["nodes"], Verbs:["get" "list"]}',
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
      '{NonResourceURLs:["/b"], Verbs:["get"]}',
    ]);
  });
});

const role = (name: string, ...rules: PolicyRule[]): ClusterRole => ({ kind: 'ClusterRole', apiVersion: `${rbacGroup}/v1`, metadata: { name }, rules });
const bound = (to: string, subjects: Subject[], namespace = ''): ClusterRoleBinding | RoleBinding => ({
  kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
  apiVersion: `${rbacGroup}/v1`,
  metadata: { name: `to-${to}`, ...(namespace === '' ? {} : { namespace }) },
  subjects,
  roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: to },
});
const jane = { name: 'jane', groups: ['ops'] };
const getPods = asked('get', '/pods', 'web', 'a');

describe('roles in a cluster', () => {
  test.each<[string, Subject]>([
    ['the user', { kind: 'User', name: 'jane' }],
    ['a group', { kind: 'Group', name: 'ops' }],
  ])('count for %s, everywhere or in one namespace, until they change', (_, subject) => {
    const rbac = new RbacAuthorizer();
    rbac.put(role('reader', pods));
    expect(rbac.authorize(jane, getPods)).toEqual({ allowed: false, reason: '' });
    const binding = bound('reader', [subject], 'a');
    rbac.put(binding);
    expect(rbac.authorize(jane, getPods)).toMatchObject({ allowed: true });
    expect(rbac.authorize(jane, { ...getPods, namespace: 'b' } as RequestInfo)).toMatchObject({ allowed: false });
    expect(rbac.authorize({ name: 'joe', groups: [] }, getPods)).toMatchObject({ allowed: false });
    rbac.put({ ...binding, subjects: [{ kind: 'User', name: 'joe' }] });
    expect(rbac.authorize(jane, getPods)).toMatchObject({ allowed: false });
    rbac.remove(binding);
    expect(rbac.authorize({ name: 'joe', groups: [] }, getPods)).toMatchObject({ allowed: false });
  });

  test('a service account is meant in the namespace of the binding, unless it says another', () => {
    const rbac = new RbacAuthorizer();
    rbac.put(role('reader', pods));
    rbac.put(bound('reader', [{ kind: 'ServiceAccount', name: 'robot' }], 'a'));
    expect(rbac.authorize({ name: 'system:serviceaccount:a:robot', groups: [] }, getPods)).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "to-reader/a" of ClusterRole "reader" to ServiceAccount "robot/a"',
    });
    expect(rbac.authorize({ name: 'system:serviceaccount:b:robot', groups: [] }, getPods)).toMatchObject({ allowed: false });
  });

  test('a role that is not there is told', () => {
    const rbac = new RbacAuthorizer();
    rbac.put(bound('gone', [{ kind: 'User', name: 'jane' }]));
    expect(rbac.authorize(jane, getPods)).toEqual({ allowed: false, reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found' });
  });

  test('names are looked at, also after the same was asked for another', () => {
    const rbac = new RbacAuthorizer();
    rbac.put(role('one', { ...pods, resourceNames: ['web'] }));
    rbac.put(bound('one', [{ kind: 'User', name: 'jane' }]));
    const answers = ['db', 'web', 'db', ''].map((name) => rbac.authorize(jane, asked('get', '/pods', name)).allowed);
    expect(answers).toEqual([false, true, false, false]);
  });

  test('a user whose name looks like several users is none of those', () => {
    const rbac = new RbacAuthorizer();
    rbac.put(role('reader', pods));
    rbac.put(bound('reader', [{ kind: 'Group', name: 'ops' }]));
    expect(rbac.authorize(jane, getPods)).toMatchObject({ allowed: true });
    const lookalikes = [
      { name: 'jane\nops', groups: [] },
      { name: 'jane 3 ops', groups: [] },
      { name: 'jane', groups: ['x\nops'] },
      { name: 'jane', groups: ['x 3 ops'] },
    ];
    expect(lookalikes.map((user) => rbac.authorize(user, getPods).allowed)).toEqual([false, false, false, false]);
  });

  test('a namespace that looks like one with a user is no other user', () => {
    const rbac = new RbacAuthorizer();
    rbac.put(role('reader', pods));
    rbac.put(bound('reader', [{ kind: 'Group', name: 'ops' }]));
    expect(rbac.authorize({ name: 'joe', groups: ['ops', 'jane'] }, getPods)).toMatchObject({ allowed: true });
    expect(rbac.authorize({ name: 'jane', groups: [] }, asked('get', '/pods', '', 'a 3 joe 3 ops'))).toMatchObject({ allowed: false });
  });

  test('what was asked in odd words is no answer to anything else', () => {
    const rbac = new RbacAuthorizer();
    rbac.put(role('odd', rule({ apiGroups: ['*'], resources: ['log'] })));
    rbac.put(bound('odd', [{ kind: 'User', name: 'jane' }]));
    const odd: RequestInfo = { type: 'resource', verb: 'get', group: '/pods', version: '*', resource: 'log', subresource: '', namespace: 'a', name: '' };
    expect(rbac.authorize(jane, odd)).toMatchObject({ allowed: true });
    expect(rbac.authorize(jane, asked('get', '/pods/log', '', 'a'))).toMatchObject({ allowed: false });
  });

  test('no role can keep out those who may everything', () => {
    expect(new RbacAuthorizer().authorize({ name: 'admin', groups: ['system:masters'] }, getPods)).toEqual({ allowed: true });
  });
});

test('a rule that stands for millions of permissions is judged as a whole', () => {
  const many = (prefix: string) => Array.from({ length: 2_000 }, (_, i) => `${prefix}${i}`);
  const huge = rule({ verbs: many('verb'), apiGroups: ['a', 'b'], resources: many('resource') });
  expect(missingRules([rule({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] })], [huge])).toEqual([]);
  const [missing] = missingRules([pods], [huge]);
  expect(missing?.resources).toHaveLength(11);
  expect(describeRules(missingRules([pods], [huge, pods]))).toEqual([expect.stringMatching(/"resource9" "..."\], Verbs:\["verb0" .* "..."\]\}$/)]);
});
