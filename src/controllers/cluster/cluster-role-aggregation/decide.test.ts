import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClusterRole, PolicyRule } from '../../../api/generated/types.ts';
import { decideAggregation } from './decide.ts';

const get = (resource: string): PolicyRule => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });

interface RoleFields {
  readonly labels?: Record<string, string>;
  readonly rules?: PolicyRule[];
  /** The label of each of its selectors. */
  readonly from?: readonly string[];
}

const role = (name: string, { labels = {}, rules = [], from }: RoleFields): ClusterRole => ({
  kind: 'ClusterRole',
  apiVersion: 'rbac.authorization.k8s.io/v1',
  metadata: { name, labels },
  rules,
  ...(from === undefined ? {} : { aggregationRule: { clusterRoleSelectors: from.map((label) => ({ matchLabels: { [label]: 'true' } })) } }),
});

/** The rules that the role gets; undefined: it keeps what it has. */
const decided = (whole: ClusterRole, roles: readonly ClusterRole[]) => decideAggregation({ role: whole, roles: [whole, ...roles] }).actions[0]?.object.rules;

describe('an aggregated role', () => {
  const a = role('a', { labels: { x: 'true' }, rules: [get('pods'), get('nodes')] });
  const b = role('b', { labels: { x: 'true', y: 'true' }, rules: [get('nodes'), get('secrets')] });
  const c = role('c', { labels: { x: 'false' }, rules: [get('leases')] });

  test('has the rules of the selected roles, by selector and name, each once', () => {
    expect(decided(role('whole', { from: ['y', 'x'] }), [c, b, a])).toEqual([get('nodes'), get('secrets'), get('pods')]);
  });

  test('loses the rules that no selected role has any more', () => {
    expect(decided(role('whole', { from: ['z'], rules: [get('pods')] }), [a])).toEqual([]);
  });

  test('does not select itself', () => {
    expect(decided(role('whole', { from: ['x'], labels: { x: 'true' }, rules: [get('everything')] }), [a])).toEqual(a.rules);
  });

  test('is left alone if it is up to date, or not aggregated', () => {
    expect(decided(role('whole', { from: ['x'], rules: [get('pods'), get('nodes')] }), [a])).toBeUndefined();
    expect(decided(role('own', { rules: [get('x')] }), [a])).toBeUndefined();
  });
});

const labels = fc.uniqueArray(fc.constantFrom('x', 'y', 'z')).map((keys) => Object.fromEntries(keys.map((key) => [key, 'true'])));
const rules = fc.array(fc.constantFrom('pods', 'nodes', 'secrets').map(get), { maxLength: 3 });
const anyRole = fc.record({ labels, rules, from: fc.uniqueArray(fc.constantFrom('x', 'y', 'z')) }, { requiredKeys: ['labels', 'rules'] });
const cluster = fc.array(anyRole, { minLength: 1, maxLength: 6 }).map((fields) => fields.map((each, i) => role(`role-${i}`, each)));

/** Every role once, as often as a chain of roles is long. */
function settle(roles: readonly ClusterRole[]): readonly ClusterRole[] {
  let now = roles;
  for (let round = 0; round <= roles.length * 2; round++) {
    for (const name of roles.map(({ metadata }) => metadata.name)) {
      now = now.map((each) => (each.metadata.name === name ? (decideAggregation({ role: each, roles: now }).actions[0]?.object ?? each) : each));
    }
  }
  return now;
}

const acyclic = (roles: readonly ClusterRole[]): readonly ClusterRole[] =>
  roles.map(
    (each, i) =>
      ({
        ...each,
        metadata: { ...each.metadata, labels: i === 0 ? {} : (each.metadata.labels ?? {}) },
        ...(i === 0 ? {} : { aggregationRule: undefined }),
      }) as ClusterRole,
  );

describe('deciding', () => {
  test('is the same for the same roles, in whatever order they are listed', () => {
    fc.assert(
      fc.property(cluster, (roles) => {
        for (const one of roles) {
          expect(decideAggregation({ role: one, roles: roles.toReversed() })).toEqual(decideAggregation({ role: one, roles }));
        }
      }),
    );
  });

  test('settles: deciding again gives nothing', () => {
    fc.assert(
      fc.property(cluster, (roles) => {
        const first = roles[0];
        if (first === undefined) return;
        const after = decideAggregation({ role: first, roles }).actions[0]?.object ?? first;
        expect(decideAggregation({ role: after, roles: roles.map((each) => (each === first ? after : each)) }).actions).toEqual([]);
      }),
    );
  });

  test('comes to the same end, whatever rules it starts with', () => {
    fc.assert(
      fc.property(cluster, rules, (roles, left) => {
        const plain = acyclic(roles);
        const crashed = plain.map((each, i) => (i === 0 && each.aggregationRule !== undefined ? { ...each, rules: left } : each));
        expect(settle(crashed)).toEqual(settle(plain));
      }),
    );
  });
});
