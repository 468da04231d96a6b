/** Snapshots of volumes of drivers in this process, and volumes restored from them: on the real registry, with every controller, in simulated time. */
import { expect, test } from 'vitest';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import {
  type VolumeSnapshot,
  volumeSnapshotClassKind,
  type VolumeSnapshotContent,
  volumeSnapshotContentKind,
  volumeSnapshotKind,
} from '../../src/api/kinds/snapshot/volume-snapshot.ts';
import { volumeGroupSnapshotClassKind, volumeGroupSnapshotKind } from '../../src/api/kinds/snapshot/volume-group-snapshot.ts';
import { storageClassKind } from '../../src/api/kinds/storage/storage-class.ts';
import { snapshotAnnotations, snapshotFinalizers } from '../../src/api/volumes/snapshot-annotations.ts';
import { failed } from '../../src/drivers/contract.ts';
import { ok, SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';
import { SnapshottingDiskDriver } from '../../src/sim/drivers/simulated-snapshots.ts';
import { simulate } from '../../src/sim/world/world.ts';

const inDefault = (name: string) => ({ namespace: 'default', name });

class SnapshotCluster {
  readonly cluster: SimulatedCluster;
  readonly disks: SnapshottingDiskDriver;

  constructor(cluster: SimulatedCluster, disks: SnapshottingDiskDriver) {
    this.cluster = cluster;
    this.disks = disks;
  }

  /** A claim with a volume of 1Gi that has a content. */
  async setUp(): Promise<void> {
    const driver = this.disks.capabilities.name;
    await this.cluster.create(storageClassKind, { metadata: { name: 'disks' }, provisioner: driver });
    await this.cluster.create(volumeSnapshotClassKind, { metadata: { name: 'fast' }, driver, deletionPolicy: 'Delete' });
    await this.cluster.claim('data', 'disks');
    const [handle = ''] = this.disks.sizes.keys();
    this.disks.contents.set(handle, 'precious');
  }

  async take(name: string, spec: Partial<VolumeSnapshot['spec']> = {}): Promise<void> {
    await this.cluster.create(volumeSnapshotKind, {
      metadata: inDefault(name),
      spec: { source: { persistentVolumeClaimName: 'data' }, volumeSnapshotClassName: 'fast', ...spec },
    });
    await this.cluster.wait();
  }

  /** Not waited for. */
  async takeGroup(name: string, claims: readonly string[]): Promise<void> {
    const labels = { app: 'db' };
    for (const claim of claims)
      await this.cluster.change(persistentVolumeClaimKind, inDefault(claim), (object) => ({ ...object, metadata: { ...object.metadata, labels } }));
    const driver = this.disks.capabilities.name;
    await this.cluster.create(volumeGroupSnapshotClassKind, { metadata: { name: 'together' }, driver, deletionPolicy: 'Delete' });
    await this.cluster.create(volumeGroupSnapshotKind, {
      metadata: inDefault(name),
      spec: { source: { selector: { matchLabels: labels } }, volumeGroupSnapshotClassName: 'together' },
    });
  }

  async restore(name: string, snapshot: string, more: { readonly size?: string; readonly mode?: string } = {}): Promise<void> {
    await this.cluster.create(persistentVolumeClaimKind, {
      metadata: inDefault(name),
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: more.size ?? '1Gi' } },
        storageClassName: 'disks',
        ...(more.mode === undefined ? {} : { volumeMode: more.mode }),
        dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: snapshot },
      },
    });
    await this.cluster.wait();
  }

  snapshot = async (name: string): Promise<VolumeSnapshot> => ok(await this.cluster.client.get(volumeSnapshotKind, inDefault(name)));
  contents = async (): Promise<readonly VolumeSnapshotContent[]> => ok(await this.cluster.client.list(volumeSnapshotContentKind)).items;

  /** 'Reason: message' of the events about the object of this name. */
  async events(name: string): Promise<readonly string[]> {
    const { items } = ok(await this.cluster.client.list(eventKind));
    return items.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason, message }) => `${reason ?? ''}: ${message ?? ''}`);
  }

  /** The content of the disk of a claim. */
  async contentOf(claim: string): Promise<string | undefined> {
    const { spec } = ok(await this.cluster.client.get(persistentVolumeClaimKind, inDefault(claim)));
    return this.disks.contents.get(`disk-${spec.volumeName ?? ''}`);
  }

  remove = (name: string): Promise<void> => this.cluster.delete(volumeSnapshotKind, inDefault(name));
}

