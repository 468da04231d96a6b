import { expect, test } from 'vitest';
import type { ConfigMap } from '../../src/api/generated/types.ts';
import type { Cache, Change } from '../../src/client/informers/cache.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import type { StreamSink } from '../../src/client/transport.ts';
import { badNetwork, type NetworkFaults, perfectNetwork, SimulatedNetwork } from '../../src/sim/world/network.ts';
import type { Prng } from '../../src/sim/world/prng.ts';
import { seeds } from '../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import type { Store } from '../../src/store/contract.ts';
import { configMapKind as configMaps } from '../../src/api/kinds/core/config-map.ts';
import { configMap, startTestCluster } from './test-cluster.ts';

const show = (objects: Iterable<ConfigMap>) => [...objects].map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();

/** Writes, rewrites and deletes ten maps at random, and now and then compacts the store. */
async function disturb(client: Client, store: Store, { prng, world, steps }: { prng: Prng; world: SimulatedWorld; steps: number }): Promise<void> {
  for (let i = 0; i < steps; i++) {
    await world.sleep(prng.float() * 100);
    const name = `map-${prng.below(10)}`;
    const choice = prng.below(10);
    if (choice < 3) await client.create(configMaps, configMap(name, String(i)));
    else if (choice < 5) await client.delete(configMaps, { namespace: 'default', name });
    else if (choice === 9) await store.compact(store.revision());
    else {
      const found = await client.get(configMaps, { namespace: 'default', name });
      if (found.ok) await client.update(configMaps, { ...found.value, data: { value: String(i) } });
    }
  }
}

/** A replica from the changes of a subscriber: it must equal the cache at any time. */
function replica(cache: Cache<ConfigMap>): Map<string, ConfigMap> {
  const copy = new Map<string, ConfigMap>();
  cache.subscribe(({ before, after }: Change<ConfigMap>) => {
    const name = (after ?? before)?.metadata.name ?? '';
    expect(copy.get(name)).toBe(before);
    if (after === undefined) copy.delete(name);
    else copy.set(name, after);
  });
  return copy;
}

async function converges(seed: number, options: { faults: NetworkFaults; pageSize?: number; ownWrites: boolean }): Promise<void> {
  await simulate(seed, async (world) => {
    const cluster = await startTestCluster(world);
    const network = new SimulatedNetwork(world, options.faults);
    const transport = network.transport(cluster.transport);
    const informers: Informers = new Informers({
      client: createClient({ transport }),
      world,
      ...(options.pageSize === undefined ? {} : { pageSize: options.pageSize }),
    });
    const cache = informers.cache(configMaps);
    const copy = replica(cache);
    const writer = options.ownWrites ? createClient({ transport, observer: informers.observer }) : cluster.client;
    informers.start();
    await disturb(writer, cluster.store, { prng: world.random.fork(), world, steps: 60 });
    network.heal();
    await world.sleep(120_000);
    const truth = await cluster.client.list(configMaps);
    if (!truth.ok) throw truth.error;
    expect(show(cache.list())).toEqual(show(truth.value.items));
    expect(show(copy.values())).toEqual(show(cache.list()));
    informers.stop();
  });
}

test('whatever the network does, the cache becomes what the server has', async () => {
  for (const seed of seeds(15)) await converges(seed, { faults: badNetwork, ownWrites: false });
});

test('also when it lists in pages', async () => {
  for (const seed of seeds(15)) await converges(seed, { faults: badNetwork, pageSize: 3, ownWrites: false });
});

test('also when this process writes itself', async () => {
  for (const seed of seeds(15)) await converges(seed, { faults: badNetwork, ownWrites: true });
});

const readsItsWrites = (seed: number) =>
  simulate(seed, async (world) => {
    const cluster = await startTestCluster(world);
    const network = new SimulatedNetwork(world, { ...perfectNetwork, delayMs: 200, cut: 0.2, stall: 0.2, stallMs: 3000 });
    const transport = network.transport(cluster.transport);
    const informers: Informers = new Informers({ client: createClient({ transport }), world });
    const cache = informers.cache(configMaps);
    const client = createClient({ transport, observer: informers.observer });
    informers.start();
    await informers.synced();
    const ref = { namespace: 'default', name: 'mine' };
    for (let i = 0; i < 20; i++) {
      const made = await client.create(configMaps, configMap('mine', String(i)));
      if (!made.ok) throw made.error;
      expect(cache.get(ref)).toBe(made.value);
      await world.sleep(world.random.float() * 500);
      const changed = await client.update(configMaps, { ...made.value, data: { value: 'changed' } });
      if (!changed.ok) throw changed.error;
      expect(cache.get(ref)).toBe(changed.value);
      await world.sleep(world.random.float() * 500);
      expect(cache.get(ref)).toBe(changed.value);
      await client.delete(configMaps, ref);
      expect(cache.get(ref)).toBeUndefined();
      await world.sleep(world.random.float() * 500);
      expect(cache.get(ref)).toBeUndefined();
    }
    informers.stop();
  });

test('a client sees what it wrote at once, and never an older state of it again', async () => {
  for (const seed of seeds(8)) await readsItsWrites(seed);
});

test('a server whose data was replaced by older data is followed once it says where it is', () =>
  simulate(1, async (world) => {
    const [first, second] = [await startTestCluster(world), await startTestCluster(world)];
    for (let i = 0; i < 20; i++) await first.client.create(configMaps, configMap(`old-${i}`, ''));
    const made = await second.client.create(configMaps, configMap('new', ''));
    if (!made.ok) throw made.error;
    let current = first.transport;
    let sink: StreamSink | undefined;
    const client = createClient({
      transport: {
        send: (request) => current.send(request),
        watch: (request, to) => {
          sink = to;
          return current.watch(request, to);
        },
      },
    });
    const informers = new Informers({ client, world });
    const cache = informers.cache(configMaps);
    informers.start();
    await informers.synced();
    expect(cache.size).toBe(20);
    current = second.transport;
    sink?.events([{ type: 'BOOKMARK', object: { ...made.value, metadata: { resourceVersion: String(second.store.revision()) } } }]);
    await world.sleep(1);
    expect([...cache.list()].map(({ metadata }) => metadata.name)).toEqual(['new']);
    informers.stop();
  }));
