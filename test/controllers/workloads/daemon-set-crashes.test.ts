import { expect, test } from 'vitest';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { controllerRevisionKind } from '../../../src/api/kinds/apps/controller-revision.ts';
import { daemonSetKind } from '../../../src/api/kinds/apps/daemon-set.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { badNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../../src/sim/world/process.ts';
import { seeds } from '../../../src/sim/world/seeds.ts';
import { simulate } from '../../../src/sim/world/world.ts';
import { targetNode } from '../../../src/controllers/workloads/daemon-set/daemon-pod.ts';
import { inDefault, ok, WorkloadCluster, startWorkloadCluster, startWorkloads } from './workload-cluster.ts';

/** Pods become ready, or fail sometimes; deleted pods end. */
async function actAsKubelets(workloads: WorkloadCluster, failing: () => boolean): Promise<void> {
  for (const pod of await workloads.pods()) {
    const { name = '', deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined) await workloads.client.delete(podKind, inDefault(name), { gracePeriodSeconds: 0 });
    else if (pod.status.phase !== 'Running') {
      const conditions = [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:00Z' }];
      const body = { status: failing() ? { phase: 'Failed' } : { phase: 'Running', conditions } };
      await workloads.client.patch(podKind, inDefault(name), { type: 'merge', body }, { subresource: 'status' });
    }
  }
}

test('with crashes anywhere and a faulty network, every node ends with one pod of the last template', async () => {
  for (const seed of seeds(10)) {
    await simulate(seed, async (world) => {
      const cluster = await startWorkloadCluster(world);
      const workloads = new WorkloadCluster(cluster, world);
      const network = new SimulatedNetwork(world, badNetwork);
      const names = ['n1', 'n2', 'n3', 'n4'];
      for (const name of names) ok(await workloads.client.create(nodeKind, { metadata: { name } }));
      const labels = { app: 'driver' };
      const updateStrategy = world.random.chance(0.5) ? {} : { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'v0' }] } };
      ok(
        await workloads.client.create(daemonSetKind, {
          metadata: inDefault('driver'),
          spec: { selector: { matchLabels: labels }, revisionHistoryLimit: 1, updateStrategy, template },
        }),
      );
      for (let i = 0; i < 10; i++) {
        const process = new SimulatedProcess(world, `daemons ${i}`);
        let left = world.random.below(6);
        startWorkloads(process.transport(network.transport(cluster.transport)), process, () => {
          if (left-- > 0) return 'go';
          process.kill();
          return 'crash';
        });
        await world.sleep(world.random.float() * 8_000);
        await actAsKubelets(workloads, () => world.random.chance(0.2));
        // Back and forth: revisions are created, reused and deleted.
        const containers = [{ name: 'c', image: `v${world.random.below(4)}` }];
        if (world.random.chance(0.5))
          ok(await workloads.client.patch(daemonSetKind, inDefault('driver'), { type: 'strategic', body: { spec: { template: { spec: { containers } } } } }));
        process.kill();
      }
      startWorkloads(cluster.transport, world);
      for (let i = 0; i < 40; i++) {
        await world.sleep(2_000);
        await actAsKubelets(workloads, () => false);
      }
      const set = await workloads.getSet();
      const image = set.spec.template.spec.containers?.[0]?.image;
      const places = (await workloads.pods()).map((pod) => `${targetNode(pod) ?? ''} ${pod.spec.containers?.[0]?.image ?? ''}`).sort();
      expect(places).toEqual(names.map((name) => `${name} ${image ?? ''}`));
      expect(set.status).toMatchObject({
        desiredNumberScheduled: 4,
        numberAvailable: 4,
        updatedNumberScheduled: 4,
        observedGeneration: set.metadata.generation,
      });
      const revisions = ok(await workloads.client.list(controllerRevisionKind)).items;
      expect(revisions.length).toBeLessThanOrEqual(2);
      expect(new Set(revisions.map(({ revision }) => revision)).size).toBe(revisions.length);
    });
  }
});
