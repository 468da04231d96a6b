/** Processes that die at every point, networks that lose and delay, and two leaders: volumes end attached where pods need them, and no mounted volume is detached. */
import { expect, test } from 'vitest';
import type { RunningControllers } from '../../../src/client/controller/leader-elected-controllers.ts';
import { badNetwork, perfectNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../../src/sim/world/process.ts';
import { seeds } from '../../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { Disks, Kubelet, runAttacher, type Violations } from './actors.ts';
import { Cluster, runAttachDetach, runLedAttachDetach } from './cluster.ts';

interface Set {
  readonly cluster: Cluster;
  readonly disks: Disks;
  readonly violations: Violations;
}

async function setUp(world: SimulatedWorld): Promise<Set> {
  const cluster = await Cluster.start(world);
  const disks = new Disks();
  const violations: Violations = [];
  const context = { cluster, world, disks, violations };
  const kubelets = new Map(['n1', 'n2'].map((name) => [name, new Kubelet(context, name)]));
  for (const [name, kubelet] of kubelets) {
    await cluster.node(name);
    void kubelet.run();
  }
  void runAttacher({ ...context, kubelets });
  return { cluster, disks, violations };
}

/** Dies before its action number `survives`. */
function runDoomed(cluster: Cluster, world: SimulatedWorld, survives: number): SimulatedProcess {
  const process = new SimulatedProcess(world, 'doomed');
  let left = survives;
  runAttachDetach(process.transport(cluster.transport), process, {
    onAction: () => {
      if (left-- > 0) return 'go';
      process.kill();
      return 'crash';
    },
  });
  return process;
}

async function dieAgainAndAgain(cluster: Cluster, world: SimulatedWorld, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const process = runDoomed(cluster, world, world.random.below(10));
    await world.sleep(world.random.float() * 4000);
    process.kill();
  }
}

const inUse = (line: string) => line.replace(/ in use: .*/, '');

test('a process that dies before any action, and one after it, attach and detach as if it had lived', async () => {
  const longest = 12;
  for (let survives = 0; survives <= longest; survives++) {
    await simulate(survives + 1, async (world) => {
      const { cluster, disks, violations } = await setUp(world);
      await cluster.volume('vol');
      await cluster.pod('one', 'n1', 'vol');
      const first = runDoomed(cluster, world, survives);
      await world.sleep(5_000);
      await cluster.deletePod('one');
      await cluster.pod('two', 'n2', 'vol');
      await world.sleep(5_000);
      if (survives === longest) expect(first.alive, 'the run has more actions than the test tries').toBe(true);
      first.kill();
      runAttachDetach(cluster.transport, world);
      await world.sleep(180_000);
      expect((await cluster.look()).map(inUse)).toEqual(['node/n1', 'node/n2 vol', 'va/vol@n2 attached']);
      expect(disks.all).toEqual(['vol@n2']);
      await cluster.deletePod('two');
      await world.sleep(180_000);
      expect(await cluster.look()).toEqual(['node/n1', 'node/n2']);
      expect(disks.all).toEqual([]);
      expect(violations).toEqual([]);
    });
  }
});

const volumes = ['vol', 'other', 'shared'];

/** Pods come and go, on either node, for a while. Returns those that are left: 'vol@n1'. */
async function comeAndGo(cluster: Cluster, world: SimulatedWorld, moves: number): Promise<Map<string, string>> {
  const running = new Map<string, string>();
  for (let i = 0; i < moves; i++) {
    await world.sleep(world.random.float() * 1500);
    const volume = volumes[world.random.below(volumes.length)] ?? '';
    const node = `n${1 + world.random.below(2)}`;
    const [name] = [...running].find(([, place]) => place === `${volume}@${node}`) ?? [];
    if (name !== undefined) {
      await cluster.deletePod(name);
      running.delete(name);
    } else if (volume === 'shared' || ![...running.values()].some((place) => place.startsWith(`${volume}@`)) || world.random.chance(0.3)) {
      await cluster.pod(`pod-${i}`, node, volume);
      running.set(`pod-${i}`, `${volume}@${node}`);
    }
  }
  return running;
}

