import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedEtcd } from '../../../src/sim/etcd/simulated-etcd.ts';
import { simulate } from '../../../src/sim/world/world.ts';
import { checkCommands, commands } from '../check-model.ts';
import { runs } from '../commands.ts';
import { renumbered } from './renumbered-store.ts';
import { networkWith, openSimulatedStore } from './simulated-store.ts';

test.each([
  { name: 'etcd', version: '3.5.30' },
  { name: 'etcd whose progress cannot be believed', version: '3.4.23' },
])('$name answers as the model does', async ({ version }) => {
  await fc.assert(
    fc.asyncProperty(commands, fc.integer({ min: 1, max: 1_000_000 }), (some, seed) =>
      simulate(seed, async (world) => {
        const etcd = new SimulatedEtcd(world, { version, bugs: { progressBeforeEvents: version === '3.4.23' } });
        const network = networkWith(world, {});
        const store = await openSimulatedStore(world, etcd, { network });
        const offset = store.revision() - 1;
        const reopen = async (open: { close(): Promise<void> }) => {
          await open.close();
          return renumbered(await openSimulatedStore(world, etcd, { network }), offset);
        };
        await checkCommands(
          { store: renumbered(store), reopen, forgets: true, eventually: async (read, expected) => expect(read()).toMatchObject(expected) },
          some,
        );
      }),
    ),
    runs(60),
  );
});
