/**
 * Agents of hollow nodes that die at every action, with the whole control plane and a driver that knows what is attached: pods reach the same
 * state, and no disk is detached while a pod has it mounted.
 */
import { expect, test } from 'vitest';
import type { Pod } from '../../src/api/generated/types.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import type { ActionPoint } from '../../src/client/controller/loop.ts';
import type { HollowNodes } from '../../src/node/hollow-nodes.ts';
import { badNetwork, SimulatedNetwork } from '../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../src/sim/world/process.ts';
import { seeds } from '../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import { ok, SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';

const inDefault = (name: string) => ({ namespace: 'default', name });

class DiskCluster {
  readonly cluster: SimulatedCluster;
  readonly world: SimulatedWorld;
  readonly violations = new Set<string>();

  static async start(world: SimulatedWorld, disks: readonly string[]): Promise<DiskCluster> {
    const harness = new DiskCluster(await SimulatedCluster.start(world), world);
    for (const name of disks) {
      await harness.cluster.volume(name, { hostPath: undefined, csi: { driver: harness.cluster.disks.capabilities.name, volumeHandle: `disk-${name}` } });
      await harness.cluster.claim(name);
    }
    await harness.#watch();
    return harness;
  }

  private constructor(cluster: SimulatedCluster, world: SimulatedWorld) {
    this.cluster = cluster;
    this.world = world;
  }

  /** An agent that dies before its action number `survives`; events do not count. */
  runDoomed(survives: number): { readonly process: SimulatedProcess; readonly nodes: HollowNodes } {
    const process = new SimulatedProcess(this.world, 'doomed');
    let left = survives;
    const onAction = ({ action }: ActionPoint): 'go' | 'crash' => {
      if ((action as { do: string }).do === 'record-event' || left-- > 0) return 'go';
      process.kill();
      return 'crash';
    };
    return {
      process,
      nodes: this.cluster.startNodes({ hosts: this.cluster.hosts({ count: 2 }), world: process, through: (server) => process.transport(server), onAction }),
    };
  }

  async pod(name: string, node: string, disk: string, annotations: Record<string, string> = {}): Promise<void> {
    await this.cluster.create(podKind, {
      metadata: { ...inDefault(name), annotations },
      spec: {
        nodeName: node,
        containers: [{ name: 'app', image: 'nginx', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: disk } }],
      },
    });
  }

  async deletePod(name: string): Promise<void> {
    const deleted = await this.cluster.client.delete(podKind, inDefault(name));
    if (!deleted.ok && deleted.reason !== 'notFound') throw deleted.error;
  }

  async pods(): Promise<readonly Pod[]> {
    return ok(await this.cluster.client.list(podKind)).items;
  }

  /** 'web Running on node-1', 'node-1 in use: disk-vol', 'disk-vol@node-1': sorted. */
  async look(): Promise<string[]> {
    const nodes = ok(await this.cluster.client.list(nodeKind)).items;
    return [
      ...(await this.pods()).map(({ metadata, spec, status }) => `${metadata.name} ${status.phase} on ${spec.nodeName}`),
      ...nodes.flatMap(({ metadata, status }) => (status.volumesInUse ?? []).map((volume) => `${metadata.name} in use: ${volume.replace(/.*\^/, '')}`)),
      ...Array.from(this.cluster.disks.attached, (text) => text.split(' ')).map(([node, disk]) => `${disk}@${node}`),
    ].sort();
  }

  /** Checks that a running pod has its disk attached: when it starts, and when a disk is detached. */
  async #watch(): Promise<void> {
    const { attached } = this.cluster.disks;
    const running = new Map<string, string>();
    const { metadata } = ok(await this.cluster.client.list(podKind));
    this.cluster.client.watch(
      podKind,
      { resourceVersion: metadata.resourceVersion },
      {
        events: (batch) => {
          for (const { type, object } of batch) {
            if (type === 'BOOKMARK') continue;
            const [name, place] = [object.metadata.name ?? '', placeOf(object)];
            if (type === 'DELETED' || !isRunning(object)) running.delete(name);
            else running.set(name, place);
            if (running.has(name) && !attached.has(place)) this.violations.add(`${name} runs without its disk: ${place}`);
          }
        },
        end: () => this.violations.add('the watch ended'),
      },
    );
    const detach = attached.delete.bind(attached);
    attached.delete = (place) => {
      for (const [name, its] of running) if (its === place) this.violations.add(`${name} lost its disk: ${place}`);
      return detach(place);
    };
  }
}

const isRunning = ({ status }: Pod): boolean => status.containerStatuses?.some(({ state }) => state.running !== undefined) ?? false;
/** 'node-1 disk-vol', as the driver names it. */
const placeOf = ({ spec }: Pod): string => `${spec.nodeName} disk-${spec.volumes?.find(({ name }) => name === 'data')?.persistentVolumeClaim?.claimName}`;

test('an agent that dies before any action, and its successor, end as if it had lived', async () => {
  const longest = 34;
  for (let survives = 0; survives <= longest; survives++) {
    await simulate(
      survives + 1,
      async (world) => {
        const harness = await DiskCluster.start(world, ['vol']);
        await harness.pod('one', 'node-1', 'vol');
        const doomed = harness.runDoomed(survives);
        await world.sleep(10_000);
        await harness.deletePod('one');
        await harness.pod('two', 'node-2', 'vol');
        await world.sleep(10_000);
        if (survives === longest) expect(doomed.process.alive, 'there are more actions than the test tries').toBe(true);
        doomed.process.kill();
        await harness.cluster.startNodes({ hosts: harness.cluster.hosts({ count: 2 }) }).ready;
        await world.sleep(30_000);
        expect(await harness.look()).toEqual(['disk-vol@node-2', 'node-2 in use: disk-vol', 'two Running on node-2']);
        await harness.deletePod('two');
        await world.sleep(30_000);
        expect(await harness.look()).toEqual([]);
        expect([...harness.violations]).toEqual([]);
      },
      { steps: 10_000_000 },
    );
  }
});

