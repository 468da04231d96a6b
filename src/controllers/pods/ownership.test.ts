import type { Stored } from '../../api/stored.ts';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { sortByOwner, ownershipActions } from './ownership.ts';

const object = (name: string, metadata: Partial<KubeObject['metadata']> = {}): Stored<KubeObject> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: '1', ...metadata },
});
const ownedBy = (uid: string, controller = true) => ({ ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid, controller }] });
const web = { labels: { app: 'web' } };
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const owner = object('web', { uid: 'u1' });
const selects = ({ metadata }: Stored<KubeObject>) => metadata.labels?.['app'] === 'web';

const sorted = (of: Stored<KubeObject>, ...candidates: readonly Stored<KubeObject>[]) => {
  const { owned, toAdopt, toRelease } = sortByOwner(of, candidates, selects);
  const names = (list: readonly Stored<KubeObject>[]) => list.map(({ metadata }) => metadata.name);
  return { owned: names(owned), toAdopt: names(toAdopt), toRelease: names(toRelease) };
};

describe('objects by owner', () => {
  test('are owned by uid if selected; those of another owner never, not even of one with the same name', () => {
    const mine = object('mine', { ...web, ...ownedBy('u1') });
    const strange = object('strange', { ...web, ...ownedBy('u2') });
    expect(sorted(owner, mine, strange)).toEqual({ owned: ['mine'], toAdopt: [], toRelease: [] });
  });

  test('orphans that it selects are adopted, except terminating ones and those of other namespaces', () => {
    const candidates = [object('orphan', web), object('friend', { ...web, ...ownedBy('u9', false) }), object('other'), object('goes', { ...web, ...going })];
    expect(sorted(owner, ...candidates, object('elsewhere', { ...web, namespace: 'team' }))).toEqual({
      owned: [],
      toAdopt: ['orphan', 'friend'],
      toRelease: [],
    });
  });

  test('owned ones that it does not select are released', () => {
    expect(sorted(owner, object('old', ownedBy('u1')))).toEqual({ owned: [], toAdopt: [], toRelease: ['old'] });
  });

  test('an owner that is being deleted adopts and releases nothing', () => {
    const candidates = [object('orphan', web), object('old', ownedBy('u1')), object('mine', { ...web, ...ownedBy('u1') })];
    expect(sorted(object('web', { uid: 'u1', ...going }), ...candidates)).toEqual({ owned: ['mine'], toAdopt: [], toRelease: [] });
  });

  test('the owner is confirmed once, before the first adoption, and not for a release', () => {
    const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u1', controller: true, blockOwnerDeletion: true };
    const done = (toAdopt: readonly Stored<KubeObject>[], toRelease: readonly Stored<KubeObject>[]) =>
      ownershipActions(reference, owner, { toAdopt, toRelease }).map((action) => action.do);
    expect(done([object('a'), object('b')], [object('c')])).toEqual(['release', 'confirmOwner', 'adopt', 'adopt']);
    expect(done([], [object('c')])).toEqual(['release']);
  });
});