const inCluster = (body: (snapshots: SnapshotCluster) => Promise<void>) => () =>
  simulate(1, async (world) => {
    const disks = new SnapshottingDiskDriver();
    const snapshots = new SnapshotCluster(await SimulatedCluster.start(world, { disks }), disks);
    await snapshots.setUp();
    await body(snapshots);
  });

test(
  'a snapshot is taken, bound in both directions, and ready',
  inCluster(async (s) => {
    await s.take('before');
    const snapshot = await s.snapshot('before');
    const uid = snapshot.metadata.uid ?? '';
    expect(snapshot.status).toMatchObject({ readyToUse: true, restoreSize: '1Gi', boundVolumeSnapshotContentName: `snapcontent-${uid}` });
    expect(snapshot.metadata.finalizers).toEqual([snapshotFinalizers.asSource, snapshotFinalizers.bound]);
    const [content] = await s.contents();
    expect(content?.spec).toMatchObject({
      driver: 'disks.example.com',
      sourceVolumeMode: 'Filesystem',
      volumeSnapshotRef: { name: 'before', namespace: 'default', uid },
    });
    expect(content?.status).toMatchObject({ readyToUse: true, snapshotHandle: `snap-snapshot-${uid}`, restoreSize: 2 ** 30 });
    expect(content?.metadata.annotations ?? {}).toEqual({});
    expect((await s.events('before')).map((event) => event.split(':')[0])).toEqual(['CreatingSnapshot', 'SnapshotCreated', 'SnapshotReady']);
    const claim = ok(await s.cluster.client.get(persistentVolumeClaimKind, inDefault('data')));
    expect(claim.metadata.finalizers).not.toContain(snapshotFinalizers.claimAsSource);
  }),
);

test(
  'a volume is restored with the content of the snapshot, also after the source has changed',
  inCluster(async (s) => {
    await s.take('before');
    for (const handle of s.disks.sizes.keys()) s.disks.contents.set(handle, 'overwritten');
    await s.restore('copy', 'before', { size: '2Gi' });
    expect(await s.cluster.phaseOfClaim('copy')).toBe('Bound');
    expect(await s.contentOf('copy')).toBe('precious');
    expect((await s.snapshot('before')).metadata.finalizers).not.toContain(snapshotFinalizers.provisioning);
  }),
);

test(
  'a claim waits for its snapshot, and is never given an empty volume',
  inCluster(async (s) => {
    await s.restore('copy', 'before');
    expect(await s.events('copy')).toEqual([
      expect.stringContaining('error getting snapshot before from api server: volumesnapshots.snapshot.storage.k8s.io "before" not found'),
    ]);
    s.disks.slowness = 3;
    await s.take('before');
    expect(await s.cluster.phaseOfClaim('copy')).toBe('Pending');
    await s.cluster.wait(60_000);
    expect(await s.contentOf('copy')).toBe('precious');
    expect([...s.disks.contents.values()]).not.toContain('');
  }),
);

test(
  'a snapshot that is not ready is asked for after longer and longer waits',
  inCluster(async (s) => {
    s.disks.slowness = 1_000;
    await s.take('before');
    await s.cluster.wait(10 * 60_000);
    const asked = s.disks.calls.filter((call) => call.startsWith('snapshot ')).length;
    expect(asked).toBeGreaterThan(5);
    expect(asked).toBeLessThan(20);
    expect((await s.snapshot('before')).status?.readyToUse).toBe(false);
  }),
);

