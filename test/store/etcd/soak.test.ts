/**
 * Clients of two real `moor server` on a real etcd of three members, which are killed, paused, cut off from each other, defragmented and compacted,
 * while a server may be killed too. The history of all clients has to be linearizable for each key, watches complete and in order, and deposed
 * leaders fenced. `npm run soak:etcd` takes 30 minutes (MINUTES=10: ten); as part of `npm test` it is short, without network namespaces.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { HttpTransport } from '../../../src/client/http-transport.ts';
import { loadKubeconfig } from '../../../src/client/http-transport-kubeconfig.ts';
import { ServerList } from '../../../src/client/server-list.ts';
import { createRealWorld } from '../../../src/host/world.ts';
import { checkHistory } from '../../../src/sim/histories/check-history.ts';
import { type ClientContext, runClient, runLeader, runWatcher } from '../../../src/sim/histories/clients.ts';
import { Recorder } from '../../../src/sim/histories/history.ts';
import { type ServerProcess, startServerProcess } from '../../moor-process.ts';
import { MemberNamespaces } from './member-namespaces.ts';
import { etcdProgram, RealEtcd } from './real-etcd.ts';

const world = createRealWorld({ logLevel: 'silent' });
const MINUTES = Number(process.env['MINUTES'] ?? 0.15);
const WORK_MS = MINUTES * 60_000;
/** After the last fault, watches come to the end. */
const REST_MS = MINUTES < 1 ? 8_000 : 30_000;
/** At once, as a short form has time for a few. */
const FAULT_MS = MINUTES < 1 ? 1_500 : 6_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

