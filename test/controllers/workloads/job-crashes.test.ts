import { expect, test } from 'vitest';
import { badNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../../src/sim/world/process.ts';
import { seeds } from '../../../src/sim/world/seeds.ts';
import { simulate } from '../../../src/sim/world/world.ts';
import { conditions, WorkloadCluster, startWorkloadCluster, startWorkloads, trackers } from './workload-cluster.ts';

test('with crashes anywhere and a faulty network, every pod is counted once', async () => {
  for (const seed of seeds(12)) {
    await simulate(seed, async (world) => {
      const cluster = await startWorkloadCluster(world);
      const network = new SimulatedNetwork(world, badNetwork);
      const workloads = new WorkloadCluster(cluster, world);
      await workloads.job({ parallelism: 2, completions: 4, backoffLimit: 100 });
      await workloads.job({ parallelism: 2, completions: 3, completionMode: 'Indexed', backoffLimitPerIndex: 50 }, 'indexed');
      const failed = { backup: 0, indexed: 0 };
      for (let i = 0; i < 8; i++) {
        const process = new SimulatedProcess(world, `jobs ${i}`);
        let left = world.random.below(8);
        startWorkloads(process.transport(network.transport(cluster.transport)), process, () => {
          if (left-- > 0) return 'go';
          process.kill();
          return 'crash';
        });
        await world.sleep(5_000 + world.random.float() * 20_000);
        process.kill();
        const pod = (await workloads.activePods())[0];
        if (pod !== undefined && world.random.chance(0.6)) {
          failed[pod.metadata.name?.startsWith('backup') === true ? 'backup' : 'indexed']++;
          await workloads.fail(pod);
        } else if (pod !== undefined) await workloads.succeed(pod);
      }
      network.heal();
      startWorkloads(cluster.transport, world);
      for (let i = 0; i < 60; i++) {
        await world.sleep(15_000);
        for (const pod of await workloads.activePods()) await workloads.succeed(pod);
      }
      for (const [name, completions] of [
        ['backup', 4],
        ['indexed', 3],
      ] as const) {
        const job = await workloads.get(name);
        expect(conditions(job).at(-1), `${name}: ${JSON.stringify(job.status)}`).toContain('Complete True');
        expect(job.status.succeeded).toBe(completions);
        expect(job.status.failed ?? 0).toBe(failed[name]);
      }
      expect(trackers(await workloads.pods())).toBe(0);
    });
  }
});
