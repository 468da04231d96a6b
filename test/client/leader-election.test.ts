import { expect, test } from 'vitest';
import { startTestCluster } from './test-cluster.ts';
import type { Lease } from '../../src/api/generated/types.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { leaseKind } from '../../src/api/kinds/coordination/lease.ts';
import { badNetwork, SimulatedNetwork } from '../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../src/sim/world/process.ts';
import { seeds } from '../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import type { World } from '../../src/world/world.ts';
import { type Client, createClient, type Fence } from '../../src/client/client.ts';
import { LeaderElection, type LeaderElectionOptions } from '../../src/client/controller/leader-election.ts';
import type { StreamEvent, Transport } from '../../src/client/transport.ts';

const lease = { namespace: 'default', name: 'controllers' };

/** A candidate, and every change of its fortune. */
function candidate(name: string, world: World, transport: Transport, more: Partial<LeaderElectionOptions> = {}) {
  const history: string[] = [];
  let fence: Fence | undefined;
  const election = new LeaderElection({
    world,
    client: createClient({ transport }),
    leaseKind,
    lease,
    identity: name,
    onLeading: (now) => {
      fence = now;
      history.push(`leading at ${Math.round(world.clock.monotonic() / 1000)}`);
    },
    onDeposed: () => {
      fence = undefined;
      history.push(`deposed at ${Math.round(world.clock.monotonic() / 1000)}`);
    },
    ...more,
  });
  election.start();
  return { election, history, fence: () => fence };
}

async function read(client: Client): Promise<Lease> {
  const found = await client.get(leaseKind, lease);
  if (!found.ok) throw found.error;
  return found.value;
}

test('the first one leads under the revision of its acquisition, renews, and keeps the rest of the lease as Kubernetes does', () =>
  simulate(1, async (world) => {
    const { client, transport } = await startTestCluster(world);
    const a = candidate('a', world, transport);
    await world.sleep(1);
    const acquired = await read(client);
    expect(a.fence()).toEqual({ lease: 'default/controllers', epoch: Number(acquired.metadata.resourceVersion) });
    expect(acquired.spec).toMatchObject({
      holderIdentity: expect.stringMatching(/^a_[0-9a-f-]{36}$/) as string,
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
    });
    await world.sleep(60_000);
    const renewed = await read(client);
    expect(renewed.spec).toMatchObject({ holderIdentity: acquired.spec.holderIdentity, acquireTime: acquired.spec.acquireTime, leaseTransitions: 0 });
    expect(Date.parse(renewed.spec.renewTime ?? '')).toBeGreaterThan(Date.parse(acquired.spec.renewTime ?? '') + 55_000);
    expect(a.history).toEqual(['leading at 0']);
  }));

test('a leader that dies is followed by another, not before its lease has run out', async () => {
  for (const seed of seeds(10)) {
    await simulate(seed, async (world) => {
      const { client, transport } = await startTestCluster(world);
      const process = new SimulatedProcess(world, 'a');
      candidate('a', process, process.transport(transport));
      await world.sleep(1000);
      const b = candidate('b', world, transport);
      await world.sleep(29_000);
      expect(b.history).toEqual([]);
      process.kill();
      await world.sleep(12_000);
      expect(b.history).toEqual([]);
      // It looks every 2 to 4.4 seconds: once to see the last renewal, once to see that the lease has run out.
      await world.sleep(12_000);
      expect(b.election.leading).toBe(true);
      expect((await read(client)).spec.leaseTransitions).toBe(1);
    });
  }
});

test('a leader that stops releases the lease: no process has to wait for it to expire', () =>
  simulate(1, async (world) => {
    const { client, transport } = await startTestCluster(world);
    const a = candidate('a', world, transport);
    await world.sleep(1);
    const b = candidate('b', world, transport);
    await world.sleep(10_000);
    await a.election.stop();
    expect((await read(client)).spec.holderIdentity).toBeUndefined();
    await world.sleep(5_000);
    expect(a.history).toEqual(['leading at 0', 'deposed at 10']);
    expect(b.election.leading).toBe(true);
  }));

test('a process that knows that the holder is gone takes over at once, and the old one cannot write', () =>
  simulate(1, async (world) => {
    const { transport } = await startTestCluster(world);
    const a = candidate('a', world, transport);
    await world.sleep(1);
    const fenceOfA = a.fence();
    const b = candidate('b', world, transport, { takeOver: true });
    await world.sleep(1);
    expect(b.election.leading).toBe(true);
    const fenceOfB = b.fence();
    if (fenceOfA === undefined || fenceOfB === undefined) throw new Error('there is no leader');
    const old = createClient({ transport, fence: () => fenceOfA });
    expect(await old.create(configMapKind, { metadata: { namespace: 'default', name: 'x' } })).toMatchObject({ ok: false, reason: 'deposed' });
    const fresh = createClient({ transport, fence: () => fenceOfB });
    expect(await fresh.create(configMapKind, { metadata: { namespace: 'default', name: 'x' } })).toMatchObject({ ok: true });
    // It is deposed with its next renewal, if no write was refused before.
    await world.sleep(3_000);
    expect(a.history).toEqual(['leading at 0', 'deposed at 2']);
  }));

