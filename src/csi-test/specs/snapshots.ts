import type { Snapshot } from '../../grpc/generated/csi.ts';
import type { Bench } from '../bench.ts';
import { clauses } from '../clauses.ts';
import { expectCode, expectOk, expectThat, shown } from '../expect.ts';
import { listSnapshotIds } from '../inventory.ts';
import { Violation } from '../violation.ts';
import { expectOnce } from './lists.ts';
import { spec, unknownId } from './spec.ts';

const needs = ['controller:CREATE_DELETE_VOLUME', 'controller:CREATE_DELETE_SNAPSHOT'] as const;
const list = [...needs, 'controller:LIST_SNAPSHOTS'] as const;

const listed = (bench: Bench, maxEntries = 0) => listSnapshotIds(bench.driver.controller, bench.secrets('ListSnapshotsSecret'), maxEntries);
const query = async (bench: Bench, request: { readonly snapshotId?: string; readonly sourceVolumeId?: string; readonly startingToken?: string }) => {
  const { entries } = await bench.driver.controller.listSnapshots({ ...request, secrets: { ...bench.secrets('ListSnapshotsSecret') } });
  return entries.map(({ snapshot }) => snapshot?.snapshotId ?? '');
};

/** Repeats CreateSnapshot until ready_to_use, as the CO does. */
async function untilReady(bench: Bench, create: () => Promise<Snapshot>): Promise<Snapshot> {
  const { clock, timers } = bench.context.world;
  const end = clock.monotonic() + bench.context.options.timeoutMs;
  for (;;) {
    const snapshot = await create();
    if (snapshot.readyToUse) return snapshot;
    if (clock.monotonic() > end)
      throw new Violation(`ready_to_use of the snapshot ${snapshot.snapshotId} is false after ${bench.context.options.timeoutMs} ms`);
    await new Promise<void>((resolve) => void timers.after(20, resolve));
  }
}