test(
  'a deleted snapshot is deleted in the storage system as well; with Retain it stays',
  inCluster(async (s) => {
    await s.take('before');
    await s.remove('before');
    expect(await s.cluster.isGone(volumeSnapshotKind, inDefault('before'))).toBe(true);
    expect(await s.contents()).toEqual([]);
    expect(s.disks.snapshots.size).toBe(0);
    await s.cluster.create(volumeSnapshotClassKind, { metadata: { name: 'keeping' }, driver: s.disks.capabilities.name, deletionPolicy: 'Retain' });
    await s.take('kept', { volumeSnapshotClassName: 'keeping' });
    await s.remove('kept');
    expect(await s.cluster.isGone(volumeSnapshotKind, inDefault('kept'))).toBe(true);
    expect((await s.contents()).map(({ metadata }) => metadata.annotations)).toEqual([{ [snapshotAnnotations.beingDeleted]: 'yes' }]);
    expect(s.disks.snapshots.size).toBe(1);
  }),
);

test(
  'an unknown outcome keeps being-created: what the driver took is found again, or deleted with the snapshot',
  inCluster(async (s) => {
    s.disks.failures.push(failed('DeadlineExceeded', 'too slow'), failed('Unavailable', 'gone'), failed('Unavailable', 'gone'));
    await s.cluster.create(volumeSnapshotKind, {
      metadata: inDefault('before'),
      spec: { source: { persistentVolumeClaimName: 'data' }, volumeSnapshotClassName: 'fast' },
    });
    await s.cluster.wait(300);
    expect((await s.contents()).map(({ metadata }) => metadata.annotations)).toEqual([{ [snapshotAnnotations.beingCreated]: 'yes' }]);
    expect(s.disks.snapshots.size).toBe(1);
    await s.remove('before');
    await s.cluster.wait(60_000);
    expect(await s.cluster.isGone(volumeSnapshotKind, inDefault('before'))).toBe(true);
    expect(s.disks.snapshots.size).toBe(0);
  }),
);

test(
  'a refusal after an unknown outcome settles nothing: what the first call took is deleted with the snapshot',
  inCluster(async (s) => {
    const refused = failed('InvalidArgument', 'no such pool');
    s.disks.failures.push(failed('DeadlineExceeded', 'too slow'), refused, refused, refused);
    await s.cluster.create(volumeSnapshotKind, {
      metadata: inDefault('before'),
      spec: { source: { persistentVolumeClaimName: 'data' }, volumeSnapshotClassName: 'fast' },
    });
    await s.cluster.wait(1_000);
    expect((await s.snapshot('before')).status?.error?.message).toContain('no such pool');
    expect((await s.contents()).map(({ metadata }) => metadata.annotations)).toEqual([{ [snapshotAnnotations.beingCreated]: 'yes' }]);
    expect(s.disks.snapshots.size).toBe(1);
    await s.remove('before');
    await s.cluster.wait(60_000);
    expect(await s.cluster.isGone(volumeSnapshotKind, inDefault('before'))).toBe(true);
    expect(await s.contents()).toEqual([]);
    expect(s.disks.snapshots.size).toBe(0);
  }),
);

test(
  'a snapshot that was only ever refused is deleted at once',
  inCluster(async (s) => {
    const refused = failed('InvalidArgument', 'no such pool');
    s.disks.failures.push(...Array.from({ length: 30 }, () => refused));
    await s.take('before');
    await s.cluster.wait(10_000);
    const asked = s.disks.calls.length;
    await s.remove('before');
    await s.cluster.wait(1_000);
    expect(await s.cluster.isGone(volumeSnapshotKind, inDefault('before'))).toBe(true);
    expect(await s.contents()).toEqual([]);
    expect(s.disks.calls.length).toBe(asked);
  }),
);

test(
  'a refusal of the driver is told on the content and on the snapshot, and is over with the next success',
  inCluster(async (s) => {
    s.disks.failures.push(failed('InvalidArgument', 'no such pool'));
    await s.cluster.create(volumeSnapshotKind, {
      metadata: inDefault('before'),
      spec: { source: { persistentVolumeClaimName: 'data' }, volumeSnapshotClassName: 'fast' },
    });
    await s.cluster.wait(300);
    const message = (await s.snapshot('before')).status?.error?.message ?? '';
    expect(message).toContain('Failed to create snapshot: failed to take snapshot of the volume disk-pvc-');
    expect(message).toContain('rpc error: code = InvalidArgument desc = no such pool');
    await s.cluster.wait(10_000);
    expect((await s.snapshot('before')).status).toMatchObject({ readyToUse: true });
    expect((await s.snapshot('before')).status?.error).toBeUndefined();
  }),
);