test('an annotation of the lease does not depose the leader', () =>
  simulate(1, async (world) => {
    const { client, transport } = await startTestCluster(world);
    const a = candidate('a', world, transport);
    for (let i = 0; i < 10; i++) {
      await world.sleep(1_700);
      const now = await read(client);
      const touched = await client.update(leaseKind, { ...now, metadata: { ...now.metadata, annotations: { touched: String(i) } } });
      expect(touched.ok).toBe(true);
    }
    expect(a.history).toEqual(['leading at 0']);
  }));

test('deleting the lease deposes its holder, which may acquire it again', () =>
  simulate(1, async (world) => {
    const { client, transport } = await startTestCluster(world);
    const a = candidate('a', world, transport);
    await world.sleep(1_000);
    await client.delete(leaseKind, lease);
    await world.sleep(10_000);
    expect(a.history).toEqual(['leading at 0', 'deposed at 2', expect.stringContaining('leading at')]);
  }));

test('a leader that cannot reach the server stops leading after ten seconds, while others still wait', () =>
  simulate(1, async (world) => {
    const { transport } = await startTestCluster(world);
    let away = false;
    const silent: Transport = {
      send: (request) => (away ? new Promise(() => undefined) : transport.send(request)),
      watch: (...args) => transport.watch(...args),
    };
    const a = candidate('a', world, silent);
    await world.sleep(1);
    const b = candidate('b', world, transport);
    await world.sleep(20_000);
    away = true;
    await world.sleep(100_000);
    expect(a.history).toEqual(['leading at 0', 'deposed at 30']);
    expect(Number(b.history[0]?.replace('leading at ', ''))).toBeGreaterThan(30);
  }));

/** The same world with a clock that runs at a tenth of the speed: a process in it keeps its lease for far too long. */
const slowed = (world: World): World => ({
  ...world,
  log: world.log,
  random: world.random,
  clock: { now: () => world.clock.now(), monotonic: () => world.clock.monotonic() / 10 },
  timers: { soon: (callback) => world.timers.soon(callback), after: (ms, callback) => world.timers.after(ms * 10, callback) },
});

/** Writes its epoch down over and over, as long as it believes to lead; says how often it was refused. */
function writer(world: SimulatedWorld, transport: Transport, process: SimulatedProcess, slow: boolean): () => number {
  let refused = 0;
  let written = 0;
  const { fence } = candidate(process.name, slow ? slowed(process) : process, transport);
  const write = async (): Promise<void> => {
    const now = fence();
    if (now !== undefined) {
      const client = createClient({ transport, fence: () => now });
      const ref = { namespace: 'default', name: 'written' };
      const data = { epoch: String(now.epoch), number: String(written++) };
      const found = await client.get(configMapKind, ref);
      const result = found.ok ? await client.update(configMapKind, { ...found.value, data }) : await client.create(configMapKind, { metadata: ref, data });
      if (!result.ok && result.reason === 'deposed') refused++;
    }
    if (process.alive) world.timers.after(world.random.float() * 300, () => void write());
  };
  void write();
  return () => refused;
}

test('no write of a deposed leader gets through, whatever clocks, crashes and the network do', async () => {
  let refused = 0;
  for (const seed of seeds(6)) {
    await simulate(seed, async (world) => {
      const cluster = await startTestCluster(world);
      const network = new SimulatedNetwork(world, badNetwork);
      const writes: { epoch: number; revision: number }[] = [];
      const acquisitions: { holder: string; revision: number }[] = [];
      const after = String(cluster.store.revision());
      cluster.client.watch(
        configMapKind,
        { resourceVersion: after, timeoutSeconds: 86_400 },
        { events: (batch) => writes.push(...batch.filter(isNews).map(epochOf)), end: () => undefined },
      );
      cluster.client.watch(
        leaseKind,
        { resourceVersion: after, timeoutSeconds: 86_400 },
        { events: (batch) => noteHolders(batch, acquisitions), end: () => undefined },
      );
      const processes = ['a', 'b', 'c'].map((name) => new SimulatedProcess(world, name));
      const refusals = processes.map((process, i) => writer(world, process.transport(network.transport(cluster.transport)), process, i === 0));
      await world.sleep(60_000);
      processes[world.random.below(3)]?.kill();
      await world.sleep(60_000);
      refused += refusals.reduce((sum, count) => sum + count(), 0);
      expect(writes.length).toBeGreaterThan(50);
      for (const { epoch, revision } of writes) {
        const ruling = acquisitions.filter((each) => each.revision < revision).at(-1);
        expect(epoch).toBe(ruling?.revision);
      }
    });
  }
  // Or else the test would prove nothing.
  expect(refused).toBeGreaterThan(0);
});

const isNews = ({ type }: StreamEvent) => type !== 'BOOKMARK';

const epochOf = ({ object }: StreamEvent) => ({
  epoch: Number((object as { data?: Record<string, string> }).data?.['epoch']),
  revision: Number(object.metadata.resourceVersion),
});

function noteHolders(batch: readonly StreamEvent[], acquisitions: { holder: string; revision: number }[]): void {
  for (const { object } of batch.filter(isNews)) {
    const holder = (object as Lease).spec.holderIdentity ?? '';
    if (holder !== acquisitions.at(-1)?.holder) acquisitions.push({ holder, revision: Number(object.metadata.resourceVersion) });
  }
}
