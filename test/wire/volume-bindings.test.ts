/** Binding in one transaction over HTTPS, as controllers in a process of their own do it; and not where it is hidden. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../src/api/generated/types.ts';
import { allKinds, kubernetesKinds } from '../../src/api/kinds/index.ts';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { type Client, createClient, type VolumeClaimPair } from '../../src/client/client.ts';
import { HttpTransport } from '../../src/client/http-transport.ts';
import type { Api } from '../../src/apiserver/api.ts';
import { pv, pvc } from '../storage/objects.ts';
import { FakeBackend } from '../storage/fake-backend.ts';
import { runStorage } from '../storage/storage-cluster.ts';
import { startRealWireServer, type WireServer } from './wire-server.ts';

const world = createRealWorld({ logLevel: 'silent' });
const opened: AsyncDisposable[] = [];

interface Reached {
  readonly wire: WireServer<Api>;
  readonly transport: HttpTransport;
  readonly client: Client;
}

async function reach(plain: boolean): Promise<Reached> {
  const wire = await startRealWireServer(plain ? kubernetesKinds : allKinds, { plain });
  const { admin, authority } = wire.certificates;
  const access = { url: wire.server.url, ca: authority.certificate, cert: admin.certificate, key: admin.key };
  const transport = new HttpTransport({ access, world, userAgent: 'moor/test' });
  const client = createClient({ transport });
  await client.create(namespaceKind, { metadata: { name: 'default' } });
  opened.push({
    async [Symbol.asyncDispose]() {
      transport.close();
      await wire[Symbol.asyncDispose]();
    },
  });
  return { wire, transport, client };
}

let ours: Reached;
let plain: Reached;
beforeAll(async () => void ([ours, plain] = await Promise.all([reach(false), reach(true)])));
afterAll(async () => {
  for (const one of opened) await one[Symbol.asyncDispose]();
});

async function createVolume({ client }: Reached, name: string): Promise<PersistentVolume> {
  const made = await client.create(persistentVolumeKind, { metadata: { name }, spec: pv(name, '1Gi').spec });
  if (!made.ok) throw made.error;
  return made.value;
}

async function createClaim({ client }: Reached, name: string): Promise<PersistentVolumeClaim> {
  const made = await client.create(persistentVolumeClaimKind, { metadata: { name, namespace: 'default' }, spec: pvc(name, '1Gi').spec });
  if (!made.ok) throw made.error;
  return made.value;
}

function bound(volume: PersistentVolume, claim: PersistentVolumeClaim): VolumeClaimPair {
  const { namespace = '', name = '', uid = '' } = claim.metadata;
  return {
    volume: {
      ...volume,
      spec: { ...volume.spec, claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid } },
      status: { phase: 'Bound' },
    },
    claim: { ...claim, spec: { ...claim.spec, volumeName: volume.metadata.name ?? '' }, status: { phase: 'Bound' } },
  };
}

test('discovery says whether a server binds in one transaction', async () => {
  expect(await ours.client.bindsTogether()).toEqual({ ok: true, value: true });
  expect(await plain.client.bindsTogether()).toEqual({ ok: true, value: false });
});

test('both are bound, and the client’s observer hears of both', async () => {
  const pair = bound(await createVolume(ours, 'one'), await createClaim(ours, 'one'));
  const seen: string[] = [];
  const observer = {
    written: (_: unknown, { kind, metadata }: { kind: string; metadata: { resourceVersion?: string } }) => seen.push(`${kind}@${metadata.resourceVersion}`),
    removed: () => undefined,
  };
  const client = createClient({ transport: ours.transport, observer });
  expect(await client.bindTogether(pair, { dryRun: true })).toMatchObject({ ok: true, value: { claim: { status: { phase: 'Bound' } } } });
  expect(seen).toEqual([]);
  const done = await client.bindTogether(pair);
  if (!done.ok) throw done.error;
  const { resourceVersion } = done.value.volume.metadata;
  expect(done.value.claim.metadata.resourceVersion).toBe(resourceVersion);
  expect(seen).toEqual([`PersistentVolume@${resourceVersion}`, `PersistentVolumeClaim@${resourceVersion}`]);
  expect(await client.bindTogether({ ...pair, claim: { ...done.value.claim } })).toMatchObject({ ok: false, reason: 'conflict' });
  expect(await client.get(persistentVolumeKind, { name: 'one' })).toEqual({ ok: true, value: done.value.volume });
});

test('where extensions are hidden there is no such path, in discovery or elsewhere', async () => {
  const pair = bound(await createVolume(plain, 'one'), await createClaim(plain, 'one'));
  expect(await plain.client.bindTogether(pair)).toMatchObject({ ok: false, reason: 'notFound' });
  expect(await plain.client.get(persistentVolumeKind, { name: 'one' })).toMatchObject({ ok: true, value: { status: { phase: 'Pending' } } });
});

test('who has not said who they are may not', async () => {
  const anonymous = new HttpTransport({
    access: { url: ours.wire.server.url, ca: ours.wire.certificates.authority.certificate },
    world,
    userAgent: 'moor/test',
  });
  const { volume, claim } = bound(await createVolume(ours, 'mine'), await createClaim(ours, 'mine'));
  expect(await createClient({ transport: anonymous }).bindTogether({ volume, claim })).toMatchObject({ ok: false, reason: 'forbidden' });
  anonymous.close();
});

test.each(['transaction', 'plain'] as const)('the controllers bind over HTTPS: %s', async (mode) => {
  const at = mode === 'plain' ? plain : ours;
  const loops = runStorage({ transport: at.transport, backend: new FakeBackend(), mode }, world);
  await Promise.all([1, 2, 3].flatMap((i) => [createVolume(at, `${mode}-${i}`), createClaim(at, `${mode}-${i}`)]));
  const phases = async () => {
    const claims = await at.client.list(persistentVolumeClaimKind);
    return claims.ok ? claims.value.items.filter(({ metadata }) => metadata.name?.startsWith(mode)).map(({ status }) => status.phase) : [];
  };
  await expect.poll(phases, { interval: 5 }).toEqual(['Bound', 'Bound', 'Bound']);
  await Promise.all(loops.map((loop) => loop.stop()));
});
