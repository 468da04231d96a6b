import { expect, test } from 'vitest';
import type { OwnerReference } from '../../../api/generated/types.ts';
import type { Kind } from '../../../api/kind.ts';
import type { Stored, StoredMeta } from '../../../api/stored.ts';
import { OwnerGraph } from './graph.ts';

const kinds: Readonly<Record<string, { readonly namespaced: boolean }>> = { 'v1/ConfigMap': { namespaced: true }, 'v1/Node': { namespaced: false } };
const newGraph = () => new OwnerGraph(({ apiVersion, kind }) => kinds[`${apiVersion}/${kind}`] as Kind | undefined);

const object = (name: string, metadata: Partial<StoredMeta> = {}, kind = 'ConfigMap'): Stored => ({
  apiVersion: 'v1',
  kind,
  metadata: { ...(kind === 'Node' ? {} : { namespace: 'default' }), name, uid: `uid-${name}`, resourceVersion: '1', ...metadata },
});
const ref = (name: string, more: Partial<OwnerReference> = {}): OwnerReference => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid: `uid-${name}`, ...more });
const ownedBy = (...owners: OwnerReference[]) => ({ ownerReferences: owners });

const add = (graph: OwnerGraph, after: Stored, before?: Stored) => graph.change({ before, after });
const remove = (graph: OwnerGraph, before: Stored) => graph.change({ before, after: undefined });
const states = (graph: OwnerGraph, name: string) => graph.snapshot(`uid-${name}`)?.owners.map(({ state }) => state.type);
const looks = (changes: { toEnqueue: ReadonlySet<string> }) => [...changes.toEnqueue].map((uid) => uid.replace('uid-', '')).sort();

test('an owner is known once it is in a cache, in any order of arrival', () => {
  const graph = newGraph();
  expect(looks(add(graph, object('child', ownedBy(ref('owner')))))).toEqual(['child']);
  expect(states(graph, 'child')).toEqual(['unknown']);
  expect(looks(add(graph, object('owner')))).toEqual(['child']);
  expect(states(graph, 'child')).toEqual(['solid']);
  add(graph, object('late', ownedBy(ref('owner'))));
  expect(states(graph, 'late')).toEqual(['solid']);
});

test('a deleted owner enqueues its dependents, and is absent for them', () => {
  const graph = newGraph();
  add(graph, object('owner'));
  add(graph, object('child', ownedBy(ref('owner'))));
  expect(looks(remove(graph, object('owner')))).toEqual(['child']);
  expect(states(graph, 'child')).toEqual(['absent']);
});

test('another object of the same name is not the owner', () => {
  const graph = newGraph();
  const first = object('owner');
  add(graph, first);
  add(graph, object('child', ownedBy(ref('owner'))));
  expect(looks(add(graph, object('owner', { uid: 'uid-second' }), first))).toEqual(['child']);
  expect(states(graph, 'child')).toEqual(['absent']);
});

test.each([
  ['name', ref('other', { uid: 'uid-owner' })],
  ['kind', ref('owner', { kind: 'Node' })],
])('an owner with the uid but another %s has to be looked up', (_, reference) => {
  const graph = newGraph();
  add(graph, object('owner'));
  add(graph, object('child', ownedBy(reference)));
  expect(states(graph, 'child')).toEqual(['unknown']);
  const coordinates = graph.snapshot('uid-child')?.owners[0]?.coordinates;
  if (coordinates !== undefined) graph.lookedUp(coordinates, false, 0);
  expect(states(graph, 'child')).toEqual(['absent']);
});

test('kinds decide where an owner is looked for', () => {
  const graph = newGraph();
  add(graph, object('node', {}, 'Node'));
  add(graph, object('child', ownedBy(ref('node', { kind: 'Node' }), ref('x', { kind: 'Widget' }))));
  add(graph, object('global', ownedBy(ref('owner')), 'Node'));
  expect(states(graph, 'child')).toEqual(['solid', 'unserved']);
  expect(states(graph, 'global')).toEqual(['unreachable']);
});

