/** The real kubectl, and controllers with a driver of this test that speak to the server over HTTPS. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { followedKinds } from '../../src/api/kinds/index.ts';
import { ControllerConnections } from '../../src/cluster/access/connections.ts';
import { controllerNames } from '../../src/cluster/access/controller-roles.ts';
import { startControllers } from '../../src/cluster/controllers/controllers.ts';
import { loadKubeconfig } from '../../src/client/http-transport-kubeconfig.ts';
import type { RunningControllers } from '../../src/client/controller/leader-elected-controllers.ts';
import { DriverSet } from '../../src/drivers/driver-set.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { SnapshottingDiskDriver } from '../../src/sim/drivers/simulated-snapshots.ts';
import { type MoorProcess, startMoor } from '../moor-process.ts';

const disks = new SnapshottingDiskDriver('disks.example.com');
let moor: MoorProcess;
let controllers: RunningControllers;
let connections: ControllerConnections;

beforeAll(async () => {
  moor = await startMoor({ args: ['--controllers=false'] });
  const world = createRealWorld({ logLevel: 'error' });
  connections = new ControllerConnections({ access: loadKubeconfig(moor.kubeconfig), world });
  await connections.identify(controllerNames);
  controllers = startControllers({
    connect: connections.connect,
    world,
    kinds: followedKinds,
    drivers: new DriverSet([disks]),
    bindsTogether: true,
    election: { identity: 'test', takeOver: true },
  });
});
afterAll(async () => {
  await controllers.stop();
  connections.close();
  await moor[Symbol.asyncDispose]();
});

async function ok(...args: string[]): Promise<string> {
  const result = await moor.kubectl(...args);
  expect(result, `kubectl ${args.join(' ')}: ${result.stderr}`).toMatchObject({ code: 0 });
  return result.stdout;
}

async function apply(...objects: readonly object[]): Promise<void> {
  const result = await moor.kubectlWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }), 'apply', '-f', '-');
  expect(result, result.stderr).toMatchObject({ code: 0 });
}

const snapshotVersion = 'snapshot.storage.k8s.io/v1';
const claim = (name: string, source?: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'disks',
    resources: { requests: { storage: '1Gi' } },
    ...(source === undefined ? {} : { dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: source } }),
  },
});

test('a class, a snapshot, a restored volume, and no traces at the end', async () => {
  await apply(
    { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'disks' }, provisioner: 'disks.example.com' },
    { apiVersion: snapshotVersion, kind: 'VolumeSnapshotClass', metadata: { name: 'fast' }, driver: 'disks.example.com', deletionPolicy: 'Delete' },
    claim('data'),
  );
  await ok('wait', 'pvc/data', '--for=jsonpath={.status.phase}=Bound', '--timeout=60s');
  for (const handle of disks.sizes.keys()) disks.contents.set(handle, 'precious');
  await apply({
    apiVersion: snapshotVersion,
    kind: 'VolumeSnapshot',
    metadata: { name: 'before' },
    spec: { volumeSnapshotClassName: 'fast', source: { persistentVolumeClaimName: 'data' } },
  });
  await ok('wait', 'vs/before', '--for=jsonpath={.status.readyToUse}=true', '--timeout=60s');
  expect(await ok('get', 'vs', 'before')).toMatch(/before\s+true\s+data\s+1Gi\s+fast\s+snapcontent-/);
  await apply(claim('copy', 'before'));
  await ok('wait', 'pvc/copy', '--for=jsonpath={.status.phase}=Bound', '--timeout=60s');
  const volume = await ok('get', 'pvc', 'copy', '-o', 'jsonpath={.spec.volumeName}');
  expect(disks.contents.get(`disk-${volume}`)).toBe('precious');

  const changed = await moor.kubectl('patch', 'vs', 'before', '--type=merge', '-p', '{"spec":{"source":{"persistentVolumeClaimName":"copy"}}}');
  expect(changed.stderr).toContain('spec.source.persistentVolumeClaimName: Invalid value: "copy": persistentVolumeClaimName is immutable');
  await ok('delete', 'vs', 'before', '--timeout=60s');
  await ok('wait', 'vsc', '--all', '--for=delete', '--timeout=60s');
  expect(disks.snapshots.size).toBe(0);
});
