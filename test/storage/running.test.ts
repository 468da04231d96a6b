/** The storage controllers, running, on the real registry, in simulated time. */
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/api/status.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../src/api/kinds/storage/storage-class.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import type { Transport, TransportRequest } from '../../src/client/transport.ts';
import { badNetwork, perfectNetwork, SimulatedNetwork } from '../../src/sim/world/network.ts';
import { seeds } from '../../src/sim/world/seeds.ts';
import { SimulatedProcess } from '../../src/sim/world/process.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import { interrupting } from '../scheduler/volume-cluster.ts';
import { defaultClass, pv, pvc, storageClass } from './objects.ts';
import { summarize, runStorage, startStorageCluster, type StorageCluster } from './storage-cluster.ts';

/** As a person writes them: the server gives uids and times. */
async function createVolume({ client }: StorageCluster, ...[name, size, more]: Parameters<typeof pv>): Promise<void> {
  const { spec, metadata } = pv(name, size, more);
  const made = await client.create(persistentVolumeKind, { metadata: { name, ...(metadata.labels === undefined ? {} : { labels: metadata.labels }) }, spec });
  if (!made.ok) throw made.error;
}

async function createClaim({ client }: StorageCluster, ...[name, size, more]: Parameters<typeof pvc>): Promise<void> {
  const { spec } = pvc(name, size, more);
  const made = await client.create(persistentVolumeClaimKind, { metadata: { name, namespace: 'default' }, spec });
  if (!made.ok) throw made.error;
}

async function createClass({ client }: StorageCluster, ...[name, more]: Parameters<typeof storageClass>): Promise<void> {
  const { metadata, ...rest } = storageClass(name, more);
  const made = await client.create(storageClassKind, {
    ...rest,
    metadata: { name, ...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }) },
  });
  if (!made.ok) throw made.error;
}

const pairs = (count: number) => Array.from({ length: count }, (_, i) => i);

test('a claim that is not given a new volume after all gets the one that came meanwhile', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world, 'transaction');
    const meanwhile = async () => {
      await cluster.client.patch(
        persistentVolumeClaimKind,
        { namespace: 'default', name: 'small' },
        { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
      );
      await world.sleep(100);
      await createClaim(cluster, 'large', '2Gi');
      await createVolume(cluster, 'second', '1Gi');
      await world.sleep(100);
    };
    await createClaim(cluster, 'small', '1Gi');
    runStorage({ ...cluster, transport: interrupting(/volumebindings/, meanwhile)(cluster.transport) }, world);
    await world.sleep(1000);
    await createVolume(cluster, 'first', '2Gi');
    await world.sleep(10_000);
    expect(await summarize(cluster)).toEqual(['pv/first Bound large', 'pv/second Bound small', 'pvc/large Bound first', 'pvc/small Bound second']);
  }));

test('a new volume does not wait for a claim that the server will not let have it', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world, 'transaction');
    const isForFirst = ({ info, body }: TransportRequest) =>
      info.type === 'resource' && info.resource === 'volumebindings' && JSON.stringify(body?.object).includes('"name":"first"');
    const refusing: Transport = {
      watch: (request, sink) => cluster.transport.watch(request, sink),
      send: async (request) => (isForFirst(request) ? { type: 'failed', error: new ApiError(403, 'Forbidden', 'no') } : await cluster.transport.send(request)),
    };
    for (const name of ['first', 'second']) {
      await createClaim(cluster, name, '1Gi');
      await world.sleep(2000);
    }
    runStorage({ ...cluster, transport: refusing }, world);
    await world.sleep(1000);
    await createVolume(cluster, 'vol', '1Gi');
    await world.sleep(60_000);
    expect(await summarize(cluster)).toEqual(['pv/vol Bound second', 'pvc/first Pending', 'pvc/second Bound vol']);
  }));

