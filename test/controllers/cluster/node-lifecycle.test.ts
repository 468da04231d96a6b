/** The node lifecycle controller on the real registry, in simulated time. */
import { expect, test } from 'vitest';
import { startTestCluster, type TestCluster } from '../../client/test-cluster.ts';
import { anyController, events, inClusterWith, ok, type Parts, startLoops } from '../../client/loops.ts';
import { leaseKind } from '../../../src/api/kinds/coordination/lease.ts';
import { namespaceKind } from '../../../src/api/kinds/core/namespace.ts';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { serviceAccountKind } from '../../../src/api/kinds/core/service-account.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { badNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../../src/sim/world/process.ts';
import { seeds } from '../../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { eventSources } from '../../../src/cluster/controllers/event-sources.ts';
import { nodeLifecycle } from '../../../src/controllers/cluster/node-lifecycle/controller.ts';
import { leaseNamespace } from '../../../src/controllers/cluster/node-lifecycle/node-heartbeats.ts';

const controllers = ({ recorder, ...parts }: Parts) => [
  anyController(nodeLifecycle({ ...parts, clock: parts.world.clock, recorder: recorder(eventSources['node-controller']) })),
];
const inDefault = (name: string) => ({ namespace: 'default', name });
const time = (world: SimulatedWorld) => new Date(world.clock.now()).toISOString();

async function start(world: SimulatedWorld): Promise<TestCluster> {
  const cluster = await startTestCluster(world);
  ok(await cluster.client.create(namespaceKind, { metadata: { name: leaseNamespace } }));
  ok(await cluster.client.create(serviceAccountKind, { metadata: inDefault('default') }));
  return cluster;
}

/** A kubelet that only renews its Lease every ten seconds until it stops. */
class Kubelet {
  readonly #cluster: TestCluster;
  readonly #world: SimulatedWorld;
  readonly #name: string;
  #alive = true;

