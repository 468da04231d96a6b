/** Crashes at every point and a faulty network: rollouts reach the same end, and never have too few pods. */
import { expect, test } from 'vitest';
import type { Pod, ReplicaSet } from '../../../src/api/generated/types.ts';
import { deploymentKind } from '../../../src/api/kinds/apps/deployment.ts';
import { badNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../../src/sim/world/process.ts';
import { seeds } from '../../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import type { TestCluster } from '../../client/test-cluster.ts';
import { isReady, describeCluster, observe, ok, patch, runKubelet, runWorkloads, startCluster, web, withImage } from './cluster.ts';

const rolled = ['web revision 2: 3 new and 3 available of 3, 3 wanted, NewReplicaSetAvailable', 'set one 0 1', 'set two 3 2', 'pods two 3'];

/** Crashes before its action number `survives`; another process takes over a little later. */
function runDoomed(cluster: TestCluster, world: SimulatedWorld, survives: number): SimulatedProcess {
  const process = new SimulatedProcess(world, 'doomed');
  let left = survives;
  runWorkloads(process.transport(cluster.transport), process, {
    onAction: () => {
      if (left-- > 0) return 'go';
      process.kill();
      world.timers.after(500, () => runWorkloads(cluster.transport, world));
      return 'crash';
    },
  });
  return process;
}

/** The guarantees of a rolling update with maxSurge 1 and maxUnavailable 0. */
class Promised {
  /** Set once all pods exist. */
  holds = false;
  readonly broken: string[] = [];

  readonly see = (pods: readonly Pod[], sets: readonly ReplicaSet[]): void => {
    const asked = sets.reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0);
    if (asked > 4) this.broken.push(`${asked} pods are asked for`);
    const ready = pods.filter(isReady).length;
    if (this.holds && ready < 3) this.broken.push(`${ready} pods are ready`);
  };
}

const careful = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } };

test('a process that crashes before any action, and its successor, complete the rollout', async () => {
  const longest = 60;
  let reached = 0;
  for (let survives = 0; survives <= longest; survives++) {
    await simulate(survives + 1, async (world) => {
      const cluster = await startCluster(world);
      const promised = new Promised();
      runKubelet(cluster.transport, world);
      observe(cluster.transport, world, promised.see);
      ok(await cluster.client.create(deploymentKind, web('one', careful)));
      const process = runDoomed(cluster, world, survives);
      await world.sleep(10_000);
      expect(await describeCluster(cluster)).toContain('pods one 3');
      promised.holds = true;
      await patch(cluster, withImage('two'));
      await world.sleep(60_000);
      if (!process.alive) reached = survives;
      expect(await describeCluster(cluster)).toEqual(rolled);
      expect(promised.broken).toEqual([]);
    });
  }
  expect(reached, 'the story has more actions than the test tries').toBeLessThan(longest);
  expect(reached, 'the story has fewer actions than a rollout').toBeGreaterThan(20);
});

test.each(seeds(20))('with a faulty network and repeated crashes the rollout settles (seed %i)', (seed) =>
  simulate(seed, async (world) => {
    const cluster = await startCluster(world);
    const network = new SimulatedNetwork(world, badNetwork);
    runKubelet(cluster.transport, world);
    ok(await cluster.client.create(deploymentKind, web('one', careful)));
    for (let i = 0; i < 4; i++) {
      const process = new SimulatedProcess(world, `process ${i}`);
      runWorkloads(process.transport(network.transport(cluster.transport)), process);
      if (i === 2) await patch(cluster, withImage('two'));
      await world.sleep(2_000 + world.random.float() * 8_000);
      process.kill();
    }
    network.heal();
    runWorkloads(network.transport(cluster.transport), world);
    await world.sleep(180_000);
    const end = await describeCluster(cluster);
    // Whether the first template was ever rolled out depends on the seed.
    expect(end.filter((line) => !line.startsWith('set one'))).toEqual(
      end.some((line) => line.startsWith('set one'))
        ? rolled.filter((line) => !line.startsWith('set one'))
        : ['web revision 1: 3 new and 3 available of 3, 3 wanted, NewReplicaSetAvailable', 'set two 3 1', 'pods two 3'],
    );
  }),
);