describe.each(['transaction', 'plain'] as const)('%s', (mode) => {
  test('volumes and claims are bound in whichever order they come, and then nothing more happens', async () => {
    for (const seed of seeds(4)) {
      await simulate(seed, async (world) => {
        const cluster = await startStorageCluster(world, mode);
        runStorage(cluster, world);
        const arrivals = pairs(20).flatMap((i) => [() => createVolume(cluster, `v${i}`, '1Gi'), () => createClaim(cluster, `c${i}`, '1Gi')]);
        for (const arrive of arrivals.sort(() => world.random.float() - 0.5)) {
          await arrive();
          if (world.random.float() < 0.3) await world.sleep(10);
        }
        await world.sleep(1000);
        const lines = await summarize(cluster);
        expect(
          lines.filter((line) => line.includes(' Bound ')),
          `seed ${seed}`,
        ).toHaveLength(40);
        const revision = cluster.store.revision();
        await world.sleep(600_000);
        expect(cluster.store.revision()).toBe(revision);
      });
    }
  });

  test('a new volume goes to the largest claim that it fits, then to the oldest', () =>
    simulate(1, async (world) => {
      const cluster = await startStorageCluster(world, mode);
      runStorage(cluster, world);
      for (const [name, size] of [
        ['small', '1Gi'],
        ['old', '2Gi'],
        ['young', '2Gi'],
        ['huge', '9Gi'],
      ] as const) {
        await createClaim(cluster, name, size);
        await world.sleep(2000);
      }
      await createVolume(cluster, 'vol', '5Gi');
      await world.sleep(1000);
      expect(await summarize(cluster)).toEqual(['pv/vol Bound old', 'pvc/huge Pending', 'pvc/old Bound vol', 'pvc/small Pending', 'pvc/young Pending']);
    }));

  test('a claim whose volume is taken by a claim that names it gets the other one', async () => {
    for (const seed of seeds(40)) {
      await simulate(seed, async (world) => {
        const cluster = await startStorageCluster(world, mode);
        const first = new SimulatedProcess(world, 'first');
        runStorage(cluster, first);
        await createVolume(cluster, 'wanted', '2Gi');
        await world.sleep(1000);
        first.kill();
        await createClaim(cluster, 'choosy', '1Gi', { spec: { volumeName: 'wanted' } });
        await createClaim(cluster, 'easy', '1Gi');
        await createVolume(cluster, 'other', '1Gi');
        // The next process finds all of it at once.
        const network = new SimulatedNetwork(world, { ...perfectNetwork, delayMs: 50 });
        runStorage({ ...cluster, transport: network.transport(cluster.transport) }, new SimulatedProcess(world, 'second'));
        await world.sleep(5000);
        const lines = await summarize(cluster);
        // Or the other one was faster.
        if (lines.includes('pvc/easy Bound wanted')) return;
        expect(lines, `seed ${seed}`).toEqual(['pv/other Bound easy', 'pv/wanted Bound choosy', 'pvc/choosy Bound wanted', 'pvc/easy Bound other']);
      });
    }
  });

  test('many volumes for as many waiting claims take a few actions each, not each a look at all', () =>
    simulate(
      1,
      async (world) => {
        const cluster = await startStorageCluster(world, mode);
        for (const i of pairs(300)) await createClaim(cluster, `c${i}`, '1Gi');
        const actions = { count: 0 };
        runStorage(cluster, world, { onAction: () => (actions.count++, 'go') });
        await world.sleep(1000);
        for (const i of pairs(300)) await createVolume(cluster, `v${i}`, '1Gi');
        await world.sleep(10_000);
        expect((await summarize(cluster)).filter((line) => line.includes(' Bound '))).toHaveLength(600);
        // One event and one phase for a start; then for each pair one bind, or four writes.
        expect(actions.count).toBeLessThan(mode === 'plain' ? 2400 : 1500);
      },
      { steps: 10_000_000 },
    ));

  test('a default class that appears wakes those who have none', () =>
    simulate(1, async (world) => {
      const cluster = await startStorageCluster(world, mode);
      runStorage(cluster, world);
      const { spec } = pvc('data', '1Gi');
      delete spec.storageClassName;
      await cluster.client.create(persistentVolumeClaimKind, { metadata: { name: 'data', namespace: 'default' }, spec });
      await createVolume(cluster, 'vol', '1Gi', { spec: { storageClassName: 'late' } });
      await world.sleep(1000);
      expect(await summarize(cluster)).toEqual(['pv/vol Available', 'pvc/data Pending']);
      await createClass(cluster, 'late', { metadata: defaultClass });
      await world.sleep(1000);
      expect(await summarize(cluster)).toEqual(['pv/vol Bound data', 'pvc/data Bound vol']);
    }));

  test('an event about a state is renewed with a growing count while the state holds, and never expires', () =>
    simulate(1, async (world) => {
      const cluster = await startStorageCluster(world, mode);
      runStorage(cluster, world);
      await createClaim(cluster, 'data', '1Gi', { spec: { storageClassName: '' } });
      // The fourth is due after a minute.
      await world.sleep(59_000);
      expect(await counts(cluster)).toEqual(['FailedBinding x3']);
      await world.sleep(13 * 60_000 + 1000);
      expect(await counts(cluster)).toEqual(['FailedBinding x8']);
      await world.sleep(6 * 3_600_000);
      expect(await counts(cluster)).toEqual(['FailedBinding x80']);
    }));

  async function counts({ client }: StorageCluster): Promise<string[]> {
    const events = await client.list(eventKind);
    if (!events.ok) throw events.error;
    return events.value.items.map(({ reason, count }) => `${reason ?? ''} x${count ?? 0}`);
  }

  async function setUp(world: SimulatedWorld, cluster: StorageCluster): Promise<void> {
    for (const i of pairs(4)) await createVolume(cluster, `v${i}`, '1Gi');
    for (const i of pairs(5)) {
      await createClaim(cluster, `c${i}`, '1Gi');
      await world.sleep(world.random.float() * 20);
    }
  }

  /** Every volume has one claim, each of which has it; the fifth claim waits. */
  function expectOneEach(lines: readonly string[], message: string): void {
    expect(
      lines.filter((line) => line.startsWith('pv/') && line.includes(' Bound ')),
      message,
    ).toHaveLength(4);
    expect(
      lines.filter((line) => line.startsWith('pvc/') && line.includes(' Bound ')),
      message,
    ).toHaveLength(4);
    expect(
      lines.filter((line) => line.includes('Pending')),
      message,
    ).toHaveLength(1);
    for (const line of lines) {
      const [name = '', phase, other] = line.split(' ');
      if (phase === 'Bound')
        expect(lines, message).toContain(name.startsWith('pv/') ? `pvc/${other} Bound ${name.slice(3)}` : `pv/${other} Bound ${name.slice(4)}`);
    }
  }

  test('a crash before any action, in any order of events, is finished by the next process', async () => {
    for (const seed of seeds(20)) {
      await simulate(seed, async (world) => {
        const cluster = await startStorageCluster(world, mode);
        for (const life of pairs(3)) {
          const process = new SimulatedProcess(world, `binder ${life}`);
          let left = world.random.below(8);
          runStorage({ ...cluster, transport: process.transport(cluster.transport) }, process, {
            onAction: () => {
              if (left-- > 0) return 'go';
              process.kill();
              return 'crash';
            },
          });
          if (life === 0) await setUp(world, cluster);
          await world.sleep(1000);
        }
        runStorage(cluster, world);
        await world.sleep(5000);
        expectOneEach(await summarize(cluster), `seed ${seed}`);
      });
    }
  });

  test('two binders at once, over a bad network, do no harm', async () => {
    for (const seed of seeds(12)) {
      await simulate(seed, async (world) => {
        const cluster = await startStorageCluster(world, mode);
        const network = new SimulatedNetwork(world, badNetwork);
        runStorage({ ...cluster, transport: network.transport(cluster.transport) }, world);
        runStorage({ ...cluster, transport: network.transport(cluster.transport) }, world);
        await setUp(world, cluster);
        await world.sleep(30_000);
        network.heal();
        await world.sleep(600_000);
        expectOneEach(await summarize(cluster), `seed ${seed}`);
      });
    }
  });
});
