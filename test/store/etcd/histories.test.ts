/**
 * Random histories of two servers on one etcd, whose members crash, lose their quorum and are compacted, over a network that loses requests,
 * answers and streams. etcd's own revisions are the truth that every answer is compared with.
 */
import { expect, test } from 'vitest';
import { ApiError } from '../../../src/api/status.ts';
import { settleUndecided } from '../../../src/apiserver/objects/undecided.ts';
import { SimulatedEtcd } from '../../../src/sim/etcd/simulated-etcd.ts';
import { badNetwork } from '../../../src/sim/world/network.ts';
import type { Prng } from '../../../src/sim/world/prng.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { bytes } from '../../../src/store/conformance/expectations.ts';
import { type Store, StoreError, type Transaction, type TransactionResult } from '../../../src/store/contract.ts';
import { networkWith, openSimulatedStore } from './simulated-store.ts';

const keys = ['/a', '/b', '/c', '/d'];
const dataOf = (key: string): string => key.replace('/mooring/data', '');

interface Written {
  readonly key: string;
  /** Of the put; undefined: a deletion. */
  readonly value: string | undefined;
  readonly outcome: number | 'conflict' | 'unknown';
}

/** All that clients were told. */
class History {
  readonly written: Written[] = [];
  /** The newest revision that a client was told of, by key. */
  readonly acknowledged = new Map<string, number>();
  #values = 0;

  /** No two writes have the same value. */
  nextValue(): string {
    return `${++this.#values}`;
  }

  note(writes: Transaction['writes'], outcome: Written['outcome']): void {
    for (const write of writes) {
      this.written.push({ key: write.key, value: write.type === 'put' ? new TextDecoder().decode(write.value) : undefined, outcome });
      if (typeof outcome === 'number') this.acknowledged.set(write.key, Math.max(outcome, this.acknowledged.get(write.key) ?? 0));
    }
  }
}

interface Server {
  readonly store: Store;
  readonly world: SimulatedWorld;
}

/** The client is told that the outcome is not known. */
const isTimeout = (error: unknown): boolean => (error instanceof StoreError && error.code === 'undecided') || (error instanceof ApiError && error.code === 504);

/** As the registry does. */
async function transact({ store, world }: Server, transaction: Transaction): Promise<TransactionResult> {
  const before = store.revision();
  try {
    return await store.transact(transaction);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'undecided') return settleUndecided({ store, world }, transaction, before);
    throw error;
  }
}

/** Reads some keys, then writes them if no other client has in between. */
async function readAndWrite(server: Server, random: Prng, history: History): Promise<void> {
  const chosen = keys.filter(() => random.chance(0.4));
  const known = new Map(history.acknowledged);
  const entries = await Promise.all(chosen.map((key) => server.store.get(key)));
  for (const [i, key] of chosen.entries()) {
    const entry = entries[i];
    // A deletion leaves no revision to compare: the end of the history tells.
    if (entry !== undefined) expect(entry.modRevision).toBeGreaterThanOrEqual(known.get(key) ?? 0);
  }
  const transaction: Transaction = {
    compares: chosen.map((key, i) => ({ key, modRevision: entries[i]?.modRevision ?? 0 })),
    writes: chosen.map((key) => (random.chance(0.2) ? { type: 'delete', key } : { type: 'put', key, value: bytes(history.nextValue()) })),
  };
  const result = await transact(server, transaction).catch((error: unknown) => {
    if (isTimeout(error)) history.note(transaction.writes, 'unknown');
    throw error;
  });
  if (!result.ok) history.note(transaction.writes, 'conflict');
  else history.note(transaction.writes, result.revision);
}

async function client(world: SimulatedWorld, store: Store, history: History): Promise<void> {
  const random = world.random.fork();
  for (let i = 0; i < 15; i++) {
    await world.sleep(random.float() * 400);
    try {
      await readAndWrite({ store, world }, random, history);
    } catch (error) {
      if (!isTimeout(error) && !(error instanceof StoreError && error.code === 'unavailable')) throw error;
    }
  }
}

