/** What is written to the log when a volume and a claim come: enough to follow each step, in the order in which they happened. */
import { expect, test } from 'vitest';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import { pv, pvc } from './objects.ts';
import { runStorage, startStorageCluster, type StorageCluster } from './storage-cluster.ts';

async function follow(world: SimulatedWorld, cluster: StorageCluster): Promise<readonly string[]> {
  runStorage(cluster, world);
  await world.sleep(100);
  await cluster.client.create(persistentVolumeKind, { metadata: { name: 'pv1' }, spec: pv('pv1', '10Mi').spec });
  await world.sleep(1000);
  await cluster.client.create(persistentVolumeClaimKind, { metadata: { name: 'pvc1', namespace: 'default' }, spec: pvc('pvc1', '10Mi').spec });
  await world.sleep(1000);
  return world.lines
    .filter(({ fields }) => fields['controller'] === 'volume-binder')
    .map(({ message, fields }) => `${message} ${Object.values(fields).slice(1).map(String).join(' ')}`.replaceAll(/[0-9a-f-]{36}/g, 'UID'));
}

/** Each line somewhere behind the one before it. */
function expectInOrder(lines: readonly string[], wanted: readonly string[]): void {
  let from = 0;
  for (const line of wanted) {
    const found = lines.indexOf(line, from);
    expect(found, `"${line}" behind line ${from} of\n${lines.join('\n')}`).toBeGreaterThanOrEqual(0);
    from = found + 1;
  }
}

const volumeComes = [
  'enqueued pv/pv1',
  'synchronizing PersistentVolume pv1 Pending  false',
  'updating PersistentVolume: set phase pv1 Available',
  'volume entered phase pv1 Available',
];
const claimIsSeen = [
  'enqueued pvc/default/pvc1',
  'synchronizing PersistentVolumeClaim default/pvc1 Pending  false false',
  'volume found for PersistentVolumeClaim default/pvc1 pv1 Available  false',
  'binding volume to claim pv1 default/pvc1',
];
const claimIsBound = ['synchronizing PersistentVolumeClaim default/pvc1 Bound pv1 true true'];

test('with four writes, each of them is logged', () =>
  simulate(1, async (world) => {
    expectInOrder(await follow(world, await startStorageCluster(world, 'plain')), [
      ...volumeComes,
      ...claimIsSeen,
      'updating PersistentVolume: binding pv1 default/pvc1',
      'claim bound to volume pv1 default/pvc1',
      'updating PersistentVolume: set phase pv1 Bound',
      'volume entered phase pv1 Bound',
      'updating PersistentVolumeClaim: binding default/pvc1 pv1',
      'volume bound to claim default/pvc1 pv1',
      'updating PersistentVolumeClaim: set phase default/pvc1 Bound',
      'claim entered phase default/pvc1 Bound',
      ...claimIsBound,
    ]);
  }));

test('with one transaction, both are logged at once', () =>
  simulate(1, async (world) => {
    expectInOrder(await follow(world, await startStorageCluster(world, 'transaction')), [
      ...volumeComes,
      ...claimIsSeen,
      'updating PersistentVolume: binding pv1 default/pvc1',
      'updating PersistentVolumeClaim: binding default/pvc1 pv1',
      'claim bound to volume pv1 default/pvc1',
      'volume bound to claim default/pvc1 pv1',
      'volume entered phase pv1 Bound',
      'claim entered phase default/pvc1 Bound',
      ...claimIsBound,
    ]);
  }));