test('an owner in another namespace is reported, in any order of arrival', () => {
  const graph = newGraph();
  add(graph, object('owner', { namespace: 'other' }));
  expect(add(graph, object('child', ownedBy(ref('owner')))).misplaced).toMatchObject([
    { dependent: { metadata: { name: 'child' } }, reference: { name: 'owner' } },
  ]);
  expect(states(graph, 'child')).toEqual(['unknown']);
  const turned = newGraph();
  add(turned, object('child', ownedBy(ref('owner'))));
  expect(add(turned, object('owner', { namespace: 'other' })).misplaced).toHaveLength(1);
  expect(add(turned, object('owner', { namespace: 'other', resourceVersion: '2' })).misplaced).toEqual([]);
});

test('the server is asked again with back-off, until an informer delivers the owner', () => {
  const graph = newGraph();
  add(graph, object('child', ownedBy(ref('owner'))));
  const waits = [0, 1, 2].map(() => {
    const found = graph.snapshot('uid-child')?.owners[0];
    if (found !== undefined) graph.lookedUp(found.coordinates, true, 1000);
    const state = graph.snapshot('uid-child')?.owners[0]?.state;
    return state?.type === 'unseen' ? state.checkAgainAt - 1000 : undefined;
  });
  expect(waits).toEqual([500, 1000, 2000]);
  add(graph, object('owner'));
  expect(states(graph, 'child')).toEqual(['solid']);
});

test('foreground deletion enqueues the dependents at the start, and the owner when the last blocking one is gone', () => {
  const graph = newGraph();
  const owner = object('owner');
  const deleting = object('owner', { deletionTimestamp: 'now', finalizers: ['foregroundDeletion'] });
  const [a, b] = ['a', 'b'].map((name) => object(name, ownedBy(ref('owner', { blockOwnerDeletion: true }))));
  const c = object('c', ownedBy(ref('owner')));
  for (const each of [owner, a, b, c]) if (each !== undefined) add(graph, each);
  expect(looks(add(graph, deleting, owner))).toEqual(['a', 'b', 'c', 'owner']);
  expect(states(graph, 'a')).toEqual(['waiting']);
  expect(graph.snapshot('uid-owner')).toMatchObject({ isBlocked: true, hasDependents: true });
  if (a !== undefined) expect(looks(remove(graph, a))).toEqual([]);
  // It does not block any more, like a deleted one.
  expect(looks(add(graph, object('b', ownedBy(ref('owner', { blockOwnerDeletion: false }))), b))).toEqual(['b', 'owner']);
  expect(graph.snapshot('uid-owner')).toMatchObject({ isBlocked: false, hasDependents: true });
});

test('orphaning enqueues the dependents, and the owner once no object names it', () => {
  const graph = newGraph();
  const owner = object('owner');
  const child = object('child', ownedBy(ref('owner')));
  add(graph, owner);
  add(graph, child);
  expect(looks(add(graph, object('owner', { deletionTimestamp: 'now', finalizers: ['orphan'] }), owner))).toEqual(['child', 'owner']);
  expect(states(graph, 'child')).toEqual(['orphaning']);
  expect(looks(add(graph, object('child'), child))).toEqual(['child', 'owner']);
  expect(graph.snapshot('uid-owner')).toMatchObject({ hasDependents: false });
});

test('a change of neither owners nor deletion enqueues nothing', () => {
  const graph = newGraph();
  const child = object('child', ownedBy(ref('owner')));
  add(graph, child);
  add(graph, object('owner'));
  expect(looks(add(graph, object('child', { ...ownedBy(ref('owner')), resourceVersion: '2', labels: { a: 'b' } }), child))).toEqual([]);
  expect(looks(add(graph, object('owner', { resourceVersion: '2' }), object('owner')))).toEqual([]);
});

test('it forgets deleted objects', () => {
  const graph = newGraph();
  const child = object('child', ownedBy(ref('owner'), ref('never')));
  add(graph, object('owner'));
  add(graph, child);
  remove(graph, object('owner'));
  remove(graph, child);
  expect(graph.size).toEqual({ objects: 0, owners: 0 });
});

test('ten thousand deleted dependents enqueue their owner once', () => {
  const graph = newGraph();
  add(graph, object('owner', { deletionTimestamp: 'now', finalizers: ['foregroundDeletion'] }));
  const children = Array.from({ length: 10_000 }, (_, i) => object(`c${i}`, ownedBy(ref('owner', { blockOwnerDeletion: true }))));
  for (const child of children) add(graph, child);
  const woken = children.filter((child) => remove(graph, child).toEnqueue.has('uid-owner'));
  expect(woken).toHaveLength(1);
});
