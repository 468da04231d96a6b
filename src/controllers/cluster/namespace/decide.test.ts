import { expect, test } from 'vitest';
import type { Namespace } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { NamespaceDecision, ContentDeletion, KindDeletion } from './actions.ts';
import { decideNamespace } from './decide.ts';

const now = Date.parse('2026-01-01T00:00:30Z');

function namespace(
  more: { deleting?: boolean; phase?: string; finalizers?: string[]; conditions?: Namespace['status']['conditions'] } = {},
): Stored<Namespace> {
  const { deleting = true, phase = 'Terminating', finalizers = ['kubernetes'], conditions } = more;
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team', uid: 'u', resourceVersion: '5', ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
    spec: { finalizers },
    status: { phase, ...(conditions === undefined ? {} : { conditions }) },
  };
}

const empty: ContentDeletion = { kinds: [], heldUpByPods: false, again: undefined, failures: 0 };
const deleted = (plural: string, more: Partial<KindDeletion> = {}, group = ''): KindDeletion => ({
  kind: { group, plural },
  remaining: 0,
  finalizers: new Map(),
  estimate: 0,
  ...more,
});

function conditionsAfter(deletion: ContentDeletion, before?: Namespace['status']['conditions']): Readonly<Record<string, string>> {
  const decision = decideNamespace({ namespace: namespace(before === undefined ? {} : { conditions: before }), deletion }, now);
  const [action] = decision.actions;
  if (action?.do !== 'updateStatus') throw new Error(`no status: ${action?.do}`);
  return Object.fromEntries((action.object.status.conditions ?? []).map((c) => [c.type.replace('Namespace', ''), `${c.status} ${c.reason}: ${c.message}`]));
}

const fine = {
  DeletionDiscoveryFailure: 'False ResourcesDiscovered: All resources successfully discovered',
  DeletionGroupVersionParsingFailure: 'False ParsedGroupVersions: All legacy kube types successfully parsed',
  DeletionContentFailure: 'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
  ContentRemaining: 'False ContentRemoved: All content successfully removed',
  FinalizersRemaining: 'False ContentHasNoFinalizers: All content-preserving finalizers finished',
};

const types = ({ actions }: NamespaceDecision) => actions.map(({ do: verb }) => verb);

test('a namespace that is not being deleted is left alone', () => {
  expect(types(decideNamespace({ namespace: namespace({ deleting: false, phase: 'Active' }), deletion: undefined }, now))).toEqual([]);
});

test('a deleted one is Terminating before its content is deleted', () => {
  const { actions } = decideNamespace({ namespace: namespace({ phase: 'Active' }), deletion: undefined }, now);
  expect(actions).toMatchObject([{ do: 'updateStatus', object: { status: { phase: 'Terminating' } } }]);
});

test('its content is deleted, then its conditions are written, then it is finalized', () => {
  expect(types(decideNamespace({ namespace: namespace(), deletion: undefined }, now))).toEqual(['deleteContent']);
  const { actions } = decideNamespace({ namespace: namespace(), deletion: empty }, now);
  expect(conditionsAfter(empty)).toEqual(fine);
  const [status] = actions;
  if (status?.do !== 'updateStatus') throw new Error('no status');
  const said = { ...namespace(), status: status.object.status };
  expect(decideNamespace({ namespace: said, deletion: empty }, now).actions).toMatchObject([{ do: 'finalize', finalizers: [] }]);
});

test('finalizers of other controllers stay, and are not waited for', () => {
  const conditions = conditionsOf(empty);
  const before = namespace({ finalizers: ['z.example.com/hold', 'kubernetes', 'a.example.com/hold'], conditions });
  expect(decideNamespace({ namespace: before, deletion: empty }, now).actions).toMatchObject([{ finalizers: ['a.example.com/hold', 'z.example.com/hold'] }]);
  const after = namespace({ finalizers: ['a.example.com/hold'], conditions });
  expect(types(decideNamespace({ namespace: after, deletion: empty }, now))).toEqual([]);
  expect(types(decideNamespace({ namespace: namespace({ finalizers: [] }), deletion: undefined }, now))).toEqual([]);
});

