import { expect, test } from 'vitest';
import type { OwnerReference } from '../../../api/generated/types.ts';
import type { GarbageCollectorAction } from './actions.ts';
import { decideGarbage, type GarbageCollectorSnapshot, type Owner, type OwnerState } from './decide.ts';

const now = 1_000_000;

function owner(name: string, state: OwnerState['type'], more: Partial<OwnerReference> & { checkAgainAt?: number } = {}): Owner {
  const { checkAgainAt = now + 1, ...reference } = more;
  const named = { apiVersion: 'v1', kind: 'ConfigMap', name, uid: `uid-${name}` };
  return {
    reference: { ...named, ...reference },
    coordinates: { ...named, namespace: 'default' },
    state: state === 'unseen' ? { type: 'unseen', checkAgainAt } : { type: state },
  };
}

function snapshot(more: Partial<GarbageCollectorSnapshot>): GarbageCollectorSnapshot {
  const owners = more.owners ?? [];
  const ownerReferences = owners.map(({ reference }) => reference);
  const target = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    namespace: 'default',
    name: 'data',
    uid: 'uid-data',
    resourceVersion: '7',
    ownerReferences,
  };
  return { target, deleting: false, finalizers: [], owners, hasDependents: false, isBlocked: false, dependentWaits: false, ...more };
}

/** 'delete Background', 'owners: a', 'finalizers: x', 'look up a' */
function say(action: GarbageCollectorAction): string {
  switch (action.do) {
    case 'lookUp':
      return `look up ${action.owner.name}`;
    case 'setOwners':
      return `owners: ${action.ownerReferences.map((o) => `${o.name}${o.blockOwnerDeletion === true ? '!' : ''}`).join(' ')}`;
    case 'setFinalizers':
      return `finalizers: ${action.finalizers.join(' ')}`;
    case 'delete':
      return `delete ${action.propagation}`;
  }
}
const decided = (more: Partial<GarbageCollectorSnapshot>) => decideGarbage(snapshot(more), now).actions.map(say);

const blocking = { blockOwnerDeletion: true };

const rules: readonly { name: string; given: Partial<GarbageCollectorSnapshot>; expected: readonly string[] }[] = [
  { name: 'without owners nothing happens', given: {}, expected: [] },
  { name: 'an owner that exists keeps it', given: { owners: [owner('a', 'solid')] }, expected: [] },
  { name: 'without any owner that exists it goes', given: { owners: [owner('a', 'absent'), owner('b', 'absent')] }, expected: ['delete Background'] },
  { name: 'one that exists is enough, and the others are struck off', given: { owners: [owner('a', 'absent'), owner('b', 'solid')] }, expected: ['owners: b'] },
  {
    name: 'unknown owners are looked up before a deletion',
    given: { owners: [owner('a', 'absent'), owner('b', 'unknown'), owner('c', 'unknown')] },
    expected: ['look up b', 'look up c'],
  },
  { name: 'an owner of a kind that is not served leaves everything as it is', given: { owners: [owner('a', 'absent'), owner('b', 'unserved')] }, expected: [] },
  {
    name: 'so does a namespaced owner of something that is in no namespace',
    given: { owners: [owner('a', 'absent'), owner('b', 'unreachable')] },
    expected: [],
  },
  { name: 'an owner that only the server has seen counts until it has to be asked for again', given: { owners: [owner('a', 'unseen')] }, expected: [] },
  { name: '… and then it is', given: { owners: [owner('a', 'unseen', { checkAgainAt: now })] }, expected: ['look up a'] },
  {
    name: 'an owner that leaves its dependents is struck off, before anything else',
    given: { owners: [owner('a', 'orphaning'), owner('b', 'unknown')] },
    expected: ['owners: b'],
  },
  { name: '… even from what is being deleted itself', given: { deleting: true, owners: [owner('a', 'orphaning')] }, expected: ['owners: '] },
  {
    name: 'a finalizer of the collector on it says how it goes: leaving its own dependents',
    given: { owners: [owner('a', 'absent')], finalizers: ['orphan'] },
    expected: ['delete Orphan'],
  },
  { name: '… or after them', given: { owners: [owner('a', 'absent')], finalizers: ['x', 'foregroundDeletion'] }, expected: ['delete Foreground'] },

  { name: 'an owner that waits: it goes', given: { owners: [owner('a', 'waiting', blocking)] }, expected: ['delete Background'] },
  {
    name: '… with dependents of its own: after them',
    given: { owners: [owner('a', 'waiting', blocking)], hasDependents: true },
    expected: ['delete Foreground'],
  },
  {
    name: '… but not if another owner keeps it: then the one that waits is let go',
    given: { owners: [owner('a', 'waiting', blocking), owner('b', 'solid')] },
    expected: ['owners: b'],
  },
  {
    name: 'owner and dependent that wait for each other: the circle is broken first',
    given: { owners: [owner('a', 'waiting', blocking), owner('b', 'absent')], hasDependents: true, dependentWaits: true },
    expected: ['owners: a b'],
  },
  {
    name: '… and then it goes',
    given: { owners: [owner('a', 'waiting', { blockOwnerDeletion: false })], hasDependents: true, dependentWaits: true },
    expected: ['delete Foreground'],
  },

  { name: 'what is being deleted is not deleted again', given: { deleting: true, owners: [owner('a', 'absent')] }, expected: [] },
  { name: '… nor are its owners asked for', given: { deleting: true, owners: [owner('a', 'unknown')] }, expected: [] },
  {
    name: 'foreground: it waits while a dependent blocks it',
    given: { deleting: true, finalizers: ['foregroundDeletion'], hasDependents: true, isBlocked: true },
    expected: [],
  },
  { name: '… and not for others', given: { deleting: true, finalizers: ['x', 'foregroundDeletion'], hasDependents: true }, expected: ['finalizers: x'] },
  { name: 'orphan: it waits until no object names it as owner', given: { deleting: true, finalizers: ['orphan'], hasDependents: true }, expected: [] },
  { name: '… and then goes', given: { deleting: true, finalizers: ['orphan'] }, expected: ['finalizers: '] },
  { name: "the collector's finalizers mean nothing without a deletion", given: { finalizers: ['orphan', 'foregroundDeletion'] }, expected: [] },
];

test.each(rules)('$name', ({ given, expected }) => {
  expect(decided(given)).toEqual(expected);
});

test('an unseen owner is looked up again at its time; the earliest counts', () => {
  const owners = [owner('a', 'unseen', { checkAgainAt: now + 500 }), owner('b', 'unseen', { checkAgainAt: now + 200 }), owner('c', 'solid')];
  expect(decideGarbage(snapshot({ owners }), now)).toMatchObject({ actions: [], again: now + 200 });
});

test('objects are deleted at the resourceVersion of the decision, and every decision has a reason', () => {
  for (const { given } of rules) {
    const { actions, reasons } = decideGarbage(snapshot(given), now);
    for (const action of actions) if (action.do !== 'lookUp') expect(action.target).toMatchObject({ uid: 'uid-data', resourceVersion: '7' });
    expect(reasons).toHaveLength(1);
  }
});

test('equal snapshots give equal actions, and are not changed', () => {
  for (const { given } of rules) {
    const frozen = structuredClone(snapshot(given));
    const first = decideGarbage(frozen, now);
    expect(decideGarbage(frozen, now)).toEqual(first);
    expect(frozen).toEqual(snapshot(given));
  }
});
