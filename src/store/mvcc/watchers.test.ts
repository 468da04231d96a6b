import { expect, test, vi } from 'vitest';
import type { Change } from '../contract.ts';
import { Tree } from './tree.ts';
import { Version } from './version.ts';
import { Watchers } from './watchers.ts';

const version = (key: string, revision: number): Version => new Version({ key, value: new Uint8Array(1), createRevision: revision, modRevision: revision });

test('telling the watchers of a change looks at none of those who watch elsewhere', () => {
  const tree = new Tree(1, 0);
  const watchers = new Watchers(tree);
  let elsewhere = 0;
  let told = 0;
  for (let i = 0; i < 20_000; i++) watchers.watch({ prefix: `/registry/pods/ns-${i}/`, after: 1 }, { changes: () => elsewhere++, end: () => {} });
  watchers.watch({ prefix: '/registry/pods/ns-7/', after: 1 }, { changes: () => told++, end: () => {} });
  elsewhere = 0;
  // The only way to the groups of a key is one look-up for each of its prefixes.
  const lookUps = vi.spyOn(Map.prototype, 'get');
  try {
    tree.apply([version('/registry/pods/ns-7/web', 2)]);
    lookUps.mockClear();
    watchers.dispatch(2);
    expect(lookUps.mock.calls.length).toBeLessThan(10);
  } finally {
    lookUps.mockRestore();
  }
  expect([told, elsewhere]).toEqual([1, 1]);
});

test('a watcher that throws harms neither the others nor the store, and is not hushed up', async () => {
  const tree = new Tree(1, 0);
  const watchers = new Watchers(tree);
  const surfaced: unknown[] = [];
  const queue = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((callback) => {
    try {
      callback();
    } catch (error) {
      surfaced.push(error);
    }
  });
  try {
    const seen: Change[] = [];
    watchers.watch(
      { prefix: '/', after: 1 },
      {
        changes: () => {
          throw new Error('a bug');
        },
        end: () => {},
      },
    );
    watchers.watch({ prefix: '/', after: 1 }, { changes: (_, changes) => seen.push(...changes), end: () => {} });
    tree.apply([version('/a', 2)]);
    watchers.dispatch(2);
    expect(seen.map(({ key }) => key)).toEqual(['/a']);
    expect(surfaced).toMatchObject([{ message: 'a bug' }]);
  } finally {
    queue.mockRestore();
  }
});