export const snapshotSpecs = [
  spec('CreateSnapshot/no name', { title: 'a request without name is refused', clause: clauses.missingField, needs }, async (bench) => {
    const volume = await bench.createVolume();
    const request = bench.createSnapshotRequest(volume, { name: '' });
    await expectCode('CreateSnapshot without name', () => bench.performCreateSnapshot(request), ['InvalidArgument']);
  }),
  spec('CreateSnapshot/no source', { title: 'a request without source_volume_id is refused', clause: clauses.missingField, needs }, (bench) =>
    expectCode('CreateSnapshot without source_volume_id', () => bench.createSnapshot({ id: '' }), ['InvalidArgument']),
  ),
  spec('CreateSnapshot/fields', { title: 'the answer has an id, the source and the time', clause: clauses.snapshotFields, needs }, async (bench) => {
    const volume = await bench.createVolume();
    const snapshot = await expectOk('CreateSnapshot', () => bench.createSnapshot(volume));
    expectThat(snapshot.snapshotId !== '', 'snapshot_id is empty');
    expectThat(snapshot.sourceVolumeId === volume.id, `source_volume_id is ${shown(snapshot.sourceVolumeId)}, not ${volume.id}`);
    expectThat(snapshot.creationTime !== undefined, 'creation_time is missing');
  }),
  spec('CreateSnapshot/ready', { title: 'ready_to_use becomes true', clause: clauses.snapshotReady, needs }, async (bench) => {
    const request = bench.createSnapshotRequest(await bench.createVolume());
    await untilReady(bench, () => bench.performCreateSnapshot(request));
  }),
  spec('DeleteSnapshot/no id', { title: 'a request without snapshot_id is refused', clause: clauses.missingField, needs }, (bench) =>
    expectCode('DeleteSnapshot without snapshot_id', () => bench.deleteSnapshot(''), ['InvalidArgument']),
  ),
  spec('DeleteSnapshot/unknown', { title: 'a snapshot that does not exist is deleted', clause: clauses.snapshotDeleteIdempotent, needs }, (bench) =>
    expectOk('DeleteSnapshot of an unknown snapshot', () => bench.deleteSnapshot(unknownId)),
  ),
  spec(
    'ListSnapshots/contains',
    { title: 'a snapshot is in the list once, and not after it was deleted', clause: clauses.listSnapshots, needs: list },
    async (bench) => {
      const { snapshotId } = await bench.createSnapshot(await bench.createVolume());
      expectOnce('ListSnapshots', await listed(bench), snapshotId);
      await bench.deleteSnapshot(snapshotId);
      expectThat(!(await listed(bench)).includes(snapshotId), `ListSnapshots has ${snapshotId} after it was deleted`);
    },
  ),
  spec('ListSnapshots/pages', { title: 'pages of one entry contain every snapshot once', clause: clauses.listSnapshots, needs: list }, async (bench) => {
    const volume = await bench.createVolume();
    const snapshots = [await bench.createSnapshot(volume), await bench.createSnapshot(volume), await bench.createSnapshot(volume)];
    const ids = await listed(bench, 1);
    for (const { snapshotId } of snapshots) expectOnce('ListSnapshots in pages of 1', ids, snapshotId);
  }),
  spec(
    'ListSnapshots/max_entries',
    { title: 'a page has at most max_entries, and names the next one', clause: clauses.listSnapshotsMaxEntries, needs: list },
    async (bench) => {
      const volume = await bench.createVolume();
      await bench.createSnapshot(volume);
      await bench.createSnapshot(volume);
      const page = await bench.driver.controller.listSnapshots({ maxEntries: 1, secrets: { ...bench.secrets('ListSnapshotsSecret') } });
      expectThat(page.entries.length <= 1, `max_entries is 1, the page has ${page.entries.length}`);
      expectThat(page.nextToken !== '', 'there are more snapshots, but next_token is empty');
    },
  ),
  spec(
    'ListSnapshots/bad token',
    { title: 'a token that the driver did not give is refused', clause: clauses.listSnapshotsBadToken, needs: list },
    async (bench) => {
      await bench.createSnapshot(await bench.createVolume());
      await expectCode('ListSnapshots with an invalid starting_token', () => query(bench, { startingToken: 'no-token' }), ['Aborted']);
    },
  ),
  spec('ListSnapshots/by id', { title: 'snapshot_id selects one snapshot, or none', clause: clauses.listSnapshots, needs: list }, async (bench) => {
    const volume = await bench.createVolume();
    const [{ snapshotId }] = [await bench.createSnapshot(volume), await bench.createSnapshot(volume)];
    const found = await query(bench, { snapshotId });
    expectThat(shown(found) === shown([snapshotId]), `ListSnapshots of ${snapshotId} answers ${shown(found)}`);
    const missing = await expectOk('ListSnapshots of an unknown snapshot_id', () => query(bench, { snapshotId: unknownId }));
    expectThat(missing.length === 0, `ListSnapshots of an unknown snapshot_id answers ${shown(missing)}`);
  }),
  spec(
    'ListSnapshots/by source',
    { title: 'source_volume_id selects the snapshots of a volume', clause: clauses.listSnapshotsSource, needs: list },
    async (bench) => {
      const [one, other] = [await bench.createVolume(), await bench.createVolume()];
      const [{ snapshotId }] = [await bench.createSnapshot(one), await bench.createSnapshot(other)];
      const found = await query(bench, { sourceVolumeId: one.id });
      expectThat(shown(found) === shown([snapshotId]), `ListSnapshots of the volume ${one.id} answers ${shown(found)}, not ${snapshotId}`);
    },
  ),
  spec(
    'GetSnapshot/same',
    { title: 'the snapshot is as it was created', clause: clauses.getSnapshot, needs: [...needs, 'controller:GET_SNAPSHOT'] },
    async (bench) => {
      const { snapshotId } = await bench.createSnapshot(await bench.createVolume());
      const { snapshot } = await expectOk('GetSnapshot', () =>
        bench.driver.controller.getSnapshot({ snapshotId, secrets: { ...bench.secrets('GetSnapshotSecret') } }),
      );
      expectThat(snapshot?.snapshotId === snapshotId, `GetSnapshot of ${snapshotId} answers ${shown(snapshot?.snapshotId ?? null)}`);
    },
  ),
  spec(
    'GetSnapshot/unknown',
    { title: 'a snapshot that does not exist is not found', clause: clauses.getSnapshot, needs: ['controller:GET_SNAPSHOT'] },
    (bench) =>
      expectCode(
        'GetSnapshot of an unknown snapshot',
        () => bench.driver.controller.getSnapshot({ snapshotId: unknownId, secrets: { ...bench.secrets('GetSnapshotSecret') } }),
        ['NotFound'],
      ),
  ),
];
