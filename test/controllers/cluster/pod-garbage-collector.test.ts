/** The pod garbage collector on the real registry, in simulated time. */
import { expect, test } from 'vitest';
import { startTestCluster, type TestCluster } from '../../client/test-cluster.ts';
import { anyController, inClusterWith, ok, type Parts, startLoops } from '../../client/loops.ts';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { serviceAccountKind } from '../../../src/api/kinds/core/service-account.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { badNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../../src/sim/world/process.ts';
import { seeds } from '../../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { podGarbageCollector } from '../../../src/controllers/cluster/pod-garbage-collector/controller.ts';

const controllers = (parts: Parts) => [anyController(podGarbageCollector({ ...parts, clock: parts.world.clock, finishedKept: 3 }))];
const inDefault = (name: string) => ({ namespace: 'default', name });

async function start(world: SimulatedWorld): Promise<TestCluster> {
  const cluster = await startTestCluster(world);
  ok(await cluster.client.create(serviceAccountKind, { metadata: inDefault('default') }));
  return cluster;
}

interface Wanted {
  readonly node?: string;
  readonly phase?: string;
  readonly finalizers?: readonly string[];
}

async function createPod({ client }: TestCluster, name: string, { node, phase, finalizers }: Wanted = {}): Promise<void> {
  const nodeName = node === undefined ? {} : { nodeName: node };
  const pod = ok(
    await client.create(podKind, { metadata: { ...inDefault(name), finalizers }, spec: { ...nodeName, containers: [{ name: 'c', image: 'i' }] } }),
  );
  if (phase !== undefined) ok(await client.updateStatus(podKind, { ...pod, status: { ...pod.status, phase } }));
}

const pods = async ({ client }: TestCluster) =>
  ok(await client.list(podKind))
    .items.map(({ metadata, status }) => `${metadata.name ?? ''} ${status.phase ?? ''}`)
    .sort();

const inCluster = inClusterWith(start, controllers);

test(
  'pods are deleted 40 s after their node, unless it comes back',
  inCluster(async (cluster, world) => {
    for (const name of ['gone', 'back']) {
      ok(await cluster.client.create(nodeKind, { metadata: { name } }));
      await createPod(cluster, `on-${name}`, { node: name, phase: 'Running' });
      ok(await cluster.client.delete(nodeKind, { name }));
    }
    await createPod(cluster, 'on-nothing', { node: 'nothing' });
    await world.sleep(39_000);
    ok(await cluster.client.create(nodeKind, { metadata: { name: 'back' } }));
    expect(await pods(cluster)).toEqual(['on-back Running', 'on-gone Running', 'on-nothing Pending']);
    await world.sleep(2_000);
    expect(await pods(cluster)).toEqual(['on-back Running']);
    await world.sleep(600_000);
    // A later node of the same name starts anew.
    await createPod(cluster, 'later', { node: 'gone' });
    await world.sleep(39_000);
    expect(await pods(cluster)).toEqual(['later Pending', 'on-back Running']);
    await world.sleep(2_000);
    expect(await pods(cluster)).toEqual(['on-back Running']);
  }),
);

test(
  'a terminating pod on an out-of-service node is deleted at once, in any order',
  inCluster(async (cluster, world) => {
    const { client } = cluster;
    const node = ok(await client.create(nodeKind, { metadata: { name: 'n1' } }));
    await createPod(cluster, 'before', { node: 'n1', phase: 'Running' });
    await createPod(cluster, 'after', { node: 'n1', phase: 'Running', finalizers: ['example.com/hold'] });
    ok(await client.delete(podKind, inDefault('before')));
    await world.sleep(1_000);
    expect(await pods(cluster)).toEqual(['after Running', 'before Running']);
    ok(await client.update(nodeKind, { ...node, spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] } }));
    await world.sleep(1_000);
    expect(await pods(cluster)).toEqual(['after Running']);
    ok(await client.delete(podKind, inDefault('after')));
    await world.sleep(1_000);
    expect(await pods(cluster)).toEqual(['after Failed']);
    expect(ok(await client.get(podKind, inDefault('after'))).metadata.deletionGracePeriodSeconds).toBe(0);
  }),
);

test(
  'the oldest finished pods beyond the limit are deleted, evicted ones first',
  inCluster(async (cluster, world) => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await createPod(cluster, name, { phase: name === 'a' ? 'Running' : 'Succeeded' });
      await world.sleep(1_000);
    }
    expect(await pods(cluster)).toEqual(['a Running', 'c Succeeded', 'd Succeeded', 'e Succeeded']);
    await createPod(cluster, 'f');
    const pod = ok(await cluster.client.get(podKind, inDefault('f')));
    ok(await cluster.client.updateStatus(podKind, { ...pod, status: { ...pod.status, phase: 'Failed', reason: 'Evicted' } }));
    await world.sleep(1_000);
    expect(await pods(cluster)).toEqual(['a Running', 'c Succeeded', 'd Succeeded', 'e Succeeded']);
  }),
);

test('hundreds beyond the limit are deleted', () =>
  simulate(1, async (world) => {
    const cluster = await start(world);
    for (let i = 0; i < 300; i++) await createPod(cluster, `p${String(i).padStart(3, '0')}`, { phase: 'Succeeded' });
    startLoops({ transport: cluster.transport, world }, controllers);
    await world.sleep(10_000);
    expect(await pods(cluster)).toEqual(['p297 Succeeded', 'p298 Succeeded', 'p299 Succeeded']);
  }));

test('with crashes anywhere and a faulty network, orphans become Failed and are deleted', async () => {
  for (const seed of seeds(12)) {
    await simulate(seed, async (world) => {
      const cluster = await start(world);
      const network = new SimulatedNetwork(world, badNetwork);
      ok(await cluster.client.create(nodeKind, { metadata: { name: 'n1' } }));
      for (let i = 0; i < 3; i++) {
        await createPod(cluster, `kept${i}`, { node: 'n1', phase: 'Running' });
        await createPod(cluster, `orphan${i}`, { node: 'none', phase: 'Running' });
        await createPod(cluster, `held${i}`, { node: 'none', phase: 'Running', finalizers: ['example.com/hold'] });
        const process = new SimulatedProcess(world, `collector ${i}`);
        let left = world.random.below(6);
        const onAction = () => {
          if (left-- > 0) return 'go';
          process.kill();
          return 'crash';
        };
        startLoops({ transport: process.transport(network.transport(cluster.transport)), world: process, onAction }, controllers);
        await world.sleep(60_000);
      }
      startLoops({ transport: cluster.transport, world }, controllers);
      await world.sleep(60_000);
      expect(await pods(cluster)).toEqual(['held0 Failed', 'held1 Failed', 'held2 Failed', 'kept0 Running', 'kept1 Running', 'kept2 Running']);
    });
  }
});
