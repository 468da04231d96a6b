/** What the notes about one controller for binding, recycling and provisioning state, where no other test shows it. */
import { expect, test } from 'vitest';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../src/api/kinds/storage/storage-class.ts';
import { requestPath } from '../../src/api/request-info.ts';
import type { Transport } from '../../src/client/transport.ts';
import { ok } from '../../src/sim/cluster/simulated-cluster.ts';
import { SimulatedProcess } from '../../src/sim/world/process.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { play } from '../simulation/scenarios.ts';
import { hostPathDriver } from '../storage/fake-backend.ts';
import { pv, pvc, storageClass } from '../storage/objects.ts';
import { runOtherComponents } from '../storage/other-components.ts';
import { scenario } from '../storage/scenario.ts';
import { runStorage, startStorageCluster, summarize } from '../storage/storage-cluster.ts';

const readOnly = { accessModes: ['ReadOnlyMany'] };

scenario('a ReadOnlyMany volume is bound to one claim as well: many nodes may read it, not many claims', {
  given: [storageClass('class'), pv('vol', '1Gi', { spec: readOnly }), pvc('one', '1Gi', { spec: readOnly }), pvc('two', '1Gi', { spec: readOnly })],
  shows: `
    pv/vol  1Gi Bound default/one marked
    pvc/one Bound vol 1Gi marked done
    pvc/two Pending`,
});

const manual = { storageClassName: 'manual', accessModes: ['ReadWriteOnce'] };
const objects = {
  pod: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: { containers: [{ name: 'c', image: 'nginx' }], volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] },
  },
  claim: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' }, spec: { ...manual, resources: { requests: { storage: '1Gi' } } } },
  volume: {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'vol' },
    spec: { ...manual, capacity: { storage: '1Gi' }, hostPath: { path: '/tmp/vol' } },
  },
};

test.each([
  ['pod', 'claim', 'volume'],
  ['pod', 'volume', 'claim'],
  ['claim', 'pod', 'volume'],
  ['claim', 'volume', 'pod'],
  ['volume', 'pod', 'claim'],
  ['volume', 'claim', 'pod'],
] as const)('created in the order %s, %s, %s they are bound and run within seconds', async (first, second, third) => {
  const script = [first, second, third].map((each, i) => ({ at: `${(i + 1) * 60}s`, apply: objects[each] }));
  const { surprises } = await play(JSON.stringify({ script, expect: ['by 183s pvc/data is Bound to pv/vol', 'by 190s pod/web is Running'] }));
  expect(surprises).toEqual([]);
});

test('a deleted claim is followed by its volume and its asset within a second', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    runOtherComponents(cluster, world, { scrubFails: 0 });
    runStorage(cluster, world);
    ok(await cluster.client.create(storageClassKind, { metadata: { name: 'class' }, provisioner: 'kubernetes.io/host-path' }));
    ok(await cluster.client.create(persistentVolumeClaimKind, { metadata: { name: 'data', namespace: 'default' }, spec: pvc('data', '1Gi').spec }));
    await world.sleep(60_000);
    expect(await summarize(cluster)).toContain('assets 1');
    ok(await cluster.client.delete(persistentVolumeClaimKind, { namespace: 'default', name: 'data' }));
    await world.sleep(1000);
    expect(await summarize(cluster)).toEqual([]);
  }));

test('the controllers write nothing before every cache has its first list', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    ok(await cluster.client.create(storageClassKind, { metadata: { name: 'class' }, provisioner: 'kubernetes.io/host-path' }));
    const volume = ok(await cluster.client.create(persistentVolumeKind, { metadata: { name: 'vol' }, spec: pv('vol', '1Gi').spec }));
    ok(await cluster.client.updateStatus(persistentVolumeKind, { ...volume, status: { phase: 'Available' } }));
    ok(await cluster.client.create(persistentVolumeClaimKind, { metadata: { name: 'data', namespace: 'default' }, spec: pvc('data', '1Gi').spec }));
    // Without the volumes of the first list, the claim would be provisioned.
    let complete: () => void = () => undefined;
    const listed = new Promise<void>((resolve) => void (complete = resolve));
    const slow: Transport = {
      send: async (request) => {
        if (requestPath(request.info).endsWith('/persistentvolumes')) await listed;
        return cluster.transport.send(request);
      },
      watch: (request, sink) => cluster.transport.watch(request, sink),
    };
    runStorage({ ...cluster, transport: slow }, world);
    await world.sleep(60_000);
    expect(await summarize(cluster)).toEqual(['pv/vol Available', 'pvc/data Pending']);
    complete();
    await world.sleep(1000);
    expect(await summarize(cluster)).toEqual(['pv/vol Bound data', 'pvc/data Bound vol']);
  }));

test('a claim whose volume takes minutes to provision holds up no other claim', async () => {
  const asked = (name: string, storageClassName: string) => ({ ...objects.claim, metadata: { name }, spec: { ...objects.claim.spec, storageClassName } });
  const drivers = [
    { name: 'slow.example.com', create: '5m' },
    { name: 'fast.example.com', create: '1s' },
  ];
  const storageClasses = ['slow', 'fast'].map((name) => ({ name, driver: `${name}.example.com`, binding: 'Immediate' }));
  const { surprises } = await play(
    JSON.stringify({
      cluster: { drivers, storageClasses },
      objects: [asked('patient', 'slow'), asked('other', 'fast')],
      expect: ['at 20s pvc/other is Bound', 'at 20s pvc/patient is Pending', 'by 6m pvc/patient is Bound'],
    }),
  );
  expect(surprises).toEqual([]);
});

test('a claim without a provisioner is fulfilled by the next process that has one', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    const late = 'kubernetes.io/late';
    const before = new SimulatedProcess(world, 'before');
    runStorage({ ...cluster, transport: before.transport(cluster.transport) }, before);
    ok(await cluster.client.create(storageClassKind, { metadata: { name: 'class' }, provisioner: late }));
    ok(await cluster.client.create(persistentVolumeClaimKind, { metadata: { name: 'data', namespace: 'default' }, spec: pvc('data', '1Gi').spec }));
    await world.sleep(60_000);
    expect(await summarize(cluster)).toEqual(['pvc/data Pending']);
    before.kill();
    cluster.backend.drivers.set(late, { ...hostPathDriver, name: late });
    runStorage(cluster, world);
    await world.sleep(1000);
    expect((await summarize(cluster)).filter((line) => line.startsWith('pvc/'))).toEqual([expect.stringMatching(/^pvc\/data Bound pvc-/)]);
  }));
