/**
 * Agents of hollow nodes that die at every point, on the whole control plane and on disks that remember what is attached: pods end where they
 * belong, and no disk is taken from a pod that has it mounted.
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

class Scene {
  readonly cluster: SimulatedCluster;
  readonly world: SimulatedWorld;
  readonly violations = new Set<string>();

  static async start(world: SimulatedWorld, disks: readonly string[]): Promise<Scene> {
    const scene = new Scene(await SimulatedCluster.start(world), world);
    for (const name of disks) {
      await scene.cluster.volume(name, { hostPath: undefined, csi: { driver: scene.cluster.disks.capabilities.name, volumeHandle: `disk-${name}` } });
      await scene.cluster.claim(name);
    }
    await scene.#watch();
    return scene;
  }

  private constructor(cluster: SimulatedCluster, world: SimulatedWorld) {
    this.cluster = cluster;
    this.world = world;
  }

  /** An agent that dies before its action number `survives`; what it only says does not count. */
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

  /** Whoever runs has its disk: when it starts, and when a disk is detached. */
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
      for (const [name, its] of running) if (its === place) this.violations.add(`${name} was robbed of its disk: ${place}`);
      return detach(place);
    };
  }
}

const isRunning = ({ status }: Pod): boolean => status.containerStatuses?.some(({ state }) => state.running !== undefined) ?? false;
/** 'node-1 disk-vol', as the disks call it. */
const placeOf = ({ spec }: Pod): string => `${spec.nodeName} disk-${spec.volumes?.find(({ name }) => name === 'data')?.persistentVolumeClaim?.claimName}`;

test('an agent that dies before any action, and one after it, end as if it had lived', async () => {
  const longest = 34;
  for (let survives = 0; survives <= longest; survives++) {
    await simulate(
      survives + 1,
      async (world) => {
        const scene = await Scene.start(world, ['vol']);
        await scene.pod('one', 'node-1', 'vol');
        const doomed = scene.runDoomed(survives);
        await world.sleep(10_000);
        await scene.deletePod('one');
        await scene.pod('two', 'node-2', 'vol');
        await world.sleep(10_000);
        if (survives === longest) expect(doomed.process.alive, 'the story has more actions than the test tries').toBe(true);
        doomed.process.kill();
        await scene.cluster.startNodes({ hosts: scene.cluster.hosts({ count: 2 }) }).ready;
        await world.sleep(30_000);
        expect(await scene.look()).toEqual(['disk-vol@node-2', 'node-2 in use: disk-vol', 'two Running on node-2']);
        await scene.deletePod('two');
        await world.sleep(30_000);
        expect(await scene.look()).toEqual([]);
        expect([...scene.violations]).toEqual([]);
      },
      { steps: 10_000_000 },
    );
  }
});

const disks = ['a', 'b', 'c'];

/** Pods come and go, on either node. Returns those that are left, with their places. */
async function comeAndGo(scene: Scene, moves: number): Promise<ReadonlyMap<string, { readonly node: string; readonly disk: string }>> {
  const { world } = scene;
  const there = new Map<string, { node: string; disk: string }>();
  for (let i = 0; i < moves; i++) {
    await world.sleep(world.random.float() * 1500);
    const disk = disks[world.random.below(disks.length)] ?? '';
    const user = [...there].find(([, place]) => place.disk === disk)?.[0];
    if (user !== undefined && world.random.chance(0.7)) {
      await scene.deletePod(user);
      there.delete(user);
    }
    if (user === undefined || world.random.chance(0.5)) {
      const node = `node-${1 + world.random.below(2)}`;
      await scene.pod(`pod-${i}`, node, disk, world.random.chance(0.3) ? { 'mooring.dev/stop-after': '3s' } : {});
      there.set(`pod-${i}`, { node, disk });
    }
  }
  // One pod for each disk, so that all of them can run.
  const wanted = new Map([...there].map(([name, place]) => [place.disk, name]));
  for (const [name, { disk }] of there) {
    if (wanted.get(disk) === name) continue;
    await scene.deletePod(name);
    there.delete(name);
  }
  return there;
}