const disks = ['a', 'b', 'c'];

/** Creates and deletes pods on both nodes. Returns those that are left, with their nodes and disks. */
async function comeAndGo(harness: DiskCluster, moves: number): Promise<ReadonlyMap<string, { readonly node: string; readonly disk: string }>> {
  const { world } = harness;
  const there = new Map<string, { node: string; disk: string }>();
  for (let i = 0; i < moves; i++) {
    await world.sleep(world.random.float() * 1500);
    const disk = disks[world.random.below(disks.length)] ?? '';
    const user = [...there].find(([, place]) => place.disk === disk)?.[0];
    if (user !== undefined && world.random.chance(0.7)) {
      await harness.deletePod(user);
      there.delete(user);
    }
    if (user === undefined || world.random.chance(0.5)) {
      const node = `node-${1 + world.random.below(2)}`;
      await harness.pod(`pod-${i}`, node, disk, world.random.chance(0.3) ? { 'mooring.dev/stop-after': '3s' } : {});
      there.set(`pod-${i}`, { node, disk });
    }
  }
  // One pod for each disk, so that all of them can run.
  const wanted = new Map([...there].map(([name, place]) => [place.disk, name]));
  for (const [name, { disk }] of there) {
    if (wanted.get(disk) === name) continue;
    await harness.deletePod(name);
    there.delete(name);
  }
  return there;
}

async function expectServed(harness: DiskCluster, left: ReadonlyMap<string, { readonly node: string; readonly disk: string }>): Promise<void> {
  const expected = [...left].flatMap(([name, { node, disk }]) => [`${name} Running on ${node}`, `${node} in use: disk-${disk}`, `disk-${disk}@${node}`]);
  expect(await harness.look()).toEqual(expected.sort());
  for (const name of left.keys()) await harness.deletePod(name);
  await harness.world.sleep(60_000);
  expect(await harness.look()).toEqual([]);
  expect([...harness.violations]).toEqual([]);
}

test('agents die again and again while pods are created and deleted', async () => {
  for (const seed of seeds(3)) {
    await simulate(
      seed,
      async (world) => {
        const harness = await DiskCluster.start(world, disks);
        const dying = (async () => {
          for (let i = 0; i < 15; i++) {
            const { process } = harness.runDoomed(world.random.below(25));
            await world.sleep(world.random.float() * 4000);
            process.kill();
          }
        })();
        const left = await comeAndGo(harness, 40);
        await dying;
        await harness.cluster.startNodes({ hosts: harness.cluster.hosts({ count: 2 }) }).ready;
        await world.sleep(120_000);
        await expectServed(harness, left);
      },
      { steps: 20_000_000 },
    );
  }
});

test('a bad network causes delays, and detaches no disk of a running pod', async () => {
  for (const seed of seeds(3)) {
    await simulate(
      seed,
      async (world) => {
        const harness = await DiskCluster.start(world, disks);
        const network = new SimulatedNetwork(world, badNetwork);
        harness.cluster.startNodes({ hosts: harness.cluster.hosts({ count: 2 }), through: (server) => network.transport(server) });
        const left = await comeAndGo(harness, 40);
        await world.sleep(30_000);
        network.heal();
        await world.sleep(200_000);
        await expectServed(harness, left);
      },
      { steps: 20_000_000 },
    );
  }
});

test('a pod that is deleted while its disk is being attached leaves nothing behind', async () => {
  for (const seed of seeds(6)) {
    await simulate(
      seed,
      async (world) => {
        const harness = await DiskCluster.start(world, ['vol']);
        await harness.cluster.startNodes({ hosts: harness.cluster.hosts({ count: 2 }) }).ready;
        for (let i = 0; i < 10; i++) {
          await harness.pod(`pod-${i}`, `node-${1 + (i % 2)}`, 'vol');
          await world.sleep(world.random.float() * 60);
          await harness.deletePod(`pod-${i}`);
        }
        await world.sleep(60_000);
        expect(await harness.look()).toEqual([]);
        expect([...harness.violations]).toEqual([]);
      },
      { steps: 10_000_000 },
    );
  }
});

test('a Node that is deleted and registered again has its pods as before', async () => {
  for (const seed of seeds(3)) {
    await simulate(
      seed,
      async (world) => {
        const harness = await DiskCluster.start(world, ['vol']);
        const nodes = harness.cluster.startNodes({ hosts: harness.cluster.hosts({ count: 2 }) });
        await nodes.ready;
        await harness.pod('web', 'node-1', 'vol');
        await world.sleep(5_000);
        await harness.cluster.delete(nodeKind, { name: 'node-1' });
        await world.sleep(world.random.float() * 10_000);
        await nodes.stop();
        await harness.cluster.startNodes({ hosts: harness.cluster.hosts({ count: 2 }) }).ready;
        await world.sleep(10_000);
        expect(await harness.look()).toEqual(['disk-vol@node-1', 'node-1 in use: disk-vol', 'web Running on node-1']);
        expect([...harness.violations]).toEqual([]);
      },
      { steps: 10_000_000 },
    );
  }
});
