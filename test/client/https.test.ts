import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allKinds } from '../../src/api/kinds/index.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { leaseKind } from '../../src/api/kinds/coordination/lease.ts';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { HttpTransport } from '../../src/client/http-transport.ts';
import { loadKubeconfig } from '../../src/client/http-transport-kubeconfig.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { LeaderElection } from '../../src/client/controller/leader-election.ts';
import type { ControllerLoop } from '../../src/client/controller/loop.ts';
import { startRealWireServer, type WireServer } from '../wire/wire-server.ts';
import type { Api } from '../../src/apiserver/api.ts';
import { startHousekeeping } from '../controllers/housekeeping.ts';

const world = createRealWorld({ logLevel: 'silent' });
let wire: WireServer<Api>;
let transport: HttpTransport;
let client: Client;
let loops: readonly ControllerLoop[];

const base64 = (text: string) => Buffer.from(text).toString('base64');

beforeAll(async () => {
  wire = await startRealWireServer(allKinds);
  const { admin, authority } = wire.certificates;
  const kubeconfig = `
current-context: moor
contexts: [{ name: moor, context: { cluster: moor, user: admin } }]
clusters: [{ name: moor, cluster: { server: '${wire.server.url}', certificate-authority: ca.crt } }]
users: [{ name: admin, user: { client-certificate-data: ${base64(admin.certificate)}, client-key-data: ${base64(admin.key)} } }]`;
  const directory = mkdtempSync(path.join(tmpdir(), 'moor-https-'));
  writeFileSync(path.join(directory, 'kubeconfig'), kubeconfig);
  writeFileSync(path.join(directory, 'ca.crt'), authority.certificate);
  transport = new HttpTransport({ access: loadKubeconfig(path.join(directory, 'kubeconfig')), world, userAgent: 'moor/test' });
  rmSync(directory, { recursive: true });
  client = createClient({ transport });
  for (const name of ['default', 'kube-system']) await client.create(namespaceKind, { metadata: { name } });
  loops = startHousekeeping(transport, world);
});

afterAll(async () => {
  await Promise.all(loops.map((loop) => loop.stop()));
  transport.close();
  await wire[Symbol.asyncDispose]();
});

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(holds, { interval: 5 }).toBe(true);
}

const gone = async (name: string) => {
  const found = await client.get(configMapKind, { namespace: 'default', name });
  return !found.ok && found.reason === 'notFound';
};

test('the same controllers work over HTTPS: a namespace gets its service account, and is deleted with its content', async () => {
  const made = await client.create(namespaceKind, { metadata: { name: 'team' } });
  expect(made).toMatchObject({ ok: true, value: { kind: 'Namespace', metadata: { name: 'team' } } });
  await until(async () => (await client.get(configMapKind, { namespace: 'team', name: 'kube-root-ca.crt' })).ok);
  await client.delete(namespaceKind, { name: 'team' });
  await until(async () => !(await client.get(namespaceKind, { name: 'team' })).ok);
});

test('so does the garbage collector', async () => {
  const owner = await client.create(configMapKind, { metadata: { namespace: 'default', name: 'owner' } });
  if (!owner.ok) throw owner.error;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.value.metadata.uid ?? '' }];
  await client.create(configMapKind, { metadata: { namespace: 'default', name: 'child', ownerReferences } });
  await client.delete(configMapKind, { namespace: 'default', name: 'owner' });
  await until(() => gone('child'));
});

test('a list in pages, a watch, and what is written here is read here', async () => {
  for (let i = 0; i < 7; i++) await client.create(configMapKind, { metadata: { namespace: 'kube-system', name: `page-${i}` } });
  const informers: Informers = new Informers({ client, world, pageSize: 3 });
  const cache = informers.cache(configMapKind);
  informers.start();
  await informers.synced();
  expect(cache.inNamespace('kube-system').filter(({ metadata }) => metadata.name?.startsWith('page-'))).toHaveLength(7);
  const writer = createClient({ transport, observer: informers.observer });
  const ref = { namespace: 'kube-system', name: 'page-0' };
  await writer.patch(configMapKind, ref, { type: 'merge', body: { data: { written: 'here' } } });
  expect(cache.get(ref)?.data).toEqual({ written: 'here' });
  await client.patch(configMapKind, ref, { type: 'json', body: [{ op: 'add', path: '/data/written', value: 'elsewhere' }] });
  await until(() => cache.get(ref)?.data?.['written'] === 'elsewhere');
  informers.stop();
});

test('a fence is checked over HTTPS as well', async () => {
  const lease = { namespace: 'kube-system', name: 'fenced' };
  const newElection = (identity: string) =>
    new Promise<{ fence: { lease: string; epoch: number }; election: LeaderElection }>((resolve) => {
      const election: LeaderElection = new LeaderElection({
        world,
        client,
        leaseKind,
        lease,
        identity,
        takeOver: identity === 'second',
        onLeading: (fence) => resolve({ fence, election }),
        onDeposed: () => undefined,
      });
      election.start();
    });
  const first = await newElection('first');
  const draft = { metadata: { namespace: 'default', name: 'fenced' } };
  expect(await createClient({ transport, fence: () => first.fence }).create(configMapKind, draft, { dryRun: false })).toMatchObject({ ok: true });
  const second = await newElection('second');
  expect(await createClient({ transport, fence: () => first.fence }).delete(configMapKind, draft.metadata)).toMatchObject({ ok: false, reason: 'deposed' });
  expect(await createClient({ transport, fence: () => second.fence }).delete(configMapKind, draft.metadata)).toMatchObject({ ok: true });
  await Promise.all([first.election.stop(), second.election.stop()]);
});

test('a client without a certificate is refused', async () => {
  const anonymous = new HttpTransport({ access: { url: wire.server.url, ca: wire.certificates.authority.certificate }, world, userAgent: 'moor/test' });
  expect(await createClient({ transport: anonymous }).get(configMapKind, { namespace: 'default', name: 'x' })).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/unauthorized|forbidden/) as string,
  });
  anonymous.close();
  const stranger = new HttpTransport({ access: { url: wire.server.url }, world, userAgent: 'moor/test' });
  expect(await createClient({ transport: stranger }).get(configMapKind, { namespace: 'default', name: 'x' })).toMatchObject({
    ok: false,
    reason: 'unreachable',
  });
  stranger.close();
});
