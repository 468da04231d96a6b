import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Client, createClient } from '../../../grpc/client.ts';
import { Controller, Node, VolumeCapability_AccessMode_Mode as Mode } from '../../../grpc/generated/csi.ts';
import { Http2Channel } from '../../../grpc/http2-channel.ts';
import { GrpcServer } from '../../../grpc/http2-server.ts';
import { realCopies } from '../../../host/copies.ts';
import { realDirectories } from '../../../host/directories.ts';
import { realHostFiles } from '../../../host/files.ts';
import { createRealWorld } from '../../../host/world.ts';
import type { VolumeBackend } from './backend.ts';
import { controllerService } from './controller.ts';
import { loadContext } from './driver-context.ts';
import { parseCallFaults, withFaults } from './faults.ts';
import { hollowBackend } from './hollow-backend.ts';
import { hostPathBackend } from './host-path-backend.ts';
import { nodeService } from './node.ts';

const world = createRealWorld({ logLevel: 'silent' });
const noMounts = { table: () => Promise.resolve([]), mount: () => Promise.resolve(), unmount: () => Promise.resolve() };
const capability = (mode: Mode = Mode.SINGLE_NODE_MULTI_WRITER, mountFlags: string[] = []) => ({
  accessMode: { mode },
  accessType: { case: 'mount' as const, value: { mountFlags } },
});
const asked = (name: string, requiredBytes = 1000n) => ({ name, volumeCapabilities: [capability()], capacityRange: { requiredBytes } });

let folder: string;
let closers: (() => Promise<void>)[];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'mooring-csi-'));
  closers = [];
});

afterEach(async () => {
  for (const close of closers) await close();
  rmSync(folder, { recursive: true });
});

const directoriesBackend = (): VolumeBackend =>
  hostPathBackend({ driverName: 'test.dev', mounts: noMounts, files: realHostFiles, copies: realCopies, root: folder });
const hollow = (): VolumeBackend => hollowBackend('test.dev', realHostFiles);

/** A driver with the records of the last one, as after kill -9. */
async function start(backend: VolumeBackend, faults = {}): Promise<{ controller: Client<typeof Controller>; node: Client<typeof Node> }> {
  const context = await loadContext({
    backend,
    directories: realDirectories,
    dataDir: path.join(folder, 'data'),
    nodeId: 'n1',
    version: '1',
    clock: world.clock,
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
  });
  const server = new GrpcServer(withFaults(controllerService(context), faults, world), nodeService(context));
  const address = `unix://${folder}/${closers.length}.sock`;
  await server.listen(address);
  const channel = new Http2Channel({ address, timers: world.timers });
  closers.push(async () => {
    channel.close();
    await server.close();
  });
  return { controller: createClient(Controller, channel), node: createClient(Node, channel) };
}

test('the same name is the same volume, also after a restart; another one is AlreadyExists', async () => {
  const { controller } = await start(hollow());
  const { volume } = await controller.createVolume(asked('pvc-1'));
  expect(volume).toMatchObject({ capacityBytes: 1000n, accessibleTopology: [{ segments: { 'topology.test.dev/node': 'n1' } }] });
  const again = await start(hollow());
  expect((await again.controller.createVolume(asked('pvc-1'))).volume?.volumeId).toBe(volume?.volumeId);
  expect((await again.controller.createVolume({ ...asked('pvc-1'), capacityRange: {} })).volume?.capacityBytes).toBe(1000n);
  await expect(again.controller.createVolume(asked('pvc-1', 2000n))).rejects.toMatchObject({ code: 'AlreadyExists' });
});

test('what the driver cannot honour is refused, and names its field', async () => {
  const { controller } = await start(directoriesBackend());
  const refused = (more: object): Promise<unknown> => controller.createVolume({ ...asked('pvc'), ...more }).catch((error: unknown) => error);
  expect(await refused({ name: '' })).toMatchObject({ code: 'InvalidArgument', message: 'name is missing' });
  expect(await refused({ name: 'x'.repeat(129) })).toMatchObject({ code: 'InvalidArgument' });
  expect(await refused({ volumeCapabilities: [] })).toMatchObject({ code: 'InvalidArgument' });
  expect(await refused({ volumeCapabilities: [{ accessMode: { mode: 1 } }] })).toMatchObject({ message: expect.stringContaining('access_type') });
  expect(await refused({ volumeCapabilities: [capability(Mode.SINGLE_NODE_WRITER, ['data=journal'])] })).toMatchObject({
    message: expect.stringContaining('mount_flags'),
  });
  expect(await refused({ parameters: { speed: 'fast' } })).toMatchObject({ code: 'InvalidArgument', message: expect.stringContaining('speed') });
  expect(await refused({ mutableParameters: { iops: '1' } })).toMatchObject({ code: 'InvalidArgument' });
  expect(await refused({ capacityRange: { requiredBytes: 5n, limitBytes: 4n } })).toMatchObject({ code: 'InvalidArgument' });
  expect(await refused({ accessibilityRequirements: { requisite: [{ segments: { 'topology.test.dev/node': 'n2' } }] } })).toMatchObject({
    code: 'ResourceExhausted',
  });
  const source = { type: { case: 'snapshot', value: { snapshotId: 'none' } } };
  expect(await refused({ volumeContentSource: source })).toMatchObject({ code: 'NotFound' });
  expect((await controller.listVolumes({})).entries).toEqual([]);
});