test(
  'a driver that never answers blocks its own snapshot only',
  inCluster(async (s) => {
    s.disks.hangs = true;
    await s.take('stuck');
    s.disks.hangs = false;
    await s.take('before');
    expect((await s.snapshot('before')).status?.readyToUse).toBe(true);
    expect((await s.snapshot('stuck')).status?.readyToUse).toBe(false);
  }),
);

test(
  'a snapshot that is being restored is not deleted',
  inCluster(async (s) => {
    await s.take('before');
    s.disks.failures.push(failed('Unavailable', 'gone'), failed('Unavailable', 'gone'), failed('Unavailable', 'gone'));
    await s.cluster.create(persistentVolumeClaimKind, {
      metadata: inDefault('copy'),
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        storageClassName: 'disks',
        dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'before' },
      },
    });
    await s.cluster.wait(200);
    ok(await s.cluster.client.delete(volumeSnapshotKind, inDefault('before')));
    await s.cluster.wait(200);
    expect(s.disks.snapshots.size).toBe(1);
    expect(await s.events('before')).toContain('SnapshotDeletePending: Snapshot is being used to restore a PVC');
    await s.cluster.wait(60_000);
    expect(await s.contentOf('copy')).toBe('precious');
    expect(s.disks.snapshots.size).toBe(0);
    expect(await s.cluster.isGone(volumeSnapshotKind, inDefault('before'))).toBe(true);
  }),
);

test(
  'a pre-provisioned snapshot is bound by name, and its handle is kept',
  inCluster(async (s) => {
    await s.take('before');
    const [handle = ''] = s.disks.snapshots.keys();
    await s.cluster.create(volumeSnapshotContentKind, {
      metadata: { name: 'imported' },
      spec: {
        deletionPolicy: 'Retain',
        driver: s.disks.capabilities.name,
        source: { snapshotHandle: handle },
        volumeSnapshotRef: inDefault('again'),
      },
    });
    await s.cluster.create(volumeSnapshotKind, { metadata: inDefault('again'), spec: { source: { volumeSnapshotContentName: 'imported' } } });
    await s.cluster.wait();
    const snapshot = await s.snapshot('again');
    expect(snapshot.status).toMatchObject({ boundVolumeSnapshotContentName: 'imported', readyToUse: true });
    const content = ok(await s.cluster.client.get(volumeSnapshotContentKind, { name: 'imported' }));
    expect(content.spec.volumeSnapshotRef.uid).toBe(snapshot.metadata.uid);
    await s.restore('copy', 'again');
    expect(await s.contentOf('copy')).toBe('precious');
    await s.take('thief', { source: { volumeSnapshotContentName: 'imported' } });
    expect((await s.snapshot('thief')).status?.error?.message).toBe('VolumeSnapshotContent [imported] is bound to a different snapshot');
  }),
);

test(
  'what a snapshot cannot be taken of is told, and taken once it is there',
  inCluster(async (s) => {
    await s.take('unclassed', { volumeSnapshotClassName: 'slow' });
    expect((await s.snapshot('unclassed')).status?.error?.message).toBe(
      'Failed to get snapshot class with error volumesnapshotclass.snapshot.storage.k8s.io "slow" not found',
    );
    await s.take('early', { source: { persistentVolumeClaimName: 'later' } });
    expect((await s.snapshot('early')).status?.error?.message).toContain('cannot get claim from snapshot');
    await s.cluster.claim('later', 'disks');
    await s.cluster.create(volumeSnapshotClassKind, { metadata: { name: 'slow' }, driver: s.disks.capabilities.name, deletionPolicy: 'Delete' });
    await s.cluster.wait();
    expect((await s.snapshot('unclassed')).status?.readyToUse).toBe(true);
    expect((await s.snapshot('early')).status?.readyToUse).toBe(true);
  }),
);

