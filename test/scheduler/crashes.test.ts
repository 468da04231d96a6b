/** Scheduler crashes at every write, lossy networks, and two schedulers that both believe to lead: no pod is lost, no node is overcommitted. */
import { expect, test } from 'vitest';
import type { Pod } from '../../src/api/generated/types.ts';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { priorityClassKind } from '../../src/api/kinds/scheduling/priority-class.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import type { Draft, Result } from '../../src/client/client.ts';
import type { StreamEvent, Transport } from '../../src/client/transport.ts';
import { startScheduler } from '../../src/cluster/scheduler.ts';
import { badNetwork, SimulatedNetwork } from '../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../src/sim/world/process.ts';
import { seeds } from '../../src/sim/world/seeds.ts';
import { simulate, type SimulatedWorld } from '../../src/sim/world/world.ts';
import { isWrite, VolumeCluster } from './volume-cluster.ts';

const ok = <T>(result: Result<T>): T => {
  if (!result.ok) throw result.error;
  return result.value;
};

/** Two nodes with room for two pods each, a PriorityClass, and a watch that detects overcommitted nodes. */
async function setUp(world: SimulatedWorld): Promise<{ readonly cluster: VolumeCluster; readonly overbooked: string[] }> {
  const cluster = await VolumeCluster.start(world, 'transaction');
  const { client } = cluster;
  ok(await client.create(namespaceKind, { metadata: { name: 'kube-system' } }));
  for (const name of ['n1', 'n2']) {
    ok(await client.create(nodeKind, { metadata: { name, labels: { 'kubernetes.io/hostname': name } } }));
    const status = { capacity: { cpu: '2', pods: '10' }, allocatable: { cpu: '2', pods: '10' } };
    ok(await client.patch(nodeKind, { name }, { type: 'merge', body: { status } }, { subresource: 'status' }));
    ok(await client.patch(nodeKind, { name }, { type: 'merge', body: { spec: { taints: null } } }));
  }
  ok(await client.create(priorityClassKind, { metadata: { name: 'important' }, value: 100 }));
  return { cluster, overbooked: watchNodes(cluster) };
}

function watchNodes({ client }: VolumeCluster): string[] {
  const overbooked: string[] = [];
  const placed = new Map<string, string>();
  const events = (batch: readonly StreamEvent<Pod>[]): void => {
    for (const { type, object } of batch) {
      const { metadata, spec } = object;
      if (type === 'DELETED' || (spec?.nodeName ?? '') === '') placed.delete(metadata.uid ?? '');
      else placed.set(metadata.uid ?? '', spec.nodeName ?? '');
      for (const name of ['n1', 'n2']) if ([...placed.values()].filter((each) => each === name).length > 2) overbooked.push(name);
    }
  };
  client.watch(podKind, { resourceVersion: '0' }, { events, end: () => overbooked.push('the watch ended') });
  return overbooked;
}

async function pod({ client }: VolumeCluster, name: string, spec: Draft<Pod['spec']> = {}): Promise<void> {
  const containers = [{ name: 'app', image: 'pause', resources: { requests: { cpu: '1' } } }];
  ok(await client.create(podKind, { metadata: { namespace: 'default', name }, spec: { terminationGracePeriodSeconds: 0, containers, ...spec } }));
}

/** How many pods have a node, and whether the important pod has. */
async function look({ client }: VolumeCluster): Promise<string> {
  const { items } = ok(await client.list(podKind));
  const placed = items.filter(({ spec }) => (spec.nodeName ?? '') !== '').map(({ metadata }) => metadata.name ?? '');
  return `${placed.length} of ${items.length} placed, important: ${placed.includes('important')}`;
}

const settled = '4 of 5 placed, important: true';

