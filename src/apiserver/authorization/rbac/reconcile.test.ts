import { describe, expect, test } from 'vitest';
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Subject } from '../../../api/generated/types.ts';
import { rbacGroup } from '../../../api/kinds/rbac/policy-rules.ts';
import { autoUpdate } from './default-policy.ts';
import { reconcileBinding, reconcileRole } from './reconcile.ts';

const get = (...resources: string[]): PolicyRule => ({ verbs: ['get'], apiGroups: [''], resources });
const role = (rules: PolicyRule[], more: Partial<ClusterRole> = {}): ClusterRole => ({
  kind: 'ClusterRole',
  apiVersion: `${rbacGroup}/v1`,
  metadata: { name: 'r', labels: { ours: 'yes' }, annotations: { [autoUpdate]: 'true' } },
  rules,
  ...more,
});
const user = (name: string): Subject => ({ kind: 'User', apiGroup: rbacGroup, name });
const binding = (subjects: Subject[], to = 'r'): ClusterRoleBinding => ({
  kind: 'ClusterRoleBinding',
  apiVersion: `${rbacGroup}/v1`,
  metadata: { name: 'b', labels: { ours: 'yes' }, annotations: { [autoUpdate]: 'true' } },
  subjects,
  roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: to },
});

describe('a default role that is there', () => {
  test('gets what is missing, permission by permission, and keeps what was added', () => {
    expect(reconcileRole(role([get('pods', 'nodes')]), role([get('pods', 'secrets')]))).toEqual({
      type: 'update',
      object: role([get('pods', 'nodes'), get('secrets')]),
    });
  });

  test('is left alone if nothing is missing, or if its owner says so', () => {
    expect(reconcileRole(role([get('pods', 'nodes')]), role([get('pods')]))).toEqual({ type: 'leave' });
    const owned = role([], { metadata: { name: 'r', annotations: { [autoUpdate]: 'false' } } });
    expect(reconcileRole(owned, role([get('pods')]))).toEqual({ type: 'leave' });
  });

  test('keeps labels that were set to other values', () => {
    const changed = role([], { metadata: { name: 'r', labels: { ours: 'no' } } });
    expect(reconcileRole(changed, role([]))).toMatchObject({
      type: 'update',
      object: { metadata: { labels: { ours: 'no' }, annotations: { [autoUpdate]: 'true' } } },
    });
  });

  test('is made of others only if it should be', () => {
    const selectors = { clusterRoleSelectors: [{ matchLabels: { x: 'true' } }] };
    expect(reconcileRole(role([]), role([], { aggregationRule: selectors }))).toMatchObject({ type: 'update', object: { aggregationRule: selectors } });
    expect(reconcileRole(role([], { aggregationRule: selectors }), role([]))).toEqual({ type: 'update', object: role([]) });
  });
});

describe('a default binding that is there', () => {
  test('gets subjects that are missing, and keeps the others', () => {
    expect(reconcileBinding(binding([user('joe')]), binding([user('jane')]))).toEqual({ type: 'update', object: binding([user('joe'), user('jane')]) });
    expect(reconcileBinding(binding([user('joe'), user('jane')]), binding([user('jane')]))).toEqual({ type: 'leave' });
  });

  test('is replaced if it is to another role', () => {
    expect(reconcileBinding(binding([user('joe')], 'other'), binding([user('jane')]))).toEqual({ type: 'replace', object: binding([user('jane')]) });
  });
});