async function expectServed(scene: Scene, left: ReadonlyMap<string, { readonly node: string; readonly disk: string }>): Promise<void> {
  const expected = [...left].flatMap(([name, { node, disk }]) => [`${name} Running on ${node}`, `${node} in use: disk-${disk}`, `disk-${disk}@${node}`]);
  expect(await scene.look()).toEqual(expected.sort());
  for (const name of left.keys()) await scene.deletePod(name);
  await scene.world.sleep(60_000);
  expect(await scene.look()).toEqual([]);
  expect([...scene.violations]).toEqual([]);
}

test('agents die again and again while pods come and go', async () => {
  for (const seed of seeds(3)) {
    await simulate(
      seed,
      async (world) => {
        const scene = await Scene.start(world, disks);
        const dying = (async () => {
          for (let i = 0; i < 15; i++) {
            const { process } = scene.runDoomed(world.random.below(25));
            await world.sleep(world.random.float() * 4000);
            process.kill();
          }
        })();
        const left = await comeAndGo(scene, 40);
        await dying;
        await scene.cluster.startNodes({ hosts: scene.cluster.hosts({ count: 2 }) }).ready;
        await world.sleep(120_000);
        await expectServed(scene, left);
      },
      { steps: 20_000_000 },
    );
  }
});

test('a bad network delays, and robs nobody', async () => {
  for (const seed of seeds(3)) {
    await simulate(
      seed,
      async (world) => {
        const scene = await Scene.start(world, disks);
        const network = new SimulatedNetwork(world, badNetwork);
        scene.cluster.startNodes({ hosts: scene.cluster.hosts({ count: 2 }), through: (server) => network.transport(server) });
        const left = await comeAndGo(scene, 40);
        await world.sleep(30_000);
        network.heal();
        await world.sleep(200_000);
        await expectServed(scene, left);
      },
      { steps: 20_000_000 },
    );
  }
});

test('a pod that is deleted while its disk is on its way takes nothing with it', async () => {
  for (const seed of seeds(6)) {
    await simulate(
      seed,
      async (world) => {
        const scene = await Scene.start(world, ['vol']);
        await scene.cluster.startNodes({ hosts: scene.cluster.hosts({ count: 2 }) }).ready;
        for (let i = 0; i < 10; i++) {
          await scene.pod(`pod-${i}`, `node-${1 + (i % 2)}`, 'vol');
          await world.sleep(world.random.float() * 60);
          await scene.deletePod(`pod-${i}`);
        }
        await world.sleep(60_000);
        expect(await scene.look()).toEqual([]);
        expect([...scene.violations]).toEqual([]);
      },
      { steps: 10_000_000 },
    );
  }
});

test('a node that is deleted and comes back with its agent has its pods as before', async () => {
  for (const seed of seeds(3)) {
    await simulate(
      seed,
      async (world) => {
        const scene = await Scene.start(world, ['vol']);
        const nodes = scene.cluster.startNodes({ hosts: scene.cluster.hosts({ count: 2 }) });
        await nodes.ready;
        await scene.pod('web', 'node-1', 'vol');
        await world.sleep(5_000);
        await scene.cluster.delete(nodeKind, { name: 'node-1' });
        await world.sleep(world.random.float() * 10_000);
        await nodes.stop();
        await scene.cluster.startNodes({ hosts: scene.cluster.hosts({ count: 2 }) }).ready;
        await world.sleep(10_000);
        expect(await scene.look()).toEqual(['disk-vol@node-1', 'node-1 in use: disk-vol', 'web Running on node-1']);
        expect([...scene.violations]).toEqual([]);
      },
      { steps: 10_000_000 },
    );
  }
});