test(
  'the restored volume is at least as large, of the same driver and of the same mode',
  inCluster(async (s) => {
    await s.take('before');
    await s.restore('small', 'before', { size: '1Mi' });
    expect(await s.events('small')).toEqual([
      expect.stringContaining('requested volume size 1048576 is less than the size 1073741824 for the source snapshot before'),
    ]);
    await s.restore('raw', 'before', { mode: 'Block' });
    const [content] = await s.contents();
    const name = content?.metadata.name ?? '';
    expect(await s.events('raw')).toEqual([
      expect.stringContaining(`${snapshotAnnotations.allowVolumeModeChange} annotation is not present on snapshotcontent ${name}`),
    ]);
    await s.cluster.change(volumeSnapshotContentKind, { name }, (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { [snapshotAnnotations.allowVolumeModeChange]: 'true' } },
    }));
    await s.cluster.wait();
    expect(await s.cluster.phaseOfClaim('raw')).toBe('Bound');
    expect(await s.cluster.phaseOfClaim('small')).toBe('Pending');
  }),
);

test(
  'a group is taken at one moment: its members are snapshots, and go with it',
  inCluster(async (s) => {
    await s.cluster.claim('log', 'disks');
    await s.takeGroup('all', ['data', 'log']);
    await s.cluster.wait();
    const group = ok(await s.cluster.client.get(volumeGroupSnapshotKind, inDefault('all')));
    expect(group.status).toMatchObject({ readyToUse: true, boundVolumeGroupSnapshotContentName: `groupsnapcontent-${group.metadata.uid}` });
    const members = ok(await s.cluster.client.list(volumeSnapshotKind)).items;
    expect(members.map(({ spec }) => spec.source.persistentVolumeClaimName ?? '').sort()).toEqual(['data', 'log']);
    for (const { metadata, status } of members) {
      expect(status).toMatchObject({ readyToUse: true, volumeGroupSnapshotName: 'all' });
      expect(metadata.finalizers).toContain(snapshotFinalizers.inGroup);
    }
    const ofData = members.find(({ spec }) => spec.source.persistentVolumeClaimName === 'data')?.metadata.name ?? '';
    await s.restore('copy', ofData);
    expect(await s.contentOf('copy')).toBe('precious');

    await s.cluster.delete(volumeSnapshotKind, inDefault(ofData));
    expect(await s.events(ofData)).toContainEqual(expect.stringContaining('is not allowed as it belongs to group snapshot default/all'));
    expect(s.disks.snapshots.size).toBe(2);
    await s.cluster.delete(volumeGroupSnapshotKind, inDefault('all'));
    expect(s.disks.snapshots.size).toBe(0);
    expect(ok(await s.cluster.client.list(volumeSnapshotKind)).items).toEqual([]);
    expect(await s.contents()).toEqual([]);
    expect(await s.cluster.isGone(volumeGroupSnapshotKind, inDefault('all'))).toBe(true);
  }),
);

test(
  'a refused group leaves nothing of the call before it whose outcome was unknown',
  inCluster(async (s) => {
    const refused = failed('InvalidArgument', 'no such pool');
    s.disks.failures.push(failed('DeadlineExceeded', 'too slow'), refused, refused, refused);
    await s.takeGroup('all', ['data']);
    await s.cluster.wait(1_000);
    expect(s.disks.snapshots.size).toBe(1);
    await s.cluster.delete(volumeGroupSnapshotKind, inDefault('all'));
    await s.cluster.wait(60_000);
    expect(await s.cluster.isGone(volumeGroupSnapshotKind, inDefault('all'))).toBe(true);
    expect(s.disks.snapshots.size).toBe(0);
  }),
);

test(
  'snapshots of drivers elsewhere are left to their own snapshotter',
  inCluster(async (s) => {
    await s.cluster.create(volumeSnapshotClassKind, { metadata: { name: 'foreign' }, driver: 'elsewhere.example.com', deletionPolicy: 'Delete' });
    await s.take('theirs', { volumeSnapshotClassName: 'foreign' });
    const { metadata, status } = await s.snapshot('theirs');
    expect(metadata.finalizers).toBeUndefined();
    expect(status).toBeUndefined();
  }),
);
