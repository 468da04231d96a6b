/** The taint eviction controller on the real registry, in simulated time. */
import { expect, test } from 'vitest';
import { startTestCluster, type TestCluster } from '../../client/test-cluster.ts';
import { anyController, events, inClusterWith, ok, type Parts, startLoops } from '../../client/loops.ts';
import type { Taint, Toleration } from '../../../src/api/generated/types.ts';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { serviceAccountKind } from '../../../src/api/kinds/core/service-account.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { badNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../../src/sim/world/process.ts';
import { seeds } from '../../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { eventSources } from '../../../src/cluster/controllers/event-sources.ts';
import { taintEviction } from '../../../src/controllers/cluster/taint-eviction/controller.ts';

const controllers = ({ recorder, ...parts }: Parts) => [
  anyController(taintEviction({ ...parts, clock: parts.world.clock, recorder: recorder(eventSources['taint-eviction-controller']) })),
];
const inDefault = (name: string) => ({ namespace: 'default', name });
const outOfService: Taint = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' };
const lost: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };

async function startNodes(world: SimulatedWorld): Promise<TestCluster> {
  const cluster = await startTestCluster(world);
  ok(await cluster.client.create(serviceAccountKind, { metadata: inDefault('default') }));
  for (const name of ['n1', 'n2']) ok(await cluster.client.create(nodeKind, { metadata: { name } }));
  return cluster;
}

const createPod = async ({ client }: TestCluster, name: string, { nodeName = 'n1', tolerations = [] as readonly Toleration[] } = {}) =>
  ok(await client.create(podKind, { metadata: inDefault(name), spec: { nodeName, containers: [{ name: 'c', image: 'i' }], tolerations } }));

async function taint({ client }: TestCluster, ...taints: readonly Taint[]): Promise<void> {
  const node = ok(await client.get(nodeKind, { name: 'n1' }));
  ok(await client.update(nodeKind, { ...node, spec: { ...node.spec, taints: [...taints] } }));
}

/** 'web' stays, 'web (going: DeletionByTaintManager)' goes. */
async function pods({ client }: TestCluster): Promise<string[]> {
  const { items } = ok(await client.list(podKind));
  return items
    .map(({ metadata, status }) => {
      const reason = status.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason ?? 'no reason';
      return metadata.deletionTimestamp === undefined ? (metadata.name ?? '') : `${metadata.name ?? ''} (going: ${reason})`;
    })
    .sort();
}

const inCluster = inClusterWith(startNodes, controllers);

test(
  'a NoExecute taint evicts the pods that do not tolerate it, also later ones',
  inCluster(async (cluster, world) => {
    await createPod(cluster, 'web');
    await createPod(cluster, 'agent', { tolerations: [{ operator: 'Exists' }] });
    await createPod(cluster, 'elsewhere', { nodeName: 'n2' });
    await taint(cluster, outOfService);
    await world.sleep(50);
    await createPod(cluster, 'late');
    await world.sleep(50);
    expect(await pods(cluster)).toEqual(['agent', 'elsewhere', 'late (going: DeletionByTaintManager)', 'web (going: DeletionByTaintManager)']);
    expect(await events(cluster.client)).toEqual([
      'taint-eviction-controller Pod/late TaintManagerEviction: Marking for deletion Pod default/late x1',
      'taint-eviction-controller Pod/web TaintManagerEviction: Marking for deletion Pod default/web x1',
    ]);
  }),
);

test(
  'a pod stays for its tolerationSeconds: five minutes by default',
  inCluster(async (cluster, world) => {
    await createPod(cluster, 'web');
    await createPod(cluster, 'hasty', { tolerations: [{ key: lost.key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 20 }] });
    await taint(cluster, lost);
    await world.sleep(19_900);
    expect(await pods(cluster)).toEqual(['hasty', 'web']);
    await world.sleep(200);
    expect(await pods(cluster)).toEqual(['hasty (going: DeletionByTaintManager)', 'web']);
    await world.sleep(279_700);
    expect(await pods(cluster)).toContain('web');
    await world.sleep(300);
    expect(await pods(cluster)).toContain('web (going: DeletionByTaintManager)');
  }),
);

test(
  'a node that comes back keeps its pods, with an event',
  inCluster(async (cluster, world) => {
    await createPod(cluster, 'web');
    await taint(cluster, lost);
    await world.sleep(200_000);
    await taint(cluster);
    await world.sleep(600_000);
    expect(await pods(cluster)).toEqual(['web']);
    expect(await events(cluster.client)).toEqual(['taint-eviction-controller Pod/web TaintManagerEviction: Cancelling deletion of Pod default/web x1']);
  }),
);

test('with crashes anywhere and a faulty network, exactly the right pods are evicted', async () => {
  for (const seed of seeds(12)) {
    await simulate(seed, async (world) => {
      const cluster = await startNodes(world);
      const network = new SimulatedNetwork(world, badNetwork);
      for (let i = 0; i < 4; i++) {
        await createPod(cluster, `p${i}`);
        await createPod(cluster, `stays${i}`, { tolerations: [{ operator: 'Exists' }] });
        if (i === 1) await taint(cluster, outOfService);
        const process = new SimulatedProcess(world, `eviction ${i}`);
        let left = world.random.below(5);
        startLoops(
          {
            transport: process.transport(network.transport(cluster.transport)),
            world: process,
            onAction: () => {
              if (left-- > 0) return 'go';
              process.kill();
              return 'crash';
            },
          },
          controllers,
        );
        await world.sleep(world.random.float() * 500);
      }
      startLoops({ transport: cluster.transport, world }, controllers);
      await world.sleep(10_000);
      const goes = [0, 1, 2, 3].map((i) => `p${i} (going: DeletionByTaintManager)`);
      expect(await pods(cluster)).toEqual([...goes, 'stays0', 'stays1', 'stays2', 'stays3']);
    });
  }
});
