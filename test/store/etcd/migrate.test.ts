/** A cluster's objects from the embedded store to etcd and back: nothing changes, and revisions go on. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ensureSigningKey } from '../../../src/apiserver/authentication/token-issuer.ts';
import { ensureCertificates } from '../../../src/apiserver/certificates/certificate-files.ts';
import { readSharedKeys } from '../../../src/apiserver/certificates/shared-keys.ts';
import { digestOf } from '../../../src/cluster/data-directory/content-digest.ts';
import { openServerData } from '../../../src/cluster/data-directory/open-data.ts';
import { readSnapshot, saveSnapshot } from '../../../src/cluster/data-directory/snapshot-file.ts';
import { embeddedPlace, etcdPlace, leaveToEtcd } from '../../../src/cluster/data-directory/store-places.ts';
import { CleanupStack } from '../../../src/cluster/cleanup-stack.ts';
import { createRealWorld } from '../../../src/host/world.ts';
import { put } from '../../../src/store/contract.ts';
import { EtcdClient } from '../../../src/store/etcd/client.ts';
import { etcdEndpoints } from '../../../src/store/etcd/endpoints.ts';
import { openEtcdStore } from '../../../src/store/etcd/etcd-store.ts';
import { beginFilling } from '../../../src/store/etcd/format.ts';
import { statusOfEtcd } from '../../../src/store/etcd/status.ts';
import { etcdProgram, RealEtcd } from './real-etcd.ts';

const world = createRealWorld({ logLevel: 'silent' });
/** `OBJECTS=100000 npx vitest run …` for the figure in docs/FIGURES.md. */
const OBJECTS = Number(process.env['OBJECTS'] ?? 3_000);

