/** A store that got a transaction and did not answer: the client gets the answer that it would have got, or a Timeout. */
import { expect, test } from 'vitest';
import { settleUndecided } from '../../../src/apiserver/objects/undecided.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { type Store, StoreError, type Transaction } from '../../../src/store/contract.ts';
import { openMemoryStore } from '../../../src/store/memory/memory-store.ts';
import { ApiUnderTest } from '../api-under-test.ts';

type Fate = 'answered' | 'lost before' | 'lost after';

/** A store on another machine: what becomes of its next transactions is listed. */
class RemoteStore {
  readonly store: Store;
  readonly fates: Fate[] = [];
  /** Called after a transaction whose answer got lost. */
  meanwhile: () => Promise<void> = () => Promise.resolve();
  isReadable = true;

  constructor() {
    const inner = openMemoryStore();
    this.store = {
      revision: () => inner.revision(),
      currentRevision: () => inner.currentRevision(),
      compactedRevision: () => inner.compactedRevision(),
      get: (key) => inner.get(key),
      range: (range) => (this.isReadable ? inner.range(range) : Promise.reject(new StoreError('unavailable', 'etcd does not answer'))),
      watch: (options, watcher) => inner.watch(options, watcher),
      compact: (revision) => inner.compact(revision),
      stats: () => inner.stats(),
      close: () => inner.close(),
      transact: (transaction) => this.#transact(inner, transaction),
    };
  }

  async #transact(inner: Store, transaction: Transaction) {
    const fate = this.fates.shift() ?? 'answered';
    const result = fate === 'lost before' ? undefined : await inner.transact(transaction);
    if (result !== undefined && fate === 'answered') return result;
    await this.meanwhile();
    throw new StoreError('undecided', 'etcd got the transaction and did not answer');
  }
}

const maps = '/api/v1/namespaces/default/configmaps';
const map = (value: string) => ({ metadata: { name: 'a' }, data: { value } });

async function withRemote(world: SimulatedWorld) {
  const remote = new RemoteStore();
  const api = new ApiUnderTest(world, remote.store);
  await api.namespace('default');
  return { remote, api };
}

test.each<[string, Fate[]]>([
  ['that happened', ['lost after']],
  ['that did not happen is repeated', ['lost before']],
  ['is lost again and again', ['lost before', 'lost before', 'lost after']],
])('a create %s: one object, and its answer', (_, fates) =>
  simulate(1, async (world) => {
    const { remote, api } = await withRemote(world);
    remote.fates.push(...fates);
    const created = await api.create(maps, map('1'));
    expect(created).toMatchObject({ code: 201, body: { data: { value: '1' } } });
    const stored = await api.send('GET', `${maps}/a`);
    expect(stored.body.metadata).toEqual(created.body.metadata);
    expect(await api.create(maps, map('2'))).toMatchObject({ code: 409, body: { reason: 'AlreadyExists' } });
  }),
);

test('a create that happened, and was changed by another client since, is no conflict', () =>
  simulate(2, async (world) => {
    const { remote, api } = await withRemote(world);
    remote.fates.push('lost after');
    remote.meanwhile = async () => {
      remote.meanwhile = () => Promise.resolve();
      expect(await api.send('PUT', `${maps}/a`, { body: map('other') })).toMatchObject({ code: 200 });
    };
    expect(await api.create(maps, map('1'))).toMatchObject({ code: 201, body: { data: { value: '1' } } });
    expect(await api.send('GET', `${maps}/a`)).toMatchObject({ body: { data: { value: 'other' } } });
  }));

test('an update that another client was faster than is a conflict, and does not happen', () =>
  simulate(3, async (world) => {
    const { remote, api } = await withRemote(world);
    const { body } = await api.create(maps, map('1'));
    remote.fates.push('lost before');
    remote.meanwhile = async () => {
      remote.meanwhile = () => Promise.resolve();
      await api.send('PUT', `${maps}/a`, { body: map('other') });
    };
    expect(await api.send('PUT', `${maps}/a`, { body: { ...body, data: { value: '2' } } })).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
    expect(await api.send('GET', `${maps}/a`)).toMatchObject({ body: { data: { value: 'other' } } });
  }));

test('a create that another client was faster than is a Timeout: it may still happen once the object is deleted', () =>
  simulate(7, async (world) => {
    const { remote, api } = await withRemote(world);
    remote.fates.push('lost before');
    remote.meanwhile = async () => {
      remote.meanwhile = () => Promise.resolve();
      expect(await api.create(maps, map('other'))).toMatchObject({ code: 201 });
    };
    expect(await api.create(maps, map('1'))).toMatchObject({ code: 504, body: { reason: 'Timeout', message: expect.stringContaining('may still happen') } });
    expect(await api.send('GET', `${maps}/a`)).toMatchObject({ body: { data: { value: 'other' } } });
    expect(await api.create(maps, map('1'))).toMatchObject({ code: 409, body: { reason: 'AlreadyExists' } });
  }));

