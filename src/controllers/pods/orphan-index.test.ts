import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { Cache } from '../../client/informers/cache.ts';
import { SimulatedWorld } from '../../sim/world/world.ts';
import { OrphanIndex } from './orphan-index.ts';

const pod = (name: string, labels: Record<string, string>, more: { namespace?: string; owned?: boolean; at?: string } = {}): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: more.namespace ?? 'team',
    uid: name,
    resourceVersion: more.at ?? '1',
    labels,
    ...(more.owned === true ? { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u', controller: true }] } : {}),
  },
  spec: { containers: [] },
  status: {},
});

test('a label selector finds the orphans of its namespace with one of its labels; other selectors find all', () => {
  const cache = new Cache<Pod>({ log: new SimulatedWorld(1).log });
  const orphans = new OrphanIndex(cache);
  const names = (selector: object, namespace = 'team') => orphans.candidates(namespace, selector).map(({ metadata }) => metadata.name);
  for (const each of [
    pod('a', { app: 'web' }),
    pod('b', { app: 'db' }),
    pod('c', { app: 'web' }, { namespace: 'other' }),
    pod('d', { app: 'web' }, { owned: true }),
  ]) {
    cache.observe(each);
  }
  expect(names({ matchLabels: { app: 'web' } })).toEqual(['a']);
  expect(names({ matchLabels: { app: 'web' } }, 'other')).toEqual(['c']);
  expect(names({ matchExpressions: [{ key: 'app', operator: 'Exists' }] })).toEqual(['a', 'b']);
  cache.observe(pod('a', { app: 'web' }, { owned: true, at: '2' }));
  cache.observe(pod('d', { app: 'web' }, { at: '2' }));
  expect(names({ matchLabels: { app: 'web' } })).toEqual(['d']);
});