async function disturb(world: SimulatedWorld, etcd: SimulatedEtcd): Promise<void> {
  const random = world.random.fork();
  for (let i = 0; i < 12; i++) {
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
      await world.sleep(random.float() * 12_000);
      etcd.regainQuorum();
    }
    if (what === 3 && etcd.state.revision > etcd.state.compacted + 1) etcd.state.compact(etcd.state.revision - random.below(2));
  }
}

/** Follows all keys as an informer does: it begins anew when its watch ends. Gives each revision that it saw, by key. */
function follow(store: Store): { readonly seen: Map<string, string>; readonly stop: () => void } {
  const seen = new Map<string, string>();
  let stopped = false;
  let watch: { stop(): void } | undefined;
  const begin = (after: number): void => {
    let newest = after;
    watch = store.watch(
      { prefix: '/', after },
      {
        changes: (revision, changes) => {
          expect(revision).toBeGreaterThan(newest);
          newest = revision;
          for (const { key, entry } of changes) {
            expect(seen.has(`${key}@${revision}`)).toBe(false);
            seen.set(`${key}@${revision}`, entry === undefined ? 'gone' : new TextDecoder().decode(entry.value));
          }
        },
        end: () => {
          if (!stopped) queueMicrotask(() => begin(store.revision()));
        },
      },
    );
  };
  begin(store.revision());
  return {
    seen,
    stop: () => {
      stopped = true;
      watch?.stop();
    },
  };
}

/** key@revision → value, of all that ever happened. */
function truthOf(etcd: SimulatedEtcd): Map<string, string> {
  const truth = new Map<string, string>();
  for (let revision = 2; revision <= etcd.state.revision; revision++) {
    for (const { key, value, version } of etcd.state.at(revision)) {
      if (key.startsWith('/mooring/data')) truth.set(`${dataOf(key)}@${revision}`, version === 0 ? 'gone' : new TextDecoder().decode(value));
    }
  }
  return truth;
}

function check(history: History, truth: ReadonlyMap<string, string>): void {
  const values = [...truth.values()];
  for (const { key, value, outcome } of history.written) {
    if (value === undefined) {
      // A key that was absent leaves no deletion.
      if (typeof outcome === 'number') expect(truth.get(`${key}@${outcome}`) ?? 'gone').toBe('gone');
      continue;
    }
    const times = values.filter((each) => each === value).length;
    if (outcome === 'conflict') expect(times, `${key}=${value} was a conflict`).toBe(0);
    else if (outcome === 'unknown') expect(times).toBeLessThanOrEqual(1);
    else expect([times, truth.get(`${key}@${outcome}`)], `${key}=${value} was acknowledged`).toEqual([1, value]);
  }
}

const count = Number(process.env['MOOR_SEEDS'] ?? 25);
const first = Number(process.env['MOOR_SEED'] ?? 1);
const seeds = Array.from({ length: count }, (_, i) => first + i);

test.each(seeds)('seed %i: nothing acknowledged is lost, nothing happens twice, no conflict is false, watchers see the truth', (seed) =>
  simulate(seed, async (world) => {
    const etcd = new SimulatedEtcd(world);
    const network = networkWith(world, { ...badNetwork, delayMs: 20, cut: 0.02 });
    const options = { network, requestTimeoutMs: 4_000, compactionIntervalMs: 20_000 };
    const opened = (): ReturnType<typeof openSimulatedStore> => openSimulatedStore(world, etcd, options).catch(() => world.sleep(100).then(opened));
    const stores = [await opened(), await opened()];
    const followers = stores.map(follow);
    const history = new History();
    await Promise.all([disturb(world, etcd), ...stores.flatMap((store) => [client(world, store, history), client(world, store, history)])]);
    network.heal();
    etcd.regainQuorum();
    await world.sleep(60_000);
    const truth = truthOf(etcd);
    expect(truth.size).toBeGreaterThan(0);
    check(history, truth);
    for (const follower of followers) {
      follower.stop();
      for (const [change, value] of follower.seen) expect(truth.get(change), change).toBe(value);
    }
    for (const store of stores) {
      for (const key of keys) {
        const newest = [...truth].findLast(([change]) => change.startsWith(`${key}@`))?.[1] ?? 'gone';
        const entry = await store.get(key);
        expect(entry === undefined ? 'gone' : new TextDecoder().decode(entry.value)).toBe(newest);
      }
      await store.close();
    }
  }),
);
