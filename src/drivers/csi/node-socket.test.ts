import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { done, inline, pod, request, root, sha256, SocketNodeHarness, staging, target, volume, world } from '../../../test/csi/socket-node-harness.ts';
import type { HostFiles } from '../../world/mounts.ts';
import type { SimulatedHost } from '../../sim/host/simulated-host.ts';
import { mountAt } from '../mount/node-host.ts';

let fake: SocketNodeHarness;
beforeEach(() => {
  fake = new SocketNodeHarness();
});
afterEach(() => fake[Symbol.asyncDispose]());

const blockTarget = `${root}/pods/uid-1/volumeDevices/kubernetes.io~csi/pv-1`;

describe('a persistent volume', () => {
  test('is staged, published, unpublished and unstaged, with the paths and files of the kubelet, and nothing is left', async () => {
    const csi = await fake.start();
    const of = volume({
      mountOptions: ['noatime', 'discard'],
      csi: { driver: 'fake.example.com', volumeHandle: 'vol-1', fsType: 'xfs', volumeAttributes: { a: 'b' } },
    });
    expect(await csi.nodeStageVolume?.({ volume: of, stagingPath: staging, pod: pod() })).toEqual(done);
    expect(fake.driver.last('nodeStageVolume')).toMatchObject({
      volumeId: 'vol-1',
      publishContext: { disk: 'sdb' },
      stagingTargetPath: staging,
      volumeContext: { a: 'b' },
      volumeCapability: {
        accessMode: { mode: 1 },
        accessType: { case: 'mount', value: { fsType: 'xfs', mountFlags: ['noatime', 'discard'], volumeMountGroup: '' } },
      },
    });
    expect(await fake.json(`${path.dirname(staging)}/vol_data.json`)).toEqual({ volumeHandle: 'vol-1', driverName: 'fake.example.com' });
    expect(await csi.nodePublishVolume(request(of))).toEqual({ ok: true, value: { path: `${target}/mount` } });
    expect(fake.driver.last('nodePublishVolume')).toMatchObject({
      stagingTargetPath: staging,
      targetPath: `${target}/mount`,
      readonly: false,
      volumeContext: { a: 'b' },
    });
    expect(await fake.json(`${target}/vol_data.json`)).toEqual({
      specVolID: 'pv-1',
      volumeHandle: 'vol-1',
      driverName: 'fake.example.com',
      nodeName: 'node-1',
      attachmentID: `csi-${sha256('vol-1fake.example.comnode-1')}`,
      volumeLifecycleMode: 'Persistent',
    });
    expect(await mountAt(fake.machine, `${target}/mount`)).toBeDefined();
    // By another process, which knows nothing but the files.
    const next = fake.node();
    expect(await next.nodeUnpublishVolume({ target, name: 'pv-1', podUid: 'uid-1' })).toEqual(done);
    expect(await next.nodeUnstageVolume?.({ handle: 'pv-1', stagingPath: staging })).toEqual(done);
    expect(fake.driver.last('nodeUnstageVolume')).toEqual({ volumeId: 'vol-1', stagingTargetPath: staging });
    expect(fake.driver.changes).toEqual(['nodeStageVolume', 'nodePublishVolume', 'nodeUnpublishVolume', 'nodeUnstageVolume']);
    expect(await fake.exists(target)).toBe(false);
    expect(await fake.exists(path.dirname(staging))).toBe(false);
  });

  test('of a driver that does not stage is only published', async () => {
    const csi = await fake.start({ capabilities: [] });
    expect(await csi.nodeStageVolume?.({ volume: volume(), stagingPath: staging, pod: pod() })).toEqual(done);
    expect(await csi.nodePublishVolume(request(volume()))).toMatchObject({ ok: true });
    expect(fake.driver.last('nodePublishVolume')).toMatchObject({ stagingTargetPath: '' });
    expect(await csi.nodeUnpublishVolume({ target, name: 'pv-1', podUid: 'uid-1' })).toEqual(done);
    expect(await csi.nodeUnstageVolume?.({ handle: 'pv-1', stagingPath: staging })).toEqual(done);
    expect(fake.driver.changes).toEqual(['nodePublishVolume', 'nodeUnpublishVolume']);
  });

  test.each([
    [['ReadWriteOnce'], [], 1],
    [['ReadWriteOnce'], ['SINGLE_NODE_MULTI_WRITER'], 7],
    [['ReadWriteOncePod'], ['SINGLE_NODE_MULTI_WRITER'], 6],
    [['ReadOnlyMany', 'ReadWriteOnce'], [], 3],
    [['ReadWriteMany'], [], 5],
  ] as const)('%j, driver %j: the first access mode is mode %d', async (accessModes, capabilities, mode) => {
    const csi = await fake.start({ capabilities });
    await csi.nodePublishVolume(request(volume({ accessModes: [...accessModes] })));
    expect(fake.driver.last('nodePublishVolume')).toMatchObject({ volumeCapability: { accessMode: { mode } } });
  });

  test('gets the secrets of each call; a missing one fails before the driver is called', async () => {
    const csi = await fake.start({ capabilities: ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME'] });
    const named = (name: string) => ({ namespace: 'vault', name });
    const source = {
      driver: 'fake.example.com',
      volumeHandle: 'vol-1',
      nodeStageSecretRef: named('s'),
      nodePublishSecretRef: named('p'),
      nodeExpandSecretRef: named('e'),
    };
    const of = volume({ csi: source });
    expect(await csi.nodeStageVolume?.({ volume: of, stagingPath: staging, pod: pod() })).toMatchObject({
      ok: false,
      message: expect.stringContaining('fetching NodeStageSecretRef vault/s failed'),
    });
    expect(fake.driver.changes).toEqual([]);
    for (const name of ['s', 'p', 'e'])
      fake.secrets.set(`vault/${name}`, { apiVersion: 'v1', kind: 'Secret', metadata: {}, data: { key: Buffer.from(`of ${name}, ü`).toString('base64') } });
    await csi.nodeStageVolume?.({ volume: of, stagingPath: staging, pod: pod() });
    await csi.nodePublishVolume(request(of));
    await csi.nodeExpandVolume?.({ volume: of, stagingPath: staging, capacity: '2Gi', pod: pod(), target });
    expect(fake.driver.last('nodeStageVolume')).toMatchObject({ secrets: { key: 'of s, ü' } });
    expect(fake.driver.last('nodePublishVolume')).toMatchObject({ secrets: { key: 'of p, ü' } });
    expect(fake.driver.last('nodeExpandVolume')).toMatchObject({
      secrets: { key: 'of e, ü' },
      volumePath: `${target}/mount`,
      stagingTargetPath: staging,
      capacityRange: { requiredBytes: 2n ** 31n },
    });
  });
});

describe('fsGroup', () => {
  const inGroup = pod({ securityContext: { fsGroup: 4711 } });
  const groupOf = async () => (await fake.host.stat(`${target}/mount`))?.gid;
  const xfs = volume({ csi: { driver: 'fake.example.com', volumeHandle: 'vol-1', fsType: 'xfs' } });
  test.each([
    ['None', xfs, 0],
    ['File', volume(), 4711],
    [undefined, xfs, 4711],
    ['ReadWriteOnceWithFSType', volume(), 0],
    ['ReadWriteOnceWithFSType', volume({ accessModes: ['ReadWriteMany'], csi: { driver: 'fake.example.com', volumeHandle: 'vol-1', fsType: 'xfs' } }), 0],
  ] as const)('policy %s', async (fsGroupPolicy, of, group) => {
    fake.object = fsGroupPolicy === undefined ? undefined : { fsGroupPolicy };
    const csi = await fake.start({ capabilities: [] });
    expect(await csi.nodePublishVolume(request(of, { pod: inGroup }))).toMatchObject({ ok: true });
    expect(await groupOf()).toBe(group);
  });

  test('is left to a driver with VOLUME_MOUNT_GROUP', async () => {
    fake.object = { fsGroupPolicy: 'File' };
    const csi = await fake.start({ capabilities: ['STAGE_UNSTAGE_VOLUME', 'VOLUME_MOUNT_GROUP'] });
    await csi.nodeStageVolume?.({ volume: xfs, stagingPath: staging, pod: inGroup });
    await csi.nodePublishVolume(request(xfs, { pod: inGroup }));
    const capability = { accessType: { value: { volumeMountGroup: '4711' } } };
    expect(fake.driver.last('nodeStageVolume')).toMatchObject({ volumeCapability: capability });
    expect(fake.driver.last('nodePublishVolume')).toMatchObject({ volumeCapability: capability });
    expect(await groupOf()).toBe(0);
  });
});

describe('what the CSIDriver asks for', () => {
  test('podInfoOnMount, tokenRequests in the context, requiresRepublish: the token is reused', async () => {
    fake.object = { podInfoOnMount: true, requiresRepublish: true, tokenRequests: [{ audience: 'vault', expirationSeconds: 3600 }] };
    const csi = await fake.start({ capabilities: [] });
    const before = world.clock.now();
    const answer = await csi.nodePublishVolume(request(volume()));
    expect(answer.ok && (answer.value.republishAt ?? 0) - before).toBeGreaterThanOrEqual(60_000);
    await csi.nodePublishVolume(request(volume(), { isRepublish: true }));
    const { volumeContext, secrets: sent } = fake.driver.last('nodePublishVolume') as { volumeContext: Record<string, string>; secrets: object };
    expect(volumeContext).toMatchObject({
      'csi.storage.k8s.io/pod.name': 'web',
      'csi.storage.k8s.io/pod.namespace': 'shop',
      'csi.storage.k8s.io/pod.uid': 'uid-1',
      'csi.storage.k8s.io/serviceAccount.name': 'robot',
      'csi.storage.k8s.io/ephemeral': 'false',
    });
    expect(JSON.parse(volumeContext['csi.storage.k8s.io/serviceAccount.tokens'] ?? '')).toEqual({
      vault: { token: 'token 1 for vault', expirationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) },
    });
    expect(sent).toEqual({});
  });

  test('serviceAccountTokenInSecrets', async () => {
    fake.object = { serviceAccountTokenInSecrets: true, tokenRequests: [{ audience: '' }] };
    const csi = await fake.start({ capabilities: [] });
    await csi.nodePublishVolume(request(volume()));
    expect(fake.driver.last('nodePublishVolume')).toMatchObject({
      volumeContext: {},
      secrets: { 'csi.storage.k8s.io/serviceAccount.tokens': expect.stringContaining('token 1 for ') },
    });
  });
});

describe('an inline volume', () => {
  test('has the handle of the kubelet, and is published and unpublished only', async () => {
    fake.object = { volumeLifecycleModes: ['Ephemeral'], podInfoOnMount: true };
    fake.secrets.set('shop/key', { apiVersion: 'v1', kind: 'Secret', metadata: {}, data: { k: 'dg==' } });
    const csi = await fake.start();
    const of = inline({ nodePublishSecretRef: { name: 'key' } });
    expect(await csi.nodePublishVolume(request(of, { stagingPath: undefined }))).toMatchObject({ ok: true });
    const handle = `csi-${sha256('uid-1scratch')}`;
    expect(fake.driver.last('nodePublishVolume')).toMatchObject({
      volumeId: handle,
      stagingTargetPath: '',
      secrets: { k: 'v' },
      volumeContext: { size: '1', 'csi.storage.k8s.io/ephemeral': 'true' },
    });
    expect(await fake.json(`${target}/vol_data.json`)).toMatchObject({ volumeHandle: handle, volumeLifecycleMode: 'Ephemeral' });
    expect(await fake.node().nodeUnpublishVolume({ target, name: 'scratch', podUid: 'uid-1' })).toEqual(done);
    expect(fake.driver.last('nodeUnpublishVolume')).toMatchObject({ volumeId: handle });
    expect(fake.driver.changes).toEqual(['nodePublishVolume', 'nodeUnpublishVolume']);
  });

  test.each([
    [undefined, 'volume mode "Ephemeral" not supported by driver fake.example.com (no CSIDriver object)'],
    [{ volumeLifecycleModes: ['Persistent'] }, 'volume mode "Ephemeral" not supported by driver fake.example.com (only supports ["Persistent"])'],
  ])('is refused if the CSIDriver is %j', async (spec, message) => {
    fake.object = spec;
    const csi = await fake.start();
    expect(await csi.nodePublishVolume(request(inline(), { stagingPath: undefined }))).toMatchObject({ ok: false, message: expect.stringContaining(message) });
    expect(fake.driver.changes).toEqual([]);
  });
});

describe('usage', () => {
  test('comes from a driver with GET_VOLUME_STATS, and from no other', async () => {
    const csi = await fake.start({ capabilities: ['GET_VOLUME_STATS'] });
    await csi.nodePublishVolume(request(volume()));
    const usage = { capacity: 100, available: 70, used: 30, inodes: 10, inodesFree: 7, inodesUsed: 3 };
    expect(await csi.nodeGetVolumeStats?.(`${target}/mount`)).toEqual({ ok: true, value: usage });
    expect(fake.driver.last('nodeGetVolumeStats')).toMatchObject({ volumeId: 'vol-1', volumePath: `${target}/mount` });
  });
});

describe('health', () => {
  const told = async (csi: Awaited<ReturnType<SocketNodeHarness['start']>>) => {
    await csi.nodePublishVolume(request(volume()));
    fake.driver.condition = { abnormal: true, message: 'x'.repeat(2000) };
    return await csi.nodeGetVolumeStats?.(`${target}/mount`);
  };

  test('comes with the usage, from a driver with VOLUME_CONDITION, and its message is bounded', async () => {
    const answer = await told(await fake.start({ capabilities: ['GET_VOLUME_STATS', 'VOLUME_CONDITION'] }));
    expect(answer).toMatchObject({ ok: true, value: { capacity: 100, health: { abnormal: true, message: 'x'.repeat(512) } } });
  });

  test('does not come from another driver, whatever it answers', async () => {
    const answer = await told(await fake.start({ capabilities: ['GET_VOLUME_STATS'] }));
    expect(answer).toMatchObject({ ok: true, value: expect.not.objectContaining({ health: expect.anything() }) });
  });
});

describe('health by itself', () => {
  const asked = (method: string) => fake.driver.calls.filter((call) => call.method === method).length;
  const askTwice = async (capabilities: NonNullable<Parameters<SocketNodeHarness['start']>[0]>['capabilities']) => {
    const csi = await fake.start({ capabilities: capabilities ?? [] });
    await csi.nodePublishVolume(request(volume()));
    fake.driver.condition = { abnormal: true, message: 'a disk is gone' };
    fake.driver.calls.length = 0;
    const ask = () => csi.nodeGetVolumeHealth?.({ driver: 'fake.example.com', handle: 'vol-1' }, `${target}/mount`);
    return [await ask(), await ask()];
  };

  test('is one call for each volume of a driver that tells', async () => {
    const answer = { ok: true, value: { abnormal: true, message: 'a disk is gone' } };
    expect(await askTwice(['GET_VOLUME_STATS', 'VOLUME_CONDITION'])).toEqual([answer, answer]);
    expect([asked('nodeGetCapabilities'), asked('nodeGetVolumeStats')]).toEqual([1, 2]);
  });

  test('is no call for volumes of other drivers', async () => {
    expect(await askTwice(['GET_VOLUME_STATS'])).toEqual([done, done]);
    expect([asked('nodeGetCapabilities'), asked('nodeGetVolumeStats')]).toEqual([1, 0]);
  });
});

describe('a block volume', () => {
  const base = `${root}/plugins/kubernetes.io/csi/volumeDevices`;

  /** The simulated machine has no devices: what the driver publishes counts as one. */
  const withDevices = (): HostFiles =>
    new Proxy<SimulatedHost>(fake.host, {
      get: (host, name: keyof SimulatedHost) => {
        if (name !== 'stat') return typeof host[name] === 'function' ? (host[name] as () => unknown).bind(host) : host[name];
        return async (file: string, how?: 'follow') => {
          const stat = await host.stat(file, how);
          return stat !== undefined && file.includes('/volumeDevices/publish/') ? { ...stat, type: 'block-device' as const } : stat;
        };
      },
    });

  test('is mapped by the node and linked in the pod, and unmapped before the driver unpublishes it', async () => {
    await fake.start();
    const csi = fake.node({ files: withDevices() });
    const of = volume({ volumeMode: 'Block' });
    const [mapped, published] = [`${base}/pv-1/dev/uid-1`, `${base}/publish/pv-1/uid-1`];
    await csi.nodeStageVolume?.({ volume: of, stagingPath: staging, pod: pod() });
    expect(await csi.nodePublishVolume(request(of, { target: blockTarget }))).toEqual({ ok: true, value: { path: published } });
    expect(await csi.nodePublishVolume(request(of, { target: blockTarget }))).toMatchObject({ ok: true });
    expect((await fake.host.table()).filter((entry) => entry.target === mapped)).toHaveLength(1);
    expect(await fake.host.readLink(blockTarget)).toBe(published);
    fake.driver.misbehaves.set('nodeUnpublishVolume', { code: 'Internal', message: 'busy' });
    expect(await csi.nodeUnpublishVolume({ target: blockTarget, name: 'pv-1', podUid: 'uid-1' })).toMatchObject({ ok: false });
    for (const gone of [mapped, blockTarget]) expect([gone, await fake.exists(gone)]).toEqual([gone, false]);
    fake.driver.misbehaves.clear();
    expect(await csi.nodeUnpublishVolume({ target: blockTarget, name: 'pv-1', podUid: 'uid-1' })).toEqual(done);
    expect(await csi.nodeUnstageVolume?.({ handle: 'pv-1', stagingPath: staging })).toEqual(done);
    for (const left of [`${base}/staging/pv-1`, `${base}/publish/pv-1`, `${base}/pv-1`]) expect([left, await fake.exists(left)]).toEqual([left, false]);
  });

  test('is staged in a directory and published as a file of the pod; what is no device is refused', async () => {
    const csi = await fake.start();
    const of = volume({ volumeMode: 'Block' });
    expect(await csi.nodeStageVolume?.({ volume: of, stagingPath: staging, pod: pod() })).toEqual(done);
    expect(fake.driver.last('nodeStageVolume')).toMatchObject({
      stagingTargetPath: `${base}/staging/pv-1`,
      volumeCapability: { accessType: { case: 'block' } },
    });
    const answer = await csi.nodePublishVolume(request(of, { target: blockTarget }));
    expect(fake.driver.last('nodePublishVolume')).toMatchObject({ stagingTargetPath: `${base}/staging/pv-1`, targetPath: `${base}/publish/pv-1/uid-1` });
    expect(answer).toMatchObject({ ok: false, message: expect.stringContaining('published no block device') });
    expect(await fake.json(`${base}/pv-1/data/vol_data.json`)).toMatchObject({ specVolID: 'pv-1', volumeHandle: 'vol-1' });
    expect(await fake.node().nodeUnpublishVolume({ target: blockTarget, name: 'pv-1', podUid: 'uid-1' })).toEqual(done);
    expect(fake.driver.last('nodeUnpublishVolume')).toEqual({ volumeId: 'vol-1', targetPath: `${base}/publish/pv-1/uid-1` });
    expect(await fake.node().nodeUnstageVolume?.({ handle: 'pv-1', stagingPath: staging })).toEqual(done);
    expect(fake.driver.last('nodeUnstageVolume')).toEqual({ volumeId: 'vol-1', stagingTargetPath: `${base}/staging/pv-1` });
    for (const left of [`${base}/staging/pv-1`, `${base}/publish/pv-1`, `${base}/pv-1`, path.dirname(staging)])
      expect([left, await fake.exists(left)]).toEqual([left, false]);
  });
});
