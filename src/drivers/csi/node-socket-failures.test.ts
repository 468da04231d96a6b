import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Misbehaviour } from '../../../test/csi/fake-driver.ts';
import { done, pod, request, root, sha256, SocketNodeHarness, staging, target, volume } from '../../../test/csi/socket-node-harness.ts';
import type { Channel } from '../../grpc/channel.ts';
import { mountAt } from '../mount/node-host.ts';

let fake: SocketNodeHarness;
beforeEach(() => {
  fake = new SocketNodeHarness();
});
afterEach(() => fake[Symbol.asyncDispose]());

describe('a driver that hangs', () => {
  const other = { name: 'pv-2', stagingPath: staging.replace(sha256('vol-1'), sha256('vol-2')), target: target.replace('pv-1', 'pv-2') };
  const second = volume({ csi: { driver: 'fake.example.com', volumeHandle: 'vol-2' } }, { name: other.name });
  type Csi = Awaited<ReturnType<SocketNodeHarness['start']>>;

  /** Of each call: what comes before it, and the call. */
  const stage = (csi: Csi) => csi.nodeStageVolume?.({ volume: volume(), stagingPath: staging, pod: pod() });
  const publish = (csi: Csi) => csi.nodePublishVolume(request(volume()));
  const unpublish = (csi: Csi) => csi.nodeUnpublishVolume({ target, name: 'pv-1', podUid: 'uid-1' });
  const unstage = (csi: Csi) => csi.nodeUnstageVolume?.({ handle: 'pv-1', stagingPath: staging });
  const expand = (csi: Csi) => csi.nodeExpandVolume?.({ volume: volume(), stagingPath: staging, target, pod: pod(), capacity: '2Gi' });

  test.each([
    ['nodeStageVolume', [], stage],
    ['nodePublishVolume', [stage], publish],
    ['nodeUnpublishVolume', [stage, publish], unpublish],
    ['nodeUnstageVolume', [stage, publish, unpublish], unstage],
    ['nodeExpandVolume', [stage, publish], expand],
  ] as const)(
    'in %s: the call ends with its deadline, other volumes go on meanwhile, nothing mounted is lost, and a repetition succeeds',
    async (method, before, call) => {
      const csi = await fake.start({ capabilities: ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME', 'GET_VOLUME_STATS'] });
      for (const each of before) expect(await each(csi)).toMatchObject({ ok: true });
      const mounted = async () => (await fake.host.table()).map((entry) => entry.target).filter((each) => each === staging || each === `${target}/mount`);
      const had = await mounted();
      fake.driver.misbehaves.set(method, 'hang');
      const hanging = call(csi);
      await expect.poll(() => fake.driver.last(method)).toBeDefined();
      fake.driver.misbehaves.clear();
      expect(await csi.nodeStageVolume?.({ volume: second, stagingPath: other.stagingPath, pod: pod() })).toEqual(done);
      expect(await csi.nodePublishVolume(request(second, other))).toMatchObject({ ok: true });
      fake.deadlines.pass();
      expect(await hanging).toMatchObject({ ok: false, final: false, message: expect.stringContaining('context deadline exceeded') });
      expect(await mounted()).toEqual(had);
      expect(await call(csi)).toMatchObject({ ok: true });
      expect(await csi.nodeUnpublishVolume({ target: other.target, name: other.name, podUid: 'uid-1' })).toEqual(done);
    },
  );

  test('in nodeGetVolumeStats: it is not asked again for a minute, so that no page waits for each of its volumes', async () => {
    const csi = await fake.start({ capabilities: ['STAGE_UNSTAGE_VOLUME', 'GET_VOLUME_STATS'] });
    await stage(csi);
    await publish(csi);
    fake.driver.misbehaves.set('nodeGetVolumeStats', 'hang');
    const asked = () => fake.driver.calls.filter(({ method }) => method === 'nodeGetVolumeStats').length;
    const hanging = csi.nodeGetVolumeStats?.(`${target}/mount`);
    await expect.poll(asked).toBe(1);
    fake.deadlines.pass();
    expect(await hanging).toMatchObject({ ok: false, code: 'DeadlineExceeded' });
    expect(await csi.nodeGetVolumeStats?.(`${target}/mount`)).toMatchObject({ ok: false, code: 'Unavailable' });
    expect(asked()).toBe(1);
    expect(await mountAt(fake.machine, `${target}/mount`)).toBeDefined();
    expect(await unpublish(csi)).toEqual(done);
  });

  test('before each call, in NodeGetCapabilities: nothing is begun', async () => {
    const csi = await fake.start();
    fake.driver.misbehaves.set('nodeGetCapabilities', 'hang');
    const hanging = publish(csi);
    await expect.poll(() => fake.driver.last('nodeGetCapabilities')).toBeDefined();
    fake.deadlines.pass();
    expect(await hanging).toMatchObject({ ok: false, final: false });
    expect(await fake.exists(target)).toBe(false);
  });
});

describe('a driver that fails', () => {
  const fails = (code: Extract<Misbehaviour, object>['code'], after = false): Misbehaviour => ({ code, message: 'broken', after });

  test.each([
    ['Internal', false],
    ['Unknown', false],
    ['DeadlineExceeded', true],
    ['Aborted', true],
    ['Unavailable', true],
  ] as const)('%s: what may be mounted stays known (%s)', async (code, stays) => {
    const csi = await fake.start();
    fake.driver.misbehaves.set('nodeStageVolume', fails(code, stays));
    expect(await csi.nodeStageVolume?.({ volume: volume(), stagingPath: staging, pod: pod() })).toMatchObject({
      ok: false,
      message: `rpc error: code = ${code} desc = broken`,
    });
    expect(await fake.exists(path.dirname(staging))).toBe(stays);
    fake.driver.misbehaves.set('nodePublishVolume', fails(code, stays));
    expect(await csi.nodePublishVolume(request(volume()))).toMatchObject({ ok: false });
    expect(await fake.exists(`${target}/vol_data.json`)).toBe(stays);
    fake.driver.misbehaves.clear();
    // The pod is deleted meanwhile. Only what may be mounted is unmounted.
    expect(await csi.nodeUnpublishVolume({ target, name: 'pv-1', podUid: 'uid-1' })).toEqual(done);
    expect(await csi.nodeUnstageVolume?.({ handle: 'pv-1', stagingPath: staging })).toEqual(done);
    expect(fake.driver.changes.slice(2)).toEqual(stays ? ['nodeUnpublishVolume', 'nodeUnstageVolume'] : []);
    expect(await fake.exists(path.dirname(staging))).toBe(false);
  });

  test('to publish again leaves what containers see', async () => {
    const csi = await fake.start({ capabilities: [] });
    await csi.nodePublishVolume(request(volume()));
    fake.driver.misbehaves.set('nodePublishVolume', fails('Internal'));
    expect(await csi.nodePublishVolume(request(volume(), { isRepublish: true }))).toMatchObject({ ok: false });
    expect(await mountAt(fake.machine, `${target}/mount`)).toBeDefined();
    expect(await fake.exists(`${target}/vol_data.json`)).toBe(true);
  });

  test('to unpublish keeps the files, and is asked again', async () => {
    const csi = await fake.start({ capabilities: [] });
    await csi.nodePublishVolume(request(volume()));
    fake.driver.misbehaves.set('nodeUnpublishVolume', fails('Internal'));
    expect(await csi.nodeUnpublishVolume({ target, name: 'pv-1', podUid: 'uid-1' })).toMatchObject({ ok: false });
    expect(await fake.exists(`${target}/vol_data.json`)).toBe(true);
    fake.driver.misbehaves.clear();
    expect(await csi.nodeUnpublishVolume({ target, name: 'pv-1', podUid: 'uid-1' })).toEqual(done);
  });

  test('says OK and publishes nothing: the pod does not start with an empty directory', async () => {
    const csi = await fake.start({ capabilities: [] });
    fake.driver.misbehaves.set('nodePublishVolume', 'lie');
    expect(await csi.nodePublishVolume(request(volume()))).toMatchObject({ ok: false, message: expect.stringContaining('published nothing') });
  });

  test('says OK and unmounts nothing: the node unmounts it', async () => {
    const csi = await fake.start({ capabilities: [] });
    await csi.nodePublishVolume(request(volume()));
    fake.driver.misbehaves.set('nodeUnpublishVolume', 'lie');
    expect(await csi.nodeUnpublishVolume({ target, name: 'pv-1', podUid: 'uid-1' })).toEqual(done);
    expect(await mountAt(fake.machine, `${target}/mount`)).toBeUndefined();
    expect(await fake.exists(target)).toBe(false);
  });

  test('is gone: nothing is removed until it is back', async () => {
    const csi = await fake.start();
    await csi.nodeStageVolume?.({ volume: volume(), stagingPath: staging, pod: pod() });
    await csi.nodePublishVolume(request(volume()));
    fake.isRegistered = false;
    const missing = { ok: false, message: expect.stringContaining('driver name fake.example.com not found in the list of registered CSI drivers') };
    expect(await csi.nodeUnpublishVolume({ target, name: 'pv-1', podUid: 'uid-1' })).toMatchObject(missing);
    expect(await csi.nodeUnstageVolume?.({ handle: 'pv-1', stagingPath: staging })).toMatchObject(missing);
    expect(await mountAt(fake.machine, `${target}/mount`)).toBeDefined();
    fake.isRegistered = true;
    expect(await csi.nodeUnpublishVolume({ target, name: 'pv-1', podUid: 'uid-1' })).toEqual(done);
    expect(await csi.nodeUnstageVolume?.({ handle: 'pv-1', stagingPath: staging })).toEqual(done);
  });

  test('a lost vol_data.json: the journal names driver and handle', async () => {
    const csi = await fake.start();
    const source = { driver: 'fake.example.com', handle: 'vol-1' };
    await csi.nodeStageVolume?.({ volume: volume(), stagingPath: staging, pod: pod() });
    await csi.nodePublishVolume(request(volume()));
    await fake.host.write(`${target}/vol_data.json`, new TextEncoder().encode('{"driver'), 0o600);
    await fake.host.removeFile(`${path.dirname(staging)}/vol_data.json`);
    expect(await fake.node().nodeUnpublishVolume({ target, name: 'pv-1', podUid: 'uid-1', csi: source })).toEqual(done);
    expect(await fake.node().nodeUnstageVolume?.({ handle: 'pv-1', stagingPath: staging, csi: source })).toEqual(done);
    expect(fake.driver.changes.slice(2)).toEqual(['nodeUnpublishVolume', 'nodeUnstageVolume']);
  });

  test('to stage a block volume again, which a pod uses: it stays staged', async () => {
    const csi = await fake.start();
    const stage = () => csi.nodeStageVolume?.({ volume: volume({ volumeMode: 'Block' }), stagingPath: staging, pod: pod() });
    expect(await stage()).toEqual(done);
    const base = `${root}/plugins/kubernetes.io/csi/volumeDevices`;
    await fake.host.mount({ type: 'bind', source: '/content', target: `${base}/staging/pv-1`, recursive: false });
    fake.driver.misbehaves.set('nodeStageVolume', fails('Internal'));
    expect(await stage()).toMatchObject({ ok: false });
    expect(await mountAt(fake.machine, `${base}/staging/pv-1`)).toBeDefined();
    await fake.host.unmount(`${base}/staging/pv-1`);
    await fake.host.makeDirectory(`${base}/publish/pv-1`, 0o750);
    expect(await stage()).toMatchObject({ ok: false });
    expect(await fake.exists(`${base}/pv-1/data/vol_data.json`)).toBe(true);
    await fake.host.removeDirectory(`${base}/publish/pv-1`);
    expect(await stage()).toMatchObject({ ok: false });
    expect(await fake.exists(`${base}/pv-1`)).toBe(false);
  });

  test('answers garbage to a stage that it may have made: what names the volume stays', async () => {
    await fake.start();
    const garbage: Channel = {
      unary: (method, ...rest) => (method.endsWith('NodeStageVolume') ? Promise.resolve(new Uint8Array([255])) : fake.channel.unary(method, ...rest)),
      stream: (...call) => fake.channel.stream(...call),
      close: () => undefined,
    };
    const csi = fake.node({ csiSocket: () => ({ channel: garbage, pathInDriver: (each) => each }) });
    expect(await csi.nodeStageVolume?.({ volume: volume(), stagingPath: staging, pod: pod() })).toMatchObject({ ok: false, code: 'Internal', final: false });
    expect(await fake.exists(`${path.dirname(staging)}/vol_data.json`)).toBe(true);
  });

  test('garbage instead of gRPC is a failure', async () => {
    const garbage = {
      unary: async () => new Uint8Array([255, 255, 255]),
      stream: () => fake.channel.stream('/x', (async function* none() {})()),
      close: () => undefined,
    };
    await fake.start();
    const csi = fake.node({ csiSocket: () => ({ channel: garbage, pathInDriver: (each) => each }) });
    expect(await csi.nodePublishVolume(request(volume()))).toMatchObject({ ok: false, code: 'Internal' });
    expect(await fake.exists(target)).toBe(false);
  });
});
