/** What the slides say about the Container Storage Interface: an own driver behind its socket, for another orchestrator and for this one. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Controller, Identity, Node, VolumeCapability_AccessMode_Mode as Mode } from '../../src/grpc/generated/csi.ts';
import { createClient } from '../../src/grpc/client.ts';
import { Http2Channel } from '../../src/grpc/http2-channel.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { type CommandProcess, startDriverProcess } from '../moor-process.ts';
import { claim, ofClaim, pod, storageClass } from '../peers/host-path-objects.ts';
import { mountsBelow, startPeerCluster } from '../peers/peer-cluster.ts';
import { startRegistrar } from '../peers/registrar.ts';
import { describeWithSandboxes } from '../sandbox/sandboxes.ts';

const name = 'host-path.csi.mooring.dev';

describeWithSandboxes('a driver is a process with a socket', () => {
  let directory = '';
  let driver: CommandProcess;
  const at = (file: string) => path.join(directory, file);
  const address = () => `unix://${at('csi.sock')}`;

  beforeAll(async () => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-slides-')));
    mkdirSync(at('data'));
    driver = await startDriverProcess('host-path', { socket: at('csi.sock'), dataDir: at('data') });
  }, 120_000);
  afterAll(async () => {
    await driver.stop();
    expect(mountsBelow(directory)).toEqual([]);
    rmSync(directory, { recursive: true });
  }, 120_000);

  test('it answers the services of CSI by gRPC: any client gets a volume, without Kubernetes', async () => {
    const channel = new Http2Channel({ address: address(), timers: createRealWorld().timers });
    const [identity, controller, node] = [createClient(Identity, channel), createClient(Controller, channel), createClient(Node, channel)];
    expect(await identity.getPluginInfo({})).toMatchObject({ name });
    const volumeCapability = { accessType: { case: 'mount', value: {} }, accessMode: { mode: Mode.SINGLE_NODE_WRITER } } as const;
    const created = await controller.createVolume({ name: 'by-hand', volumeCapabilities: [volumeCapability], capacityRange: { requiredBytes: 1n << 20n } });
    const volumeId = created.volume?.volumeId ?? '';
    const published = { volumeId, targetPath: at('target') };
    await node.nodePublishVolume({ ...published, volumeCapability });
    expect(mountsBelow(at('target'))).toHaveLength(1);
    await node.nodeUnpublishVolume(published);
    await controller.deleteVolume({ volumeId });
    expect(mountsBelow(at('target'))).toEqual([]);
    channel.close();
  }, 60_000);

  test('the same process provisions and mounts for a StorageClass that names it; nothing in the cluster knew it before', async () => {
    await using cluster = await startPeerCluster();
    const annotations = { 'mooring.dev/controller': 'built-in', 'mooring.dev/endpoint': address() };
    await cluster.apply({ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name, annotations }, spec: { attachRequired: false } });
    await using _registrar = await startRegistrar(cluster.nodeRoot, name, at('csi.sock'));
    await cluster.apply(storageClass('slow', { provisioner: name }), claim('data', 'slow'));
    await cluster.run(pod('writes', 'echo kept > /v/data/file', { data: ofClaim('data') }));
    expect(await cluster.run(pod('reads', 'cat /v/data/file', { data: ofClaim('data') }))).toBe('kept\n');
    const volume = await cluster.kubectl('get', 'pvc', 'data', '-o', 'jsonpath={.spec.volumeName}');
    const handle = await cluster.kubectl('get', 'pv', volume, '-o', 'jsonpath={.spec.csi.volumeHandle}');
    const file = at(path.join('data', 'volumes', handle, 'file'));
    expect(readFileSync(file, 'utf8')).toBe('kept\n');
    await cluster.kubectl('delete', 'pvc', 'data', '--timeout=120s');
    await expect.poll(() => existsSync(file), { timeout: 60_000 }).toBe(false);
    await expect.poll(() => cluster.kubectl('get', 'pv', '-o', 'name'), { timeout: 60_000 }).toBe('');
  }, 300_000);
});