test('a snapshot keeps the content of its moment; a volume from it, and a clone, have it', async () => {
  const { controller } = await start(directoriesBackend());
  const id = (await controller.createVolume(asked('source'))).volume?.volumeId ?? '';
  writeFileSync(path.join(folder, id, 'file'), 'before');
  const { snapshot } = await controller.createSnapshot({ name: 'snap', sourceVolumeId: id });
  expect(snapshot).toMatchObject({ sourceVolumeId: id, readyToUse: true, sizeBytes: 1000n });
  writeFileSync(path.join(folder, id, 'file'), 'after');
  const contentOf = async (name: string, volumeContentSource: object): Promise<string> => {
    const { volume } = await controller.createVolume({ ...asked(name), volumeContentSource });
    expect(volume?.contentSource).toMatchObject(volumeContentSource);
    return readFileSync(path.join(folder, volume?.volumeId ?? '', 'file'), 'utf8');
  };
  expect(await contentOf('restored', { type: { case: 'snapshot', value: { snapshotId: snapshot?.snapshotId } } })).toBe('before');
  expect(await contentOf('clone', { type: { case: 'volume', value: { volumeId: id } } })).toBe('after');
  const tooSmall = { ...asked('small', 1n), capacityRange: { requiredBytes: 1n, limitBytes: 999n } };
  const volumeContentSource = { type: { case: 'volume' as const, value: { volumeId: id } } };
  await expect(controller.createVolume({ ...tooSmall, volumeContentSource })).rejects.toMatchObject({ code: 'OutOfRange' });
  await expect(controller.createSnapshot({ name: 'snap', sourceVolumeId: 'other' })).rejects.toMatchObject({ code: 'AlreadyExists' });
  await controller.deleteVolume({ volumeId: id });
  expect((await controller.listSnapshots({ sourceVolumeId: id })).entries).toHaveLength(1);
  for (const _ of [1, 2]) await controller.deleteSnapshot({ snapshotId: snapshot?.snapshotId ?? '' });
  expect((await controller.listSnapshots({})).entries).toEqual([]);
});

test('a call that was interrupted is finished by its repetition, and until then there is no volume', async () => {
  const backend = directoriesBackend();
  const { controller } = await start({ ...backend, create: () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })) });
  await expect(controller.createVolume(asked('pvc'))).rejects.toMatchObject({ code: 'ResourceExhausted' });
  const after = await start(backend);
  expect((await after.controller.listVolumes({})).entries).toEqual([]);
  const { volume } = await after.controller.createVolume(asked('pvc'));
  expect((await after.controller.listVolumes({})).entries).toHaveLength(1);
  const volumeId = volume?.volumeId ?? '';
  const failing = await start({ ...backend, remove: () => Promise.reject(new Error('killed')) });
  await expect(failing.controller.deleteVolume({ volumeId })).rejects.toMatchObject({ code: 'Internal' });
  const last = await start(backend);
  for (const _ of [1, 2]) await last.controller.deleteVolume({ volumeId });
  await expect(last.controller.controllerGetVolume({ volumeId })).rejects.toMatchObject({ code: 'NotFound' });
});

test('a write that a crash interrupted leaves no file behind', async () => {
  const { controller } = await start(hollow());
  const { volume } = await controller.createVolume(asked('one'));
  const records = path.join(folder, 'data/records/volumes');
  writeFileSync(path.join(records, `${volume?.volumeId}.json.4711`), '{"id":');
  const again = await start(hollow());
  expect((await again.controller.listVolumes({})).entries).toHaveLength(1);
  expect(readdirSync(records)).toEqual([`${volume?.volumeId}.json`]);
});