test('remaining objects and finalizers are in the conditions, sorted', () => {
  const deletion: ContentDeletion = {
    ...empty,
    again: now + 8000,
    kinds: [
      deleted('persistentvolumeclaims', {
        remaining: 2,
        finalizers: new Map([
          ['kubernetes.io/pvc-protection', 2],
          ['example.com/x', 1],
        ]),
      }),
      deleted('deployments', { remaining: 1, finalizers: new Map([['example.com/x', 1]]) }, 'apps'),
      deleted('configmaps'),
    ],
  };
  expect(conditionsAfter(deletion)).toEqual({
    ...fine,
    ContentRemaining:
      'True SomeResourcesRemain: Some resources are remaining: deployments.apps has 1 resource instances, persistentvolumeclaims. has 2 resource instances',
    FinalizersRemaining:
      'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/x in 2 resource instances, kubernetes.io/pvc-protection in 2 resource instances',
  });
});

test('nothing is done until the time of the next attempt', () => {
  const deletion: ContentDeletion = { ...empty, again: now + 8000, kinds: [deleted('configmaps', { remaining: 1, finalizers: new Map([['x/y', 1]]) })] };
  const waiting = namespace({ conditions: conditionsOf(deletion) });
  expect(decideNamespace({ namespace: waiting, deletion }, now)).toMatchObject({ actions: [], again: now + 8000 });
  expect(types(decideNamespace({ namespace: waiting, deletion }, now + 8000))).toEqual(['deleteContent']);
});

test('errors are sorted into a condition; the namespace is not finalized', () => {
  const deletion: ContentDeletion = { ...empty, again: now + 5, failures: 1, kinds: [deleted('b', { error: 'second' }), deleted('a', { error: 'first' })] };
  expect(conditionsAfter(deletion).DeletionContentFailure).toBe('True ContentDeletionFailed: Failed to delete all resource types, 2 remaining: first, second');
  expect(types(decideNamespace({ namespace: namespace({ conditions: conditionsOf(deletion) }), deletion }, now))).toEqual([]);
});

test('while pods block the other kinds nothing is reported as remaining, as in Kubernetes', () => {
  const deletion: ContentDeletion = { ...empty, heldUpByPods: true, again: now + 16_000, kinds: [deleted('pods', { remaining: 1, estimate: 30 })] };
  expect(conditionsAfter(deletion)).toEqual(fine);
});

test('a condition keeps its time while its status stays, and its place in the list', () => {
  const old = '2025-12-31T00:00:00Z';
  const before = conditionsOf(empty)
    .map((condition) => ({ ...condition, lastTransitionTime: old }))
    .reverse();
  const deletion: ContentDeletion = { ...empty, again: now + 8000, kinds: [deleted('configmaps', { remaining: 1 })] };
  const [action] = decideNamespace({ namespace: namespace({ conditions: before }), deletion }, now).actions;
  const after = action?.do === 'updateStatus' ? (action.object.status.conditions ?? []) : [];
  expect(after.map(({ type }) => type)).toEqual(before.map(({ type }) => type));
  for (const condition of after) expect(condition.lastTransitionTime).toBe(condition.type === 'NamespaceContentRemaining' ? '2026-01-01T00:00:30Z' : old);
});

test('deciding again changes no condition', () => {
  const deletion: ContentDeletion = { ...empty, again: now + 8000, kinds: [deleted('configmaps', { remaining: 1 })] };
  expect(types(decideNamespace({ namespace: namespace({ conditions: conditionsOf(deletion) }), deletion }, now))).toEqual([]);
});

/** The conditions that follow from a deletion result. */
function conditionsOf(deletion: ContentDeletion): NonNullable<Namespace['status']['conditions']> {
  const [action] = decideNamespace({ namespace: namespace(), deletion }, now).actions;
  return action?.do === 'updateStatus' ? (action.object.status.conditions ?? []) : [];
}
