import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedDisk } from '../../src/sim/world/disk.ts';
import type { Store } from '../../src/store/contract.ts';
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { emptyModel, step } from '../../src/store/model.ts';
import { ask, follow, request, runs, watch } from './commands.ts';

/** Any sequence of calls gives the answers of the model, and every watcher is told what the model says. */
const command = fc.oneof(
  { weight: 12, arbitrary: request },
  { weight: 2, arbitrary: watch.map((options) => ({ type: 'watch' as const, ...options })) },
  { weight: 1, arbitrary: fc.constant({ type: 'reopen' as const }) },
);

interface Backend {
  readonly name: string;
  readonly begin: () => Promise<{ store: Store; reopen: (store: Store) => Promise<Store> }>;
}

const backends: readonly Backend[] = [
  { name: 'memory', begin: async () => ({ store: openMemoryStore(), reopen: async (store) => store }) },
  {
    name: 'embedded',
    begin: async () => {
      const disk = new SimulatedDisk();
      // Small enough that segments are changed and snapshots written all the time.
      const open = () => openEmbeddedStore({ directory: '/data', disk, segmentBytes: 300, rewriteBytes: 100 });
      return {
        store: await open(),
        reopen: async (store) => {
          await store.close();
          return open();
        },
      };
    },
  },
];

test.each(backends)('$name answers as the model does', async ({ begin }) => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 60, size: 'max' }), async (commands) => {
      const backend = await begin();
      let { store } = backend;
      let model = emptyModel;
      let followers: ReturnType<typeof follow>[] = [];
      for (const next of commands) {
        if (next.type === 'watch') {
          const follower = follow(store, next);
          if (next.after < model.compacted) expect(follower.ended()).toBe('compacted');
          else followers.push(follower);
        } else if (next.type === 'reopen') {
          store = await backend.reopen(store);
          // The watchers resume from their last revision.
          followers = followers.filter((follower) => follower.ended() === undefined);
        } else if (next.type !== 'watched') {
          const expected = step(model, next);
          expect(await ask(store, next)).toBe(expected.response);
          model = expected.model;
        }
        expect([store.revision(), store.compactedRevision()]).toEqual([model.revision, model.compacted]);
        for (const { prefix, after, told } of followers) expect(told()).toBe(step(model, { type: 'watched', prefix, after }).response);
      }
      await checkStats(store);
      await store.close();
    }),
    runs(300),
  );
});

/** Once the past is forgotten, nothing of it may still be counted. */
async function checkStats(store: Store): Promise<void> {
  expect(store.stats().historyRevisions).toBe(store.revision() - store.compactedRevision());
  await store.compact(store.revision());
  const { entries } = await store.range({ from: '', to: '\uffff' });
  const liveBytes = entries.reduce((sum, { value }) => sum + value.byteLength, 0);
  // What a snapshot under way needs is kept until it is written.
  await expect.poll(() => store.stats(), { interval: 1 }).toMatchObject({ keys: entries.length, liveBytes, historyRevisions: 0, historyBytes: 0 });
}