async function expectAllGone({ cluster, disks, violations }: Set, world: SimulatedWorld, pods: Iterable<string>): Promise<void> {
  for (const name of pods) await cluster.deletePod(name);
  await world.sleep(200_000);
  expect(await cluster.look()).toEqual(['node/n1', 'node/n2']);
  expect(disks.all).toEqual([]);
  expect(violations).toEqual([]);
}

/** Every volume that a pod wants is attached; one for a single node to one of those where it is wanted. */
async function expectServed({ cluster, disks }: Set, places: Iterable<string>): Promise<void> {
  const wanted = [...new Set(places)].sort();
  const exclusive = wanted.filter((place) => !place.startsWith('shared'));
  for (const place of wanted.filter((each) => each.startsWith('shared'))) expect(disks.all).toContain(place);
  for (const volume of new Set(exclusive.map((place) => place.split('@')[0] ?? ''))) {
    expect(exclusive.filter((place) => place.startsWith(`${volume}@`)).some((place) => disks.all.includes(place))).toBe(true);
  }
  const listed = (await cluster.look()).filter((line) => line.startsWith('node/')).map(inUse);
  expect(
    listed
      .flatMap((line) =>
        line
          .split(' ')
          .slice(1)
          .map((volume) => `${volume}@${line.split(' ')[0]?.slice('node/'.length)}`),
      )
      .sort(),
  ).toEqual(disks.all);
}

async function makeVolumes(cluster: Cluster): Promise<void> {
  for (const name of volumes) await cluster.volume(name, name === 'shared' ? 'ReadWriteMany' : 'ReadWriteOnce');
}

test('processes die again and again while pods come and go', async () => {
  for (const seed of seeds(3)) {
    await simulate(
      seed,
      async (world) => {
        const set = await setUp(world);
        await makeVolumes(set.cluster);
        const dying = dieAgainAndAgain(set.cluster, world, 15);
        const running = await comeAndGo(set.cluster, world, 40);
        await dying;
        runAttachDetach(set.cluster.transport, world);
        await world.sleep(200_000);
        await expectServed(set, running.values());
        await expectAllGone(set, world, running.keys());
      },
      { steps: 10_000_000 },
    );
  }
});

test('a pod may come back at any moment of a detach', async () => {
  for (const seed of seeds(6)) {
    await simulate(seed, async (world) => {
      const set = await setUp(world);
      await set.cluster.volume('vol');
      runAttachDetach(new SimulatedNetwork(world, { ...perfectNetwork, delayMs: 100 }).transport(set.cluster.transport), world);
      for (let i = 0; i < 10; i++) {
        await set.cluster.pod(`pod-${i}`, 'n1', 'vol');
        await world.sleep(3000);
        await set.cluster.deletePod(`pod-${i}`);
        await world.sleep(world.random.float() * 1000);
      }
      await expectAllGone(set, world, []);
    });
  }
});

test('a bad network delays, and does no harm', async () => {
  for (const seed of seeds(3)) {
    await simulate(
      seed,
      async (world) => {
        const set = await setUp(world);
        await makeVolumes(set.cluster);
        const network = new SimulatedNetwork(world, badNetwork);
        runAttachDetach(network.transport(set.cluster.transport), world);
        const running = await comeAndGo(set.cluster, world, 40);
        await world.sleep(60_000);
        network.heal();
        await world.sleep(200_000);
        await expectServed(set, running.values());
        await expectAllGone(set, world, running.keys());
      },
      { steps: 10_000_000 },
    );
  }
});

test('leaders that go on although others took over are fenced off', async () => {
  for (const seed of seeds(3)) {
    await simulate(
      seed,
      async (world) => {
        const set = await setUp(world);
        await makeVolumes(set.cluster);
        const network = new SimulatedNetwork(world, badNetwork);
        const leaders: RunningControllers[] = [];
        const takeOver = () => leaders.push(runLedAttachDetach(network.transport(set.cluster.transport), world, `leader ${leaders.length}`));
        takeOver();
        for (let at = 2000; at < 30_000; at += 3000) world.timers.after(at, takeOver);
        const running = await comeAndGo(set.cluster, world, 40);
        network.heal();
        // They take the lease from each other as long as there are several.
        for (const leader of leaders.slice(1)) await leader.stop();
        await world.sleep(200_000);
        await expectServed(set, running.values());
        await expectAllGone(set, world, running.keys());
      },
      { steps: 10_000_000 },
    );
  }
});