test('what a pod wrote to the target of a hollow volume goes with it', async () => {
  const { controller, node } = await start(hollow());
  const { volume } = await controller.createVolume(asked('one'));
  const [volumeId, stagingTargetPath, targetPath] = [volume?.volumeId ?? '', path.join(folder, 'staging'), path.join(folder, 'target')];
  const volumeCapability = capability();
  await node.nodeStageVolume({ volumeId, stagingTargetPath, volumeCapability });
  await node.nodePublishVolume({ volumeId, stagingTargetPath, targetPath, volumeCapability });
  writeFileSync(path.join(targetPath, 'file'), 'of a pod');
  await node.nodeUnpublishVolume({ volumeId, targetPath });
  expect(existsSync(targetPath)).toBe(false);
});

test('pages stay in place while volumes come and go', async () => {
  const { controller } = await start(hollow());
  await Promise.all(Array.from({ length: 5 }, (_, i) => controller.createVolume(asked(`pvc-${i}`))));
  const first = await controller.listVolumes({ maxEntries: 2 });
  await controller.deleteVolume({ volumeId: first.entries[0]?.volume?.volumeId ?? '' });
  const rest = await controller.listVolumes({ startingToken: first.nextToken });
  expect(new Set([...first.entries, ...rest.entries].map(({ volume }) => volume?.volumeId)).size).toBe(5);
  expect(rest.nextToken).toBe('');
  await expect(controller.listVolumes({ startingToken: 'made up' })).rejects.toMatchObject({ code: 'Aborted' });
  await expect(controller.listVolumes({ maxEntries: -1 })).rejects.toMatchObject({ code: 'InvalidArgument' });
});

test('stage, publish and their inverses; a volume in use is not deleted', async () => {
  const { controller, node } = await start(hollow());
  const volumeId = (await controller.createVolume(asked('pvc'))).volume?.volumeId ?? '';
  const [stagingTargetPath, one, two] = ['stage', 'one', 'two'].map((name) => path.join(folder, name)) as [string, string, string];
  const publish = (targetPath: string, volumeCapability = capability(), readonly = false) =>
    node.nodePublishVolume({ volumeId, stagingTargetPath, targetPath, volumeCapability, readonly });
  await expect(publish(one)).rejects.toMatchObject({ code: 'FailedPrecondition' });
  for (const _ of [1, 2]) await node.nodeStageVolume({ volumeId, stagingTargetPath, volumeCapability: capability() });
  await expect(node.nodeStageVolume({ volumeId, stagingTargetPath, volumeCapability: capability(Mode.SINGLE_NODE_WRITER) })).rejects.toMatchObject({
    code: 'AlreadyExists',
  });
  for (const _ of [1, 2]) await publish(one);
  await expect(publish(one, capability(), true)).rejects.toMatchObject({ code: 'AlreadyExists' });
  await expect(publish(two, capability(Mode.SINGLE_NODE_SINGLE_WRITER))).rejects.toMatchObject({ code: 'FailedPrecondition' });
  await publish(two);
  expect((await node.nodeGetVolumeStats({ volumeId, volumePath: two })).usage).toHaveLength(2);
  await expect(controller.deleteVolume({ volumeId })).rejects.toMatchObject({ code: 'FailedPrecondition' });
  await expect(node.nodeUnstageVolume({ volumeId, stagingTargetPath })).rejects.toMatchObject({ code: 'FailedPrecondition' });
  const again = await start(hollow());
  for (const targetPath of [one, two, two]) await again.node.nodeUnpublishVolume({ volumeId, targetPath });
  for (const _ of [1, 2]) await again.node.nodeUnstageVolume({ volumeId, stagingTargetPath });
  await again.controller.deleteVolume({ volumeId });
});

test('failures of the configuration, before and after the effect', async () => {
  const faults = parseCallFaults({
    CreateVolume: { latencyMs: 1, failure: { probability: 1, code: 'Unavailable', message: 'busy', afterEffect: true } },
    DeleteVolume: { failure: { probability: 1, code: 'Aborted' } },
  });
  const { controller } = await start(hollow(), faults);
  await expect(controller.createVolume(asked('pvc'))).rejects.toMatchObject({ code: 'Unavailable', message: 'busy' });
  const [entry] = (await controller.listVolumes({})).entries;
  await expect(controller.deleteVolume({ volumeId: entry?.volume?.volumeId ?? '' })).rejects.toMatchObject({ code: 'Aborted' });
  expect((await controller.listVolumes({})).entries).toHaveLength(1);
  expect(() => parseCallFaults({ CreateVolume: { latency: 1 } })).toThrow('CreateVolume.latency is unknown');
  expect(() => parseCallFaults({ '*': { failure: { probability: 2, code: 'Aborted' } } })).toThrow('probability');
  expect(() => parseCallFaults({ '*': { failure: { probability: 1, code: 'OK' } } })).toThrow('code');
});