  static async start(cluster: TestCluster, world: SimulatedWorld, { name, zone = 'a' }: { readonly name: string; readonly zone?: string }): Promise<Kubelet> {
    const kubelet = new Kubelet(cluster, world, name);
    ok(await cluster.client.create(nodeKind, { metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } } }));
    await kubelet.report('True');
    ok(await cluster.client.create(leaseKind, { metadata: { namespace: leaseNamespace, name }, spec: { renewTime: micro(time(world)) } }));
    void kubelet.#renew();
    return kubelet;
  }

  constructor(cluster: TestCluster, world: SimulatedWorld, name: string) {
    this.#cluster = cluster;
    this.#world = world;
    this.#name = name;
  }

  async report(ready: string): Promise<void> {
    const at = `${time(this.#world).slice(0, 19)}Z`;
    const body = {
      status: { conditions: [{ type: 'Ready', status: ready, lastHeartbeatTime: at, lastTransitionTime: at, reason: 'Kubelet', message: 'says so' }] },
    };
    ok(await this.#cluster.client.patch(nodeKind, { name: this.#name }, { type: 'strategic', body }, { subresource: 'status' }));
  }

  die(): void {
    this.#alive = false;
  }

  async revive(): Promise<void> {
    this.#alive = true;
    await this.report('True');
    void this.#renew();
  }

  async #renew(): Promise<void> {
    for (;;) {
      await this.#world.sleep(10_000);
      if (!this.#alive) return;
      const body = { spec: { renewTime: micro(time(this.#world)) } };
      ok(await this.#cluster.client.patch(leaseKind, { namespace: leaseNamespace, name: this.#name }, { type: 'merge', body }));
    }
  }
}
const micro = (iso: string) => iso.replace('Z', '000Z');

/** 'n1 Ready=True, tainted unreachable:NoSchedule' */
async function nodes({ client }: TestCluster): Promise<string[]> {
  const { items } = ok(await client.list(nodeKind));
  return items.map(({ metadata, spec, status }) => {
    const ready = status.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'unsaid';
    const taints = (spec.taints ?? []).map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`);
    return `${metadata.name ?? ''} Ready=${ready}${taints.length === 0 ? '' : `, tainted ${taints.join(' ')}`}`;
  });
}

async function readyPod({ client }: TestCluster, world: SimulatedWorld, { name, node }: { readonly name: string; readonly node: string }): Promise<void> {
  const pod = ok(await client.create(podKind, { metadata: inDefault(name), spec: { nodeName: node, containers: [{ name: 'c', image: 'i' }] } }));
  const condition = { type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: `${time(world).slice(0, 19)}Z` };
  ok(await client.updateStatus(podKind, { ...pod, status: { ...pod.status, phase: 'Running', conditions: [condition] } }));
}
const readiness = async ({ client }: TestCluster) =>
  ok(await client.list(podKind)).items.map(
    ({ metadata, status }) => `${metadata.name ?? ''} ${status.conditions?.find(({ type }) => type === 'Ready')?.status ?? ''}`,
  );

const inCluster = inClusterWith(start, controllers);

const tainted = 'tainted unreachable:NoSchedule unreachable:NoExecute';

test(
  'a node whose lease is not renewed is unreachable after 50 s; when its kubelet is back it is as before',
  inCluster(async (cluster, world) => {
    await Kubelet.start(cluster, world, { name: 'n1' });
    const lost = await Kubelet.start(cluster, world, { name: 'n2' });
    await readyPod(cluster, world, { name: 'web', node: 'n2' });
    await world.sleep(302_000);
    expect(await nodes(cluster)).toEqual(['n1 Ready=True', 'n2 Ready=True']);
    lost.die();
    await world.sleep(47_900);
    expect(await nodes(cluster)).toEqual(['n1 Ready=True', 'n2 Ready=True']);
    await world.sleep(200);
    expect(await nodes(cluster)).toEqual(['n1 Ready=True', `n2 Ready=Unknown, ${tainted}`]);
    expect(await readiness(cluster)).toEqual(['web False']);
    await lost.revive();
    await world.sleep(1_000);
    expect(await nodes(cluster)).toEqual(['n1 Ready=True', 'n2 Ready=True']);
    expect(await events(cluster.client)).toEqual([
      'node-controller Node/n1 RegisteredNode: Node n1 event: Registered Node n1 in Controller x1',
      'node-controller Node/n2 NodeNotReady: Node n2 status is now: NodeNotReady x1',
      'node-controller Node/n2 RegisteredNode: Node n2 event: Registered Node n2 in Controller x1',
      'node-controller Pod/web NodeNotReady: Node is not ready x1',
    ]);
  }),
);

test(
  'a node without a lease is left alone, until it has one; from then on it is monitored for good',
  inCluster(async (cluster, world) => {
    const { client } = cluster;
    const body = { spec: { unschedulable: true }, status: { conditions: [{ type: 'Ready', status: 'False', reason: 'x', message: 'x' }] } };
    ok(await client.create(nodeKind, { metadata: { name: 'n1' }, ...body }));
    await world.sleep(600_000);
    expect(await nodes(cluster)).toEqual(['n1 Ready=False']);
    expect(await events(client)).toEqual([]);
    ok(await client.create(leaseKind, { metadata: { namespace: 'default', name: 'n1' } }));
    await world.sleep(1_000);
    expect(await nodes(cluster)).toEqual(['n1 Ready=False']);
    ok(await client.create(leaseKind, { metadata: { namespace: leaseNamespace, name: 'n1' } }));
    await world.sleep(1_000);
    // It is the only node: with all nodes down there are no evictions.
    expect(await nodes(cluster)).toEqual(['n1 Ready=False, tainted not-ready:NoSchedule unschedulable:NoSchedule']);
    ok(await client.delete(leaseKind, { namespace: leaseNamespace, name: 'n1' }));
    await world.sleep(60_000);
    expect(await nodes(cluster)).toEqual(['n1 Ready=Unknown, tainted unschedulable:NoSchedule unreachable:NoSchedule']);
  }),
);

test(
  'a node without a lease is left alone also if another client sets its conditions to Unknown',
  inCluster(async (cluster, world) => {
    const unknown = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' };
    ok(await cluster.client.create(nodeKind, { metadata: { name: 'n1' }, status: { conditions: [unknown] } }));
    await world.sleep(600_000);
    expect(await nodes(cluster)).toEqual(['n1 Ready=Unknown']);
    expect(await events(cluster.client)).toEqual([]);
  }),
);

test(
  'cordoned, a node takes no pods; uncordoned, it does',
  inCluster(async (cluster, world) => {
    await Kubelet.start(cluster, world, { name: 'n1' });
    for (const unschedulable of [true, false]) {
      const node = ok(await cluster.client.get(nodeKind, { name: 'n1' }));
      ok(await cluster.client.update(nodeKind, { ...node, spec: { ...node.spec, unschedulable } }));
      await world.sleep(50);
      expect(await nodes(cluster)).toEqual([unschedulable ? 'n1 Ready=True, tainted unschedulable:NoSchedule' : 'n1 Ready=True']);
    }
  }),
);

test(
  'of several unreachable nodes one is evicted every ten seconds; if all are unreachable none is',
  inCluster(async (cluster, world) => {
    const kubelets = [];
    for (const name of ['n1', 'n2', 'n3', 'n4', 'n5']) kubelets.push(await Kubelet.start(cluster, world, { name }));
    for (const kubelet of kubelets.slice(0, 2)) kubelet.die();
    await world.sleep(55_000);
    expect((await nodes(cluster)).filter((node) => node.endsWith(tainted))).toHaveLength(1);
    await world.sleep(10_000);
    expect((await nodes(cluster)).slice(0, 2)).toEqual([`n1 Ready=Unknown, ${tainted}`, `n2 Ready=Unknown, ${tainted}`]);
    for (const kubelet of kubelets) kubelet.die();
    await world.sleep(120_000);
    expect(await nodes(cluster)).toEqual(['n1', 'n2', 'n3', 'n4', 'n5'].map((name) => `${name} Ready=Unknown, tainted unreachable:NoSchedule`));
    await kubelets[4]?.revive();
    await world.sleep(15_000);
    // Four of five nodes are down: a small zone has no evictions.
    expect(await nodes(cluster)).toEqual([...['n1', 'n2', 'n3', 'n4'].map((name) => `${name} Ready=Unknown, tainted unreachable:NoSchedule`), 'n5 Ready=True']);
  }),
);

test(
  'a deleted node gets an event, and comes back as a new one',
  inCluster(async (cluster, world) => {
    const kubelet = await Kubelet.start(cluster, world, { name: 'n1' });
    await world.sleep(1_000);
    ok(await cluster.client.delete(nodeKind, { name: 'n1' }));
    kubelet.die();
    await world.sleep(100_000);
    ok(await cluster.client.create(nodeKind, { metadata: { name: 'n1' } }));
    await world.sleep(1_000);
    expect(await events(cluster.client)).toEqual([
      'node-controller Node/n1 RegisteredNode: Node n1 event: Registered Node n1 in Controller x1',
      'node-controller Node/n1 RegisteredNode: Node n1 event: Registered Node n1 in Controller x1',
      'node-controller Node/n1 RemovingNode: Node n1 event: Removing Node n1 from Controller x1',
    ]);
    expect(await nodes(cluster)).toEqual(['n1 Ready=unsaid']);
    await world.sleep(60_000);
    expect(await nodes(cluster)).toEqual(['n1 Ready=Unknown, tainted unreachable:NoSchedule']);
  }),
);

test(
  'a hundred nodes that renew their leases cost two passes a minute each, not six',
  inCluster(async (cluster, world) => {
    for (let i = 0; i < 100; i++) await Kubelet.start(cluster, world, { name: `n${i}` });
    await world.sleep(60_000);
    const looks = () => world.lines.filter(({ message }) => message === 'decided').length;
    world.lines.length = 0;
    await world.sleep(300_000);
    expect(looks()).toBeLessThanOrEqual(100 * 2 * 5);
    expect(looks()).toBeGreaterThan(100);
  }),
);

test('with crashes anywhere and a faulty network, dead nodes become unreachable and the others do not', async () => {
  for (const seed of seeds(10)) {
    await simulate(seed, async (world) => {
      const cluster = await start(world);
      const network = new SimulatedNetwork(world, badNetwork);
      for (const name of ['n1', 'n2', 'n3']) await Kubelet.start(cluster, world, { name });
      const lost = await Kubelet.start(cluster, world, { name: 'n4' });
      await readyPod(cluster, world, { name: 'web', node: 'n4' });
      await readyPod(cluster, world, { name: 'db', node: 'n4' });
      await world.sleep(5_000);
      lost.die();
      for (let i = 0; i < 3; i++) {
        const process = new SimulatedProcess(world, `lifecycle ${i}`);
        let left = world.random.below(5);
        const onAction = () => {
          if (left-- > 0) return 'go';
          process.kill();
          return 'crash';
        };
        startLoops({ transport: process.transport(network.transport(cluster.transport)), world: process, onAction }, controllers);
        await world.sleep(70_000);
      }
      startLoops({ transport: cluster.transport, world }, controllers);
      await world.sleep(80_000);
      expect(await nodes(cluster)).toEqual(['n1 Ready=True', 'n2 Ready=True', 'n3 Ready=True', `n4 Ready=Unknown, ${tainted}`]);
      expect(await readiness(cluster)).toEqual(['db False', 'web False']);
    });
  }
});