/** Forwards this many writes; then the process crashes, before or after the server has received the last one. */
function dyingAfter(writes: number, { heard, die }: { readonly heard: boolean; readonly die: () => void }) {
  let left = writes;
  return (server: Transport): Transport => ({
    watch: (request, sink) => server.watch(request, sink),
    send: async (request) => {
      if (!isWrite(request) || left-- > 0) return server.send(request);
      if (heard) await server.send(request);
      die();
      return server.send({ ...request, info: { ...request.info, verb: 'get' } });
    },
  });
}

test.each([false, true])(
  'a scheduler that crashes at any write (received by the server: %s) and its successor place the same pods as one without a crash',
  async (heard) => {
    let longest = 0;
    for (let writes = 0; writes < 16; writes++) {
      await simulate(writes + 1, async (world) => {
        const { cluster, overbooked } = await setUp(world);
        let isDead = false;
        const process = cluster.schedule(
          'doomed',
          dyingAfter(writes, {
            heard,
            die: () => {
              isDead = true;
              longest = writes;
              process.kill();
            },
          }),
        );
        await Promise.all(['a', 'b', 'c', 'd'].map((name) => pod(cluster, name)));
        await world.sleep(2_000);
        // A victim is evicted; it is created again, as by a ReplicaSet.
        await pod(cluster, 'important', { priorityClassName: 'important' });
        await world.sleep(5_000);
        process.kill();
        cluster.schedule('next');
        await world.sleep(60_000);
        const { items } = ok(await cluster.client.list(podKind));
        if (items.length === 4) await pod(cluster, 'replacement');
        await world.sleep(60_000);
        expect(await look(cluster), `after ${writes} writes${isDead ? '' : ', all of them'}`).toBe(settled);
        expect(overbooked).toEqual([]);
      });
    }
    expect(longest, 'the story has several writes').toBeGreaterThan(6);
  },
);

test('on a lossy network all pods get nodes eventually, and no node is overcommitted', async () => {
  for (const seed of seeds(8)) {
    await simulate(seed, async (world) => {
      const { cluster, overbooked } = await setUp(world);
      const network = new SimulatedNetwork(world, badNetwork);
      cluster.schedule('scheduler', (server) => network.transport(server));
      for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
        await pod(cluster, name);
        await world.sleep(world.random.float() * 2_000);
      }
      await world.sleep(120_000);
      for (const name of ['a', 'b', 'c', 'd', 'e', 'f'].filter(() => world.random.chance(0.5))) {
        const deleted = await cluster.client.delete(podKind, { namespace: 'default', name });
        if (deleted.ok) await pod(cluster, `${name}-again`);
      }
      await world.sleep(60_000);
      network.heal();
      await world.sleep(400_000);
      expect(await look(cluster), `seed ${seed}`).toBe('4 of 6 placed, important: false');
      expect(overbooked).toEqual([]);
    });
  }
});

test('two schedulers with one lease, lossy networks and crashes: one schedules at a time, and no node is overcommitted', async () => {
  for (const seed of seeds(6)) {
    await simulate(seed, async (world) => {
      const { cluster, overbooked } = await setUp(world);
      const network = new SimulatedNetwork(world, { ...badNetwork, stall: 0.2, stallMs: 20_000 });
      const start = (name: string): SimulatedProcess => {
        const process = new SimulatedProcess(world, name);
        const transport = process.transport(network.transport(cluster.transport));
        startScheduler({ connect: () => transport, world: process, bindsTogether: true, election: { identity: name } });
        return process;
      };
      let [one, other] = [start('one'), start('other')];
      for (let i = 0; i < 12; i++) {
        await pod(cluster, `p${i}`);
        await world.sleep(world.random.float() * 20_000);
        if (i % 3 === 0) [one, other] = [other, (one.kill(), start(`next-${i}`))];
        if (i % 2 === 1) await cluster.client.delete(podKind, { namespace: 'default', name: `p${i - 1}` });
      }
      network.heal();
      await world.sleep(400_000);
      expect(await look(cluster), `seed ${seed}`).toBe('4 of 6 placed, important: false');
      expect(overbooked, `seed ${seed}`).toEqual([]);
      other.kill();
    });
  }
});