describe.runIf(etcdProgram !== undefined)('two servers on a real etcd with faults', () => {
  // The short form runs everywhere; the long one is for a machine of its own.
  const namespaces = MINUTES >= 1 && process.getuid?.() === 0 ? new MemberNamespaces(3) : undefined;
  const etcd = new RealEtcd(3, namespaces);
  const folder = mkdtempSync(path.join(tmpdir(), 'mooring-soak-'));
  const servers: ServerProcess[] = [];
  const start = (name: string): Promise<ServerProcess> => startServerProcess(path.join(folder, name), ['--etcd-servers', etcd.servers.join(',')]);

  beforeAll(async () => {
    etcd.startAll();
    for (const name of ['a', 'b']) servers.push(await started(() => start(name)));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop('SIGKILL')));
    await etcd.stop();
    namespaces?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** etcd needs a moment until it has a leader. */
  async function started(begin: () => Promise<ServerProcess>): Promise<ServerProcess> {
    for (;;) {
      try {
        return await begin();
      } catch (error) {
        if (!/etcd (does not answer|cannot be reached|did not take)/.test(String(error))) throw error;
      }
    }
  }

  test(
    'nothing is lost, doubled or out of order',
    async () => {
      const recorder = new Recorder();
      const end = performance.now() + WORK_MS;
      const context: ClientContext = { recorder, random: { float: () => world.random.float() }, sleep, isOver: () => performance.now() >= end, pauseMs: 60 };
      const transports: HttpTransport[] = [];
      const connect = (...order: readonly number[]): HttpTransport => {
        const urls = order.map((i) => servers[i]?.url ?? '');
        const access = { ...loadKubeconfig(servers[0]?.kubeconfig ?? ''), servers: new ServerList(urls) };
        const transport = new HttpTransport({ access, world, userAgent: 'soak', timeoutMs: 20_000 });
        transports.push(transport);
        return transport;
      };
      const rested = { isOver: () => performance.now() >= end + REST_MS };
      const sides = [
        [0, 1],
        [1, 0],
      ] as const;
      const watchers = sides.map((order, i) => runWatcher(`watcher ${i + 1}`, createClient({ transport: connect(...order) }), { ...context, ...rested }));
      const clients = sides.flatMap((order, i) => {
        const transport = connect(...order);
        const client = createClient({ transport });
        const fenced = (fence: Parameters<Parameters<typeof runLeader>[2]['fenced']>[0]) => createClient({ transport, fence: () => fence });
        return [
          runClient(client, context),
          runClient(createClient({ transport: connect(...order) }), context),
          runLeader(client, `leader ${i}`, { ...context, fenced }),
        ];
      });
      const faults = await disturb(context.isOver);
      await Promise.all(clients);
      await Promise.all(watchers);
      for (const transport of transports) transport.close();
      const { operations, epochs } = recorder;
      const acknowledged = operations.filter(({ what }) => what.type === 'write' && typeof what.outcome === 'number').length;
      const unknown = operations.filter(({ what }) => what.type !== 'read' && what.outcome === 'unknown').length;
      if (MINUTES >= 1)
        process.stdout.write(
          `${MINUTES} minutes: ${operations.length} operations, ${acknowledged} writes acknowledged, ${unknown} without an answer, ${epochs.length} changes of leader; faults: ${JSON.stringify(faults)}\n`,
        );
      expect(checkHistory(recorder)).toEqual([]);
      expect(acknowledged).toBeGreaterThan(10);
    },
    WORK_MS + REST_MS + 600_000,
  );

  /** One fault after the other; each is over before the next. */
  async function disturb(isOver: () => boolean): Promise<Readonly<Record<string, number>>> {
    const count: Record<string, number> = {};
    const faults: readonly [string, (member: number) => Promise<void>][] = [
      ['a member is killed', (member) => during(member, 'SIGKILL')],
      ['a member is paused', (member) => during(member, 'SIGSTOP')],
      ['etcd is compacted', () => ctl('compact')],
      ['a member is defragmented', (member) => ctl('defrag', member)],
      // Longer than a server waits for an answer: writes are undecided.
      ['two members are paused', (member) => Promise.all([during(member, 'SIGSTOP', 2), during((member + 1) % 3, 'SIGSTOP', 2)]).then(() => undefined)],
      ...(namespaces === undefined
        ? []
        : [['a member is cut off from the others', (member) => cutOff(namespaces, member)] as [string, (member: number) => Promise<void>]]),
      ...(MINUTES < 1 ? [] : [['a server is killed', () => killServer()] as [string, () => Promise<void>]]),
    ];
    for (let turn = 0; !isOver(); turn++) {
      const [name, inflict] = faults[turn % faults.length] ?? ['', () => Promise.resolve()];
      await inflict(turn % 3);
      count[name] = (count[name] ?? 0) + 1;
      await sleep(FAULT_MS);
    }
    return count;
  }

  async function during(member: number, signal: 'SIGKILL' | 'SIGSTOP', times = 1): Promise<void> {
    await etcd.signal(member, signal);
    await sleep(times * FAULT_MS);
    if (signal === 'SIGKILL') etcd.start(member);
    else await etcd.signal(member, 'SIGCONT');
  }

  /** Clients reach it: it must not answer with what was true before. Longer than an election takes. */
  async function cutOff(members: MemberNamespaces, member: number): Promise<void> {
    members.cut(member);
    await sleep(3 * FAULT_MS);
    members.join(member);
  }

  let kills = 0;
  /** One after the other, so that clients use both: it comes back as another process on the same port. */
  async function killServer(): Promise<void> {
    const place = kills++ % 2;
    const server = servers[place];
    if (server === undefined) return;
    await server.stop('SIGKILL');
    const listen = new URL(server.url).host;
    servers[place] = await started(() => startServerProcess(server.kubeconfig, ['--etcd-servers', etcd.servers.join(','), '--listen', listen]));
  }

  /** etcd's JSON gateway: what etcdctl does. */
  async function ctl(what: 'compact' | 'defrag', member = 0): Promise<void> {
    const post = (url: string, body: object): string =>
      execFileSync('curl', ['-s', '-m', '20', '-X', 'POST', '-d', JSON.stringify(body), url], { encoding: 'utf8' });
    const server = etcd.servers[member] ?? '';
    try {
      if (what === 'defrag') post(`${server}/v3/maintenance/defragment`, {});
      else {
        const { header } = JSON.parse(post(`${server}/v3/kv/range`, { key: 'AA==' })) as { header?: { revision?: string } };
        if (header?.revision !== undefined) post(`${server}/v3/kv/compaction`, { revision: header.revision });
      }
    } catch {
      // A member that does not answer is not compacted.
    }
  }
});
