import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedDisk } from '../../src/sim/world/disk.ts';
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { type BegunStore, checkCommands, commands } from './check-model.ts';
import { runs } from './commands.ts';

/** What a snapshot under way needs is kept until it is written. */
const eventually = async (read: () => unknown, expected: object): Promise<void> => expect.poll(read, { interval: 1 }).toMatchObject(expected);

const backends: readonly { readonly name: string; readonly begin: () => Promise<BegunStore> }[] = [
  { name: 'memory', begin: async () => ({ store: openMemoryStore(), reopen: async (store) => store, eventually }) },
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
        eventually,
      };
    },
  },
];

test.each(backends)('$name answers as the model does', async ({ begin }) => {
  await fc.assert(
    fc.asyncProperty(commands, async (some) => checkCommands(await begin(), some)),
    runs(300),
  );
});
