import { expect, test } from 'vitest';
import { ok, SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';
import type { HostCall } from '../../src/sim/host/simulated-host.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { everything, prepare, MountCluster } from './mount-cluster.ts';
import { root } from './small-agent.ts';

/** Calls that change something. */
const changing = new Set<HostCall['name']>([
  'mount',
  'unmount',
  'makeDirectory',
  'write',
  'makeLink',
  'rename',
  'removeFile',
  'removeDirectory',
  'removeTree',
  'setOwner',
  'walkTree',
]);

/** The agent dies right after its n-th change, before the call returns. */
function dyingAfter(fatal: number | undefined): { readonly count: () => number; readonly dies: (call: HostCall, moment: 'before' | 'after') => boolean } {
  let count = 0;
  return { count: () => count, dies: ({ name }, moment) => changing.has(name) && moment === 'after' && ++count === fatal };
}

test(
  'wherever an agent dies while it mounts or unmounts, the next one reaches the same state',
  () =>
    simulate(
      7,
      async (world) => {
        const cluster = await SimulatedCluster.start(world, { controllers: false });
        await prepare(cluster);
        const volumes = await everything(cluster);
        /** Resolves with how many changes mounting took, and mounting and unmounting together. */
        const life = async (name: string, fatal: number | undefined) => {
          const node = await MountCluster.open(world, cluster);
          const death = dyingAfter(fatal);
          let { volumeManager, process } = await node.agent(death);
          const revive = async () => {
            if (!process.alive) ({ volumeManager, process } = await node.agent());
            await cluster.wait(1_000);
          };
          const pod = await node.pod(name, volumes);
          await cluster.wait(1_000);
          const mounting = death.count();
          await revive();
          expect(volumeManager.mountState(pod), name).toMatchObject({ ready: true });
          expect(await node.mounted(), name).toHaveLength(5);
          const local = (await node.host.table()).find(({ target }) => target.includes('local-volume'));
          expect(local?.options, name).toContain('ro');

          node.leave(pod.metadata.uid ?? '');
          await cluster.wait(1_000);
          await revive();
          expect(await node.mounted(), name).toEqual([]);
          expect(await node.host.list(`${root}/pods`), name).toEqual([]);
          for (const data of ['/mnt/local', '/disk']) expect(await node.host.list(data), name).toEqual(['precious']);
          process.kill();
          ok(await cluster.client.delete(podKind, { namespace: 'default', name }, { gracePeriodSeconds: 0 }));
          return { mounting, all: death.count() };
        };

        const whole = await life('whole', undefined);
        expect(whole.mounting).toBeGreaterThan(20);
        expect(whole.all - whole.mounting).toBeGreaterThan(10);
        for (let fatal = 1; fatal <= whole.all; fatal++) await life(`dies-after-${fatal}`, fatal);
      },
      { steps: 10_000_000 },
    ),
  120_000,
);
