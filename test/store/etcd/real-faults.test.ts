/**
 * Two servers on a real etcd of three members, of which one at a time is killed, or paused: nothing acknowledged is lost, nothing happens
 * twice, no conflict is false, and the watchers of both servers see the same. A third server, which has never been away, tells the truth.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ApiError } from '../../../src/api/status.ts';
import { settleUndecided } from '../../../src/apiserver/objects/undecided.ts';
import { createRealWorld } from '../../../src/host/world.ts';
import { bytes, text } from '../../../src/store/conformance/expectations.ts';
import { type Store, StoreError, type Transaction, type TransactionResult } from '../../../src/store/contract.ts';
import { etcdEndpoints } from '../../../src/store/etcd/endpoints.ts';
import { type EtcdStore, openEtcdStore } from '../../../src/store/etcd/etcd-store.ts';
import { etcdProgram, RealEtcd } from './real-etcd.ts';

const world = createRealWorld({ logLevel: 'silent' });
const keys = ['/a', '/b', '/c'];
const WRITES_OF_CLIENT = 30;

/** Once it has a leader. */
function open(etcd: RealEtcd): Promise<EtcdStore> {
  const times = { requestTimeoutMs: 3_000, stallMs: 3_000, compactionIntervalMs: 0 };
  const attempt = (): Promise<EtcdStore> => {
    const endpoints = etcdEndpoints(etcd.servers, { tls: {}, timers: world.timers });
    return openEtcdStore({ endpoints, prefix: '/faults', world, newClusterId: world.random.uuid(), ...times });
  };
  return vi.waitFor(attempt, { timeout: 240_000, interval: 200 });
}

interface Attempt {
  readonly key: string;
  readonly value: string;
  readonly outcome: number | 'conflict' | 'unknown';
}

/** Neither what the client asked for, nor its refusal. */
const isUnanswered = (error: unknown): boolean =>
  (error instanceof StoreError && (error.code === 'undecided' || error.code === 'unavailable')) || (error instanceof ApiError && error.code === 504);

/** As the registry does. */
async function transact(store: Store, transaction: Transaction): Promise<TransactionResult> {
  const before = store.revision();
  try {
    return await store.transact(transaction);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'undecided') return settleUndecided({ store, world }, transaction, before);
    throw error;
  }
}

/** Reads a key and writes it, until it has tried often enough. */
async function client(name: string, store: Store, attempts: Attempt[]): Promise<void> {
  for (let i = 0; i < WRITES_OF_CLIENT; ) {
    const key = keys[i % keys.length] ?? '/a';
    const value = `${name}${i}`;
    try {
      const modRevision = (await store.get(key))?.modRevision ?? 0;
      i++;
      const result = await transact(store, { compares: [{ key, modRevision }], writes: [{ type: 'put', key, value: bytes(value) }] });
      attempts.push({ key, value, outcome: result.ok ? result.revision : 'conflict' });
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      attempts.push({ key, value, outcome: 'unknown' });
    }
  }
}

/** 'key@revision=value', of all that a server was told. */
function follow(store: Store): string[] {
  const seen: string[] = [];
  store.watch(
    { prefix: '/', after: store.revision() },
    {
      changes: (revision, changes) => seen.push(...changes.map(({ key, entry }) => `${key}@${revision}=${text(entry)}`)),
      end: (cause) => seen.push(`ended: ${cause.code}`),
    },
  );
  return seen;
}

describe.runIf(etcdProgram !== undefined)('a real etcd whose members are killed and paused', () => {
  const etcd = new RealEtcd();
  beforeAll(() => etcd.startAll());
  afterAll(() => etcd.stop());

  test('keeps what it acknowledged, once, and tells it to all', async () => {
    const stores = [await open(etcd), await open(etcd), await open(etcd)];
    const followers = stores.map(follow);
    const [one, other, witness] = stores;
    if (one === undefined || other === undefined || witness === undefined) throw new Error('unreachable');
    const attempts: Attempt[] = [];
    const work = { isDone: false };
    const clients = Promise.all(['a', 'b', 'c', 'd'].map((name, i) => client(name, i % 2 === 0 ? one : other, attempts))).finally(() => (work.isDone = true));
    for (let member = 0; !work.isDone; member = (member + 1) % 3) {
      const before = attempts.length;
      const way = member % 2 === 0 ? 'SIGKILL' : 'SIGSTOP';
      await etcd.signal(member, way);
      // The two others go on.
      await vi.waitFor(() => expect(work.isDone || attempts.length > before + 4).toBe(true), { timeout: 240_000, interval: 20 });
      if (way === 'SIGKILL') etcd.start(member);
      else await etcd.signal(member, 'SIGCONT');
      await vi.waitFor(() => expect(work.isDone || attempts.length > before + 24).toBe(true), { timeout: 240_000, interval: 20 });
    }
    await clients;
    // All servers come to the same revision.
    await vi.waitFor(async () => expect(await Promise.all(stores.map(async (store) => (await store.get('/a'), store.revision())))).toSatisfy(allSame), {
      timeout: 240_000,
      interval: 200,
    });
    const [truth = [], ...copies] = [...followers].reverse();
    for (const copy of copies) expect(copy).toEqual(truth);
    for (const { key, value, outcome } of attempts) {
      const times = truth.filter((line) => line.startsWith(`${key}@`) && line.endsWith(`=${value}`));
      if (typeof outcome === 'number') expect(times).toEqual([`${key}@${outcome}=${value}`]);
      else expect(times.length, `${key}=${value} is ${outcome}`).toBeLessThanOrEqual(outcome === 'conflict' ? 0 : 1);
    }
    expect(attempts.filter(({ outcome }) => typeof outcome === 'number').length).toBeGreaterThan(0);
    for (const store of stores) await store.close();
  });
});

const allSame = (revisions: readonly number[]): boolean => new Set(revisions).size === 1;