describe.runIf(etcdProgram !== undefined)('moving a cluster between the embedded store and etcd', () => {
  const etcd = new RealEtcd(1);
  const folder = mkdtempSync(path.join(tmpdir(), 'mooring-migrate-'));
  const options = { world, encryptionConfig: undefined };
  const inEtcd = (prefix: string) => etcdPlace({ servers: etcd.servers, prefix, tls: {} }, options);
  const endpoints = () => etcdEndpoints(etcd.servers, { tls: {}, timers: world.timers });

  beforeAll(async () => {
    etcd.startAll();
    const hasLeader = async () => expect((await statusOfEtcd({ endpoints: endpoints(), prefix: '/none' })).members[0]?.problem).toBeNull();
    await vi.waitFor(hasLeader, { timeout: 240_000, interval: 200 });
  });
  afterAll(async () => {
    await etcd.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A cluster with keys and objects, as a server leaves it. */
  async function filled(dataDir: string): Promise<void> {
    const cleanup = new CleanupStack();
    const data = await openServerData({ dataDir, store: 'embedded' }, { world, cleanup });
    const value = (i: number): Buffer => Buffer.from(JSON.stringify({ kind: 'ConfigMap', metadata: { name: `c${i}` }, data: { text: 'x'.repeat(i % 500) } }));
    for (let from = 0; from < OBJECTS; from += 100)
      await data.store.transact({
        compares: [],
        writes: Array.from({ length: Math.min(100, OBJECTS - from) }, (_, i) => put(`/registry/configmaps/default/c${from + i}`, value(from + i))),
      });
    await ensureCertificates({ files: data.files, hosts: [], now: world.clock.now() });
    await ensureSigningKey(data.files);
    await data.complete();
    await cleanup.run();
  }

  test('there and back changes nothing, and no revision comes twice', async () => {
    const dataDir = path.join(folder, 'data');
    await filled(dataDir);
    const before = await embeddedPlace(dataDir, options).read('must be stopped');
    await inEtcd('/moved').write(before);
    await leaveToEtcd(dataDir, before.clusterId, 'now');

    const store = await openEtcdStore({ endpoints: endpoints(), prefix: '/moved', world, newClusterId: 'unused', expectedClusterId: before.clusterId });
    expect(store.revision()).toBeGreaterThan(before.revision);
    expect((await store.get('/registry/configmaps/default/c1'))?.modRevision).toBeGreaterThan(before.revision);
    expect(await (await readSharedKeys(store))?.read('ca.key')).toContain('PRIVATE KEY');
    // The store works with its offset: compares, watches, and reads of the past.
    const at = store.revision();
    const written = await store.transact({ compares: [{ key: '/a', modRevision: 0 }], writes: [put('/a', Buffer.from('1'))] });
    expect(written).toMatchObject({ ok: true, revision: at + 1 });
    expect(await store.transact({ compares: [{ key: '/a', modRevision: at }], writes: [put('/a', Buffer.from('2'))] })).toMatchObject({ ok: false });
    expect(await store.transact({ compares: [{ key: '/a', modRevision: at + 1 }], writes: [{ type: 'delete', key: '/a' }] })).toMatchObject({ ok: true });
    expect((await store.range({ from: '/a', to: '/b', revision: at + 1 })).entries).toHaveLength(1);
    await store.close();

    const there = await inEtcd('/moved').read('must be stopped');
    expect([there.clusterId, digestOf(there.entries)]).toEqual([before.clusterId, digestOf(before.entries)]);
    await embeddedPlace(dataDir, options).write(there);
    const back = await embeddedPlace(dataDir, options).read('must be stopped');
    expect([back.clusterId, digestOf(back.entries), back.entries.length]).toEqual([before.clusterId, digestOf(before.entries), before.entries.length]);
    expect(back.revision).toBe(there.revision);
    const kept = there.entries.map(({ key, modRevision }) => [key, modRevision]);
    expect(back.entries.filter(({ key }) => key.startsWith('/registry/')).map(({ key, modRevision }) => [key, modRevision])).toEqual(
      kept.filter(([key]) => String(key).startsWith('/registry/')),
    );
  });

  test('a place that has a cluster is refused, and one that is half written is begun anew', async () => {
    const content = await inEtcd('/moved').read('may run');
    await expect(inEtcd('/moved').write(content)).rejects.toMatchObject({ code: 'foreign', message: expect.stringContaining('choose another --etcd-prefix') });
    const status = await statusOfEtcd({ endpoints: endpoints(), prefix: '/moved' });
    expect(status).toMatchObject({
      problem: null,
      store: { clusterId: content.clusterId, keys: content.entries.length },
      members: [{ isLeader: true, alarms: [] }],
    });
    // As a "moor store migrate" leaves it that is killed.
    const client = new EtcdClient(endpoints(), 10_000);
    await beginFilling(client, '/half', content);
    client.close();
    const half = { endpoints: endpoints(), prefix: '/half', world, newClusterId: content.clusterId };
    await expect(openEtcdStore(half)).rejects.toMatchObject({ code: 'foreign', message: expect.stringContaining('is not complete') });
    await inEtcd('/half').write(content);
    expect(digestOf((await inEtcd('/half').read('may run')).entries)).toBe(digestOf(content.entries));
  });

  test('a snapshot is restored whole, with later revisions, or refused', async () => {
    const content = await inEtcd('/moved').read('may run');
    const file = path.join(folder, 'snapshot');
    await saveSnapshot(file, content);
    const saved = await readSnapshot(file);
    expect([saved.clusterId, saved.revision, digestOf(saved.entries)]).toEqual([content.clusterId, content.revision, digestOf(content.entries)]);
    await inEtcd('/restored').write({ ...saved, revision: saved.revision + 1_000_000 });
    const restored = await inEtcd('/restored').read('may run');
    expect(restored.revision).toBeGreaterThan(content.revision + 1_000_000);
    const lines = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, lines.filter((_, i) => i !== 3).join('\n'));
    await expect(readSnapshot(file)).rejects.toMatchObject({ code: 'corrupt' });
  });
});
