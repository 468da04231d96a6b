import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createRealWorld } from '../../../src/host/world.ts';
import { describeStore } from '../../../src/store/conformance.ts';
import { etcdEndpoints } from '../../../src/store/etcd/endpoints.ts';
import { type EtcdStore, openEtcdStore } from '../../../src/store/etcd/etcd-store.ts';
import { etcdProgram, RealEtcd } from './real-etcd.ts';
import { renumbered } from './renumbered-store.ts';

const world = createRealWorld({ logLevel: 'silent' });

/** Never gives up: the machine may stand still. */
function open(etcd: RealEtcd, prefix: string): Promise<EtcdStore> {
  const endpoints = etcdEndpoints(etcd.servers, { tls: {}, timers: world.timers });
  const patience = { requestTimeoutMs: 60_000, stallMs: 60_000 };
  return openEtcdStore({ endpoints, prefix, world, newClusterId: world.random.uuid(), compactionIntervalMs: 0, ...patience });
}

/** Once it has a leader. */
const opened = (etcd: RealEtcd, prefix: string): Promise<EtcdStore> => vi.waitFor(() => open(etcd, prefix), { timeout: 240_000, interval: 200 });

if (etcdProgram === undefined) test('the real etcd is not tested: scripts/setup could not install it', () => expect(etcdProgram).toBeUndefined());
// Of several members, some may stand still for longer than an election takes, and nothing here is repeated: real-faults.test.ts has three.
else
  describe('one member', () => {
    const etcd = new RealEtcd(1);
    let stores = 0;
    beforeAll(async () => {
      etcd.startAll();
      await (await opened(etcd, '/first')).close();
    });
    afterAll(() => etcd.stop());

    describeStore('a real etcd', async () => renumbered(await open(etcd, `/store-${++stores}`)));
  });
