/** Two processes that both believe to lead, because their clocks are wrong: the server's fence refuses the older one. */
import { expect, test } from 'vitest';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../src/api/kinds/storage/storage-class.ts';
import { hasCause } from '../../src/client/result.ts';
import type { Transport } from '../../src/client/transport.ts';
import { SkewedClock } from '../../src/sim/world/skewed-clock.ts';
import { badNetwork, SimulatedNetwork } from '../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../src/sim/world/process.ts';
import { seeds } from '../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import { ok, SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';

/** Counts the writes of a deposed leader. */
function countingRefusals(server: Transport, refusals: { count: number }): Transport {
  return {
    async send(request) {
      const answer = await server.send(request);
      if (answer.type === 'failed' && hasCause(answer.error, 'LeaderDeposed')) refusals.count++;
      return answer;
    },
    watch: (request, sink) => server.watch(request, sink),
  };
}

/** At any moment bindings are mutual, by uid and exclusive. (With four writes they are not for a moment; here it is one write.) */
async function checkBindings({ client }: SimulatedCluster): Promise<void> {
  const [volumes, claims] = [ok(await client.list(persistentVolumeKind)).items, ok(await client.list(persistentVolumeClaimKind)).items];
  const owners = new Map<string | undefined, string | undefined>(volumes.map(({ metadata, spec }) => [metadata.name, spec.claimRef?.uid]));
  const bound = claims.filter(({ status }) => status.phase === 'Bound');
  expect(new Set(bound.map(({ spec }) => spec.volumeName)).size).toBe(bound.length);
  for (const { metadata, spec } of bound) if (owners.has(spec.volumeName)) expect(owners.get(spec.volumeName)).toBe(metadata.uid);
}

const numbers = Array.from({ length: 12 }, (_, i) => i);

async function live(cluster: SimulatedCluster, world: SimulatedWorld): Promise<void> {
  await cluster.create(storageClassKind, { metadata: { name: 'disk' }, provisioner: 'kubernetes.io/host-path', reclaimPolicy: 'Delete' });
  for (const i of numbers) {
    if (world.random.float() < 0.5) await cluster.volume(`volume-${i}`);
    await cluster.claim(`claim-${i}`, i % 2 === 0 ? '' : 'disk');
    await cluster.volume(`more-${i}`);
    if (i % 4 === 3) ok(await cluster.client.delete(persistentVolumeClaimKind, { namespace: 'default', name: `claim-${i}` }));
    await cluster.wait(world.random.float() * 5_000);
    await checkBindings(cluster);
  }
}

test('clocks that run ten times too slow and too fast, over a faulty network: nothing is bound twice, provisioned twice or leaked', async () => {
  const refusals = { count: 0 };
  for (const seed of seeds(4)) {
    await simulate(
      seed,
      async (world) => {
        const cluster = await SimulatedCluster.start(world, { controllers: false });
        const network = new SimulatedNetwork(world, badNetwork);
        const processes = [0.1, 1, 5].map((rate) => {
          const process = new SimulatedProcess(world, `clock x${rate}`);
          const through = (server: Transport) => process.transport(network.transport(countingRefusals(server, refusals)));
          cluster.startControllers({ world: new SkewedClock(world.clock, { rate, aheadMs: 3_600_000 }).world(process), identity: process.name, through });
          return process;
        });
        await live(cluster, world);
        for (const process of processes) process.kill();
        cluster.startControllers({ world, identity: 'healthy', takeOver: true });
        await cluster.wait(300_000);
        await checkBindings(cluster);
        const claims = ok(await cluster.client.list(persistentVolumeClaimKind)).items;
        expect(claims.map(({ metadata, status }) => `${metadata.name} ${status.phase}`).sort()).toEqual(
          numbers
            .filter((i) => i % 4 !== 3)
            .map((i) => `claim-${i} Bound`)
            .sort(),
        );
        const made = ok(await cluster.client.list(persistentVolumeKind)).items.filter(({ spec }) => spec.storageClassName === 'disk');
        expect(made.map(({ spec }) => spec.hostPath?.path ?? '').sort()).toEqual([...cluster.directories.paths].sort());
      },
      { steps: 5_000_000 },
    );
  }
  expect(refusals.count).toBeGreaterThan(0);
});
