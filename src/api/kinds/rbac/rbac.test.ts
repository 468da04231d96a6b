import { describe, expect, test } from 'vitest';
import { causeMessage } from '../../field-error.ts';
import type { ClusterRole, ClusterRoleBinding, PolicyRule, RoleBinding } from '../../generated/types.ts';
import { createErrors, updateErrors } from '../../validation/strategy.ts';
import { rbacGroup } from './policy-rules.ts';
import { clusterRoleBindingKind, roleBindingKind } from './role-bindings.ts';
import { clusterRoleKind, roleKind } from './roles.ts';

const apiVersion = `${rbacGroup}/v1`;
const words = (errors: ReturnType<typeof createErrors>) => errors.map((error) => `${error.field}: ${causeMessage(error)}`);

const pods: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const clusterRole = (fields: Partial<ClusterRole>): ClusterRole => ({
  kind: 'ClusterRole',
  apiVersion,
  metadata: { name: 'system:some:role' },
  rules: [],
  ...fields,
});
const binding = (fields: Partial<RoleBinding>): RoleBinding => ({
  kind: 'RoleBinding',
  apiVersion,
  metadata: { name: 'b', namespace: 'n' },
  roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'view' },
  ...fields,
});

describe('roles', () => {
  test.each<[string, PolicyRule, string[]]>([
    ['a rule for a resource', pods, []],
    ['a rule for a path', { verbs: ['get'], nonResourceURLs: ['/healthz'] }, []],
    ['no verbs', { ...pods, verbs: null }, ['rules[0].verbs: Required value: verbs must contain at least one value']],
    [
      'neither resource nor path',
      { verbs: ['get'] },
      [
        'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
        'rules[0].resources: Required value: resource rules must supply at least one resource',
      ],
    ],
    [
      'both',
      { ...pods, nonResourceURLs: ['/x'] },
      ['rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs'],
    ],
  ])('%s', (_, rule, expected) => expect(words(createErrors(clusterRoleKind, clusterRole({ rules: [rule] })))).toEqual(expected));

  test('a role in a namespace has no paths', () => {
    const role = { kind: 'Role', apiVersion, metadata: { name: 'r', namespace: 'n' }, rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] };
    expect(words(createErrors(roleKind, role))).toEqual([
      'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
    ]);
  });

  test('made of others, it says of which', () => {
    expect(words(createErrors(clusterRoleKind, clusterRole({ aggregationRule: {} })))).toEqual([
      'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
    ]);
  });
});

describe('bindings', () => {
  test('users and groups are of the API group of roles, which need not be said', () => {
    const given = binding({
      roleRef: { apiGroup: '', kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'a' },
        { kind: 'ServiceAccount', name: 's' },
      ],
    });
    roleBindingKind.defaults?.(given);
    expect(given).toMatchObject({ roleRef: { apiGroup: rbacGroup }, subjects: [{ apiGroup: rbacGroup }, { name: 's' }] });
    expect(words(createErrors(roleBindingKind, given))).toEqual([]);
  });

  test('are to roles that there can be', () => {
    const roleRef = { apiGroup: 'x', kind: 'User', name: 'a/b' };
    expect(words(createErrors(roleBindingKind, binding({ roleRef })))).toEqual([
      `roleRef.apiGroup: Unsupported value: "x": supported values: "${rbacGroup}"`,
      'roleRef.kind: Unsupported value: "User": supported values: "Role", "ClusterRole"',
      `roleRef.name: Invalid value: "a/b": may not contain '/'`,
    ]);
  });

  test('of the cluster are to roles of the cluster, for accounts of some namespace', () => {
    const given: ClusterRoleBinding = {
      ...binding({
        roleRef: { apiGroup: rbacGroup, kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'ServiceAccount', name: 's' },
          { kind: 'Robot', name: '' },
        ],
      }),
      kind: 'ClusterRoleBinding',
      metadata: { name: 'b' },
    };
    expect(words(createErrors(clusterRoleBindingKind, given))).toEqual([
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
      'subjects[0].namespace: Required value',
      'subjects[1].name: Required value',
      'subjects[1].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
    ]);
  });

  test('stay with their role', () => {
    const old = binding({ metadata: { name: 'b', namespace: 'n', resourceVersion: '1' } });
    const changed = { ...old, roleRef: { ...old.roleRef, name: 'edit' } };
    expect(words(updateErrors(roleBindingKind, changed, old))).toEqual([
      `roleRef: Invalid value: {"APIGroup":"${rbacGroup}","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef`,
    ]);
  });
});
