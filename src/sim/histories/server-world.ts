/** Random worlds of two API servers on one etcd that misbehaves, from a seed. */
import { allKinds } from '../../api/kinds/index.ts';
import { namespaceKind } from '../../api/kinds/core/namespace.ts';
import { createApi, type RunningApi } from '../../apiserver/create-api.ts';
import { createInProcessTransport } from '../../cluster/access/in-process-transport.ts';
import { systemClient } from '../../cluster/access/identities.ts';
import { type Client, createClient } from '../../client/client.ts';
import { type EtcdStore, openEtcdStore } from '../../store/etcd/etcd-store.ts';
import type { EtcdBugs } from '../etcd/etcd-bugs.ts';
import { SimulatedEtcd } from '../etcd/simulated-etcd.ts';
import { SimulatedChannel } from '../world/grpc-channel.ts';
import { badNetwork, perfectNetwork, SimulatedNetwork } from '../world/network.ts';
import type { Prng } from '../world/prng.ts';
import { type SimulatedWorld, simulate } from '../world/world.ts';
import { checkHistory, type HistoryViolation } from './check-history.ts';
import { type ClientContext, runClient, runLeader, runWatcher } from './clients.ts';
import { Recorder } from './history.ts';

/** How long clients work, and how long the world may take to come to rest. */
const WORK_MS = 25_000;
const REST_MS = 60_000;

const MAX_STEPS = 1_000_000;

/** One with bugs that later ones do not have: its word on the progress is not believed, and it is asked what each change replaced. */
const OLD_VERSION = '3.4.20';

export interface ServerWorldOutcome {
  readonly violation?: HistoryViolation;
  readonly operations: number;
}

/** Runs one world. The same seed is the same world. */
export function runServerWorld(seed: number): Promise<ServerWorldOutcome> {
  return simulate(seed, (world) => playWorld(world), { steps: MAX_STEPS, keepsLog: false });
}

async function playWorld(world: SimulatedWorld): Promise<ServerWorldOutcome> {
  const random = world.random.fork();
  const bugs = drawBugs(random);
  const etcd = new SimulatedEtcd(world, { bugs, ...(isOld(bugs) ? { version: OLD_VERSION } : {}) });
  const network = new SimulatedNetwork(world, { ...badNetwork, delayMs: 20, cut: 0.01 });
  const servers = await Promise.all([startServer(world, etcd, network), startServer(world, etcd, network)]);
  // Sees all, whatever the others miss.
  const witness = await startServer(world, etcd, new SimulatedNetwork(world, perfectNetwork));
  await prepare(world, witness.client);
  const recorder = new Recorder();
  const end = world.clock.monotonic() + WORK_MS;
  const isOver = () => world.clock.monotonic() >= end;
  const context: ClientContext = { recorder, random, sleep: (ms) => world.sleep(ms), isOver, pauseMs: 400 };
  const rested = { isOver: () => world.clock.monotonic() >= end + REST_MS };
  const watchers = [...servers, witness].map(({ client }, i) => runWatcher(`watcher ${i + 1}`, client, { ...context, ...rested }));
  const clients = servers.flatMap(({ client, fenced }, i) => [
    runClient(client, context),
    runClient(client, context),
    runLeader(client, `leader ${i + 1}`, { ...context, fenced }),
  ]);
  await Promise.all([disturb(world, { etcd, random, isOver }), ...clients]);
  network.heal();
  etcd.regainQuorum();
  for (const member of etcd.members) member.start();
  await Promise.all(watchers);
  for (const server of [...servers, witness]) await server.stop();
  const [violation] = checkHistory({
    operations: recorder.operations,
    watchers: recorder.watchers,
    epochs: recorder.epochs,
    losesEvents: bugs.lostEvents !== undefined || bugs.noDeletesAtCompaction === true,
    // A version that is believed, and loses events: until a server notices, it cannot know.
    readsMayBeOld: bugs.noDeletesAtCompaction === true,
  });
  const operations = recorder.operations.length;
  if (violation === undefined) return { operations };
  return { violation: { ...violation, what: `${violation.what} (etcd's bugs: ${JSON.stringify(bugs)})` }, operations };
}

/** One of the bugs that etcd had, in half of the worlds. */
function drawBugs(random: Prng): EtcdBugs {
  const bugs: readonly EtcdBugs[] = [{ progressBeforeEvents: true }, { eventsFromThePast: true }, { noDeletesAtCompaction: true }, { lostEvents: 0.05 }];
  return random.chance(0.5) ? (bugs[random.below(bugs.length)] ?? {}) : {};
}

const isOld = ({ progressBeforeEvents = false, lostEvents = 0 }: EtcdBugs): boolean => progressBeforeEvents || lostEvents > 0;

interface StartedServer {
  readonly client: Client;
  readonly fenced: Parameters<typeof runLeader>[2]['fenced'];
  stop(): Promise<void>;
}

async function startServer(world: SimulatedWorld, etcd: SimulatedEtcd, network: SimulatedNetwork): Promise<StartedServer> {
  const store = await openStore(world, etcd, network);
  const api: RunningApi = createApi({ store, kinds: allKinds, world });
  const transport = createInProcessTransport(api, { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }, 'moor/history');
  return {
    client: systemClient(api, 'history'),
    fenced: (fence) => createClient({ transport, fence: () => fence }),
    stop: async () => {
      await api.stop();
      await store.close();
    },
  };
}

/** As often as it takes: the network may lose any of the answers. */
async function openStore(world: SimulatedWorld, etcd: SimulatedEtcd, network: SimulatedNetwork): Promise<EtcdStore> {
  for (;;) {
    const endpoints = etcd.members.map((member, i) => ({ url: `http://etcd-${i}:2379`, channel: new SimulatedChannel(member, network) }));
    try {
      return await openEtcdStore({
        endpoints,
        prefix: '/mooring',
        world,
        newClusterId: world.random.uuid(),
        requestTimeoutMs: 4_000,
        compactionIntervalMs: 10_000,
        pageSize: 3,
      });
    } catch {
      await world.sleep(100);
    }
  }
}

async function prepare(world: SimulatedWorld, client: Client): Promise<void> {
  for (const name of ['default', 'kube-system'])
    for (let made = false; !made; ) {
      const result = await client.create(namespaceKind, { metadata: { name } });
      made = result.ok || result.reason === 'alreadyExists';
      if (!made) await world.sleep(100);
    }
}

interface Disturbance {
  readonly etcd: SimulatedEtcd;
  readonly random: Prng;
  readonly isOver: () => boolean;
}

/** Members crash and lose connections, the cluster loses its quorum, and is compacted. */
async function disturb(world: SimulatedWorld, { etcd, random, isOver }: Disturbance): Promise<void> {
  while (!isOver()) {
    await world.sleep(random.float() * 1_500);
    const member = etcd.members[random.below(etcd.members.length)];
    const what = random.below(4);
    if (what === 0) member?.cutConnections();
    if (what === 1) {
      member?.crash();
      await world.sleep(random.float() * 2_000);
      member?.start();
    }
    if (what === 2) {
      etcd.hasQuorum = false;
      await world.sleep(random.float() * 8_000);
      etcd.regainQuorum();
    }
    if (what === 3 && etcd.state.revision > etcd.state.compacted + 1) etcd.state.compact(etcd.state.revision - random.below(2));
  }
}
