/** What the API server keeps of a store follows it, also where the store has lost the events in between. */
import { create } from '@bufbuild/protobuf';
import { expect, test, vi } from 'vitest';
import { resourceRequestInfo } from '../../src/api/request-info.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { followRbac } from '../../src/apiserver/authorization/rbac/follow.ts';
import { PrefixFollower } from '../../src/apiserver/objects/follow-prefix.ts';
import { TxnRequestSchema } from '../../src/grpc/generated/etcd.ts';
import { SimulatedEtcd } from '../../src/sim/etcd/simulated-etcd.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import { bytes, text, write } from '../../src/store/conformance/expectations.ts';
import { remove, StoreError } from '../../src/store/contract.ts';
import type { EtcdStore } from '../../src/store/etcd/etcd-store.ts';
import { openSimulatedStore } from '../store/etcd/simulated-store.ts';

interface Server {
  readonly world: SimulatedWorld;
  readonly etcd: SimulatedEtcd;
  readonly store: EtcdStore;
}

/** The watches are interrupted, other servers write, and etcd is compacted before the watches are resumed. */
async function loseEvents({ world, etcd, store }: Server, writes: Readonly<Record<string, string | undefined>>): Promise<void> {
  for (const member of etcd.members) member.cutConnections();
  for (const [path, value] of Object.entries({ ...writes, '/later': 'x' })) {
    const key = bytes(`/mooring/data${path}`);
    const request =
      value === undefined ? { case: 'requestDeleteRange' as const, value: { key } } : { case: 'requestPut' as const, value: { key, value: bytes(value) } };
    etcd.state.txn(create(TxnRequestSchema, { success: [{ request }] }), 1);
  }
  etcd.state.compact(etcd.state.revision);
  const { revision } = etcd.state;
  await world.sleep(10_000);
  expect(store.compactedRevision()).toBe(revision);
}

const rbac = '/registry/rbac.authorization.k8s.io';
const metadata = { namespace: 'default', name: 'reader' };
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' };
const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'ann' }];
const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }] };
const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata, roleRef, subjects };

async function withRole(world: SimulatedWorld) {
  const etcd = new SimulatedEtcd(world);
  const store = await openSimulatedStore(world, etcd);
  await write(store, { [`${rbac}/roles/default/reader`]: JSON.stringify(role), [`${rbac}/rolebindings/default/reader`]: JSON.stringify(binding) });
  const followed = await followRbac(store, world);
  const info = resourceRequestInfo('get', configMapKind, { namespace: 'default', name: 'settings' });
  const isAllowed = (): boolean => followed.authorizer.authorize({ name: 'ann', groups: [] }, info).allowed;
  expect(isAllowed()).toBe(true);
  return { etcd, store, followed, isAllowed };
}

test('a right whose RoleBinding is deleted after events were lost is gone', () =>
  simulate(1, async (world) => {
    const { etcd, store, isAllowed } = await withRole(world);
    await loseEvents({ world, etcd, store }, { '/earlier': 'x' });
    expect(isAllowed()).toBe(true);
    await store.transact({ compares: [], writes: [remove(`${rbac}/rolebindings/default/reader`)] });
    expect(isAllowed()).toBe(false);
    await store.close();
  }));

test('a right whose RoleBinding was deleted by one of the lost events is gone', () =>
  simulate(2, async (world) => {
    const { etcd, store, followed, isAllowed } = await withRole(world);
    await loseEvents({ world, etcd, store }, { [`${rbac}/rolebindings/default/reader`]: undefined });
    expect(isAllowed()).toBe(false);
    followed.stop();
    expect(store.stats().watchers).toBe(0);
    await store.close();
  }));

test('the difference is handed on, once; an etcd that is away is asked again; the end is told', () =>
  simulate(3, async (world) => {
    const etcd = new SimulatedEtcd(world);
    const store = await openSimulatedStore(world, etcd);
    await write(store, { '/f/a': '1', '/f/b': '1', '/f/c': '1', '/g': '1' });
    const seen: string[] = [];
    const follower = new PrefixFollower({
      store,
      timers: world.timers,
      prefix: '/f/',
      changes: (changes) => seen.push(...changes.map(({ key, entry, previous }) => `${key} ${text(previous)} ${text(entry)}`)),
      ended: () => seen.push('ended'),
    });
    await follower.start();
    expect(seen.splice(0)).toEqual(['/f/a undefined 1', '/f/b undefined 1', '/f/c undefined 1']);
    const away = vi.spyOn(store, 'range');
    for (let i = 0; i < 2; i++) away.mockRejectedValueOnce(new StoreError('unavailable', 'etcd does not answer'));
    await loseEvents({ world, etcd, store }, { '/f/a': undefined, '/f/b': '2', '/f/d': '1', '/g': '2' });
    expect(away).toHaveBeenCalledTimes(3);
    expect(seen.splice(0)).toEqual(['/f/b 1 2', '/f/d undefined 1', '/f/a 1 undefined']);
    await write(store, { '/f/c': '2' });
    expect(seen.splice(0)).toEqual(['/f/c 1 2']);
    await store.close();
    expect(seen).toEqual(['ended']);
  }));