test.each<Fate>(['lost before', 'lost after'])('an update and a delete whose message is %s happen once', (fate) =>
  simulate(4, async (world) => {
    const { remote, api } = await withRemote(world);
    const { body } = await api.create(maps, map('1'));
    remote.fates.push(fate);
    expect(await api.send('PUT', `${maps}/a`, { body: { ...body, data: { value: '2' } } })).toMatchObject({ code: 200, body: { data: { value: '2' } } });
    remote.fates.push(fate);
    expect(await api.send('DELETE', `${maps}/a`)).toMatchObject({ code: 200 });
    expect(await api.send('GET', `${maps}/a`)).toMatchObject({ code: 404 });
  }),
);

test('where it cannot be found out, the client gets a Timeout', () =>
  simulate(5, async (world) => {
    const { remote, api } = await withRemote(world);
    remote.fates.push('lost after');
    remote.meanwhile = async () => void (remote.isReadable = false);
    expect(await api.create(maps, map('1'))).toMatchObject({ code: 504, body: { reason: 'Timeout', message: expect.stringContaining('not known') } });
    remote.isReadable = true;
    remote.meanwhile = () => Promise.resolve();
    remote.fates.push(...Array.from<Fate>({ length: 10 }).fill('lost before'));
    expect(await api.send('PUT', `${maps}/a`, { body: map('2') })).toMatchObject({ code: 504, body: { reason: 'Timeout' } });
  }));

test('a write that compares nothing is not sent again: it may still happen', () =>
  simulate(6, async (world) => {
    const { store, fates } = new RemoteStore();
    const transaction: Transaction = { compares: [], writes: [{ type: 'put', key: '/a', value: new Uint8Array([1]) }] };
    fates.push('lost before');
    await expect(store.transact(transaction)).rejects.toMatchObject({ code: 'undecided' });
    await expect(settleUndecided({ store, world }, transaction, 1)).rejects.toMatchObject({ code: 'undecided' });
    expect(await store.get('/a')).toBeUndefined();
    fates.push('lost after');
    await expect(store.transact(transaction)).rejects.toMatchObject({ code: 'undecided' });
    expect(await settleUndecided({ store, world }, transaction, 1)).toMatchObject({ ok: true, revision: 2 });
  }));

test('a deletion of several keys has not happened because other clients deleted them, one by one', () =>
  simulate(7, async (world) => {
    const { store, fates } = new RemoteStore();
    const [value, keys] = [new Uint8Array([1]), ['/a', '/b']];
    const remove = (key: string) => store.transact({ compares: [], writes: [{ type: 'delete', key }] });
    const { revision } = await store.transact({ compares: [], writes: keys.map((key) => ({ type: 'put', key, value })) });
    const both: Transaction = { compares: [], writes: keys.map((key) => ({ type: 'delete', key })) };
    const compared: Transaction = { ...both, compares: keys.map((key) => ({ key, modRevision: revision })) };
    fates.push('lost before');
    await expect(store.transact(both)).rejects.toMatchObject({ code: 'undecided' });
    await remove('/a');
    await expect(settleUndecided({ store, world }, both, revision)).rejects.toMatchObject({ code: 'undecided' });
    expect(await settleUndecided({ store, world }, compared, revision)).toMatchObject({ ok: false, conflicts: [{ key: '/a' }] });
    await remove('/b');
    expect(await settleUndecided({ store, world }, compared, revision)).toMatchObject({ ok: false, conflicts: [{ key: '/a' }, { key: '/b' }] });
  }));

test('a deletion of several keys has happened, also if one of them was absent', () =>
  simulate(8, async (world) => {
    const { store, fates } = new RemoteStore();
    const { revision } = await store.transact({ compares: [], writes: [{ type: 'put', key: '/b', value: new Uint8Array([1]) }] });
    const both: Transaction = { compares: [{ key: '/b', modRevision: revision }], writes: ['/a', '/b'].map((key) => ({ type: 'delete', key })) };
    fates.push('lost after');
    await expect(store.transact(both)).rejects.toMatchObject({ code: 'undecided' });
    expect(await settleUndecided({ store, world }, both, revision)).toMatchObject({ ok: true, revision: revision + 1 });
  }));
