import type { Bench } from '../bench.ts';
import { clauses } from '../clauses.ts';
import { expectCode, expectOk, expectThat, shown } from '../expect.ts';
import { listSnapshotIds } from '../inventory.ts';
import { spec, unknownId } from './spec.ts';

export const groupNeeds = ['controller:CREATE_DELETE_VOLUME', 'group:CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT'] as const;
const needs = groupNeeds;

const twoVolumes = async (bench: Bench): Promise<readonly string[]> => [(await bench.createVolume()).id, (await bench.createVolume()).id];
const get = (bench: Bench, groupSnapshotId: string, snapshotIds: readonly string[]) =>
  bench.driver.group.getVolumeGroupSnapshot({ groupSnapshotId, snapshotIds: [...snapshotIds], secrets: { ...bench.secrets('GetVolumeGroupSnapshotSecret') } });

export const groupSpecs = [
  spec('CreateVolumeGroupSnapshot/no name', { title: 'a request without name is refused', clause: clauses.missingField, needs }, async (bench) => {
    const ids = await twoVolumes(bench);
    await expectCode('CreateVolumeGroupSnapshot without name', () => bench.createGroup('', ids), ['InvalidArgument']);
  }),
  spec('CreateVolumeGroupSnapshot/no volumes', { title: 'a request without source_volume_ids is refused', clause: clauses.missingField, needs }, (bench) =>
    expectCode('CreateVolumeGroupSnapshot without source_volume_ids', () => bench.createGroup(bench.newName(), []), ['InvalidArgument']),
  ),
  spec('CreateVolumeGroupSnapshot/members', { title: 'each volume has one snapshot in the group', clause: clauses.groupFields, needs }, async (bench) => {
    const ids = await twoVolumes(bench);
    const group = await expectOk('CreateVolumeGroupSnapshot', () => bench.createGroup(bench.newName(), ids));
    expectThat(group.groupSnapshotId !== '', 'group_snapshot_id is empty');
    const sources = group.snapshots.map(({ sourceVolumeId }) => sourceVolumeId).sort();
    expectThat(shown(sources) === shown([...ids].sort()), `the volumes are ${shown(ids)}, the snapshots are of ${shown(sources)}`);
    const strays = group.snapshots.filter(({ groupSnapshotId }) => groupSnapshotId !== group.groupSnapshotId);
    expectThat(
      strays.length === 0,
      `the snapshot ${strays[0]?.snapshotId} names the group ${shown(strays[0]?.groupSnapshotId ?? '')}, not ${group.groupSnapshotId}`,
    );
  }),
  spec(
    'CreateVolumeGroupSnapshot/missing volume',
    { title: 'if one volume is missing, no snapshot is left', clause: clauses.groupNoLeak, needs },
    async (bench) => {
      const { id } = await bench.createVolume();
      const call = () => bench.createGroup(bench.newName(), [id, unknownId]);
      // What it leaves is found in the ledger.
      await expectCode('CreateVolumeGroupSnapshot with an unknown volume', call, ['NotFound', 'InvalidArgument', 'FailedPrecondition']);
    },
  ),
  spec('DeleteVolumeGroupSnapshot/no id', { title: 'a request without group_snapshot_id is refused', clause: clauses.missingField, needs }, (bench) =>
    expectCode('DeleteVolumeGroupSnapshot without group_snapshot_id', () => bench.deleteGroup({ groupSnapshotId: '', snapshots: [] }), ['InvalidArgument']),
  ),
  spec('DeleteVolumeGroupSnapshot/unknown', { title: 'a group that does not exist is deleted', clause: clauses.groupDeleteIdempotent, needs }, (bench) =>
    expectOk('DeleteVolumeGroupSnapshot of an unknown group', () => bench.deleteGroup({ groupSnapshotId: unknownId, snapshots: [] })),
  ),
  spec(
    'DeleteVolumeGroupSnapshot/members',
    { title: 'the snapshots of the group go with it', clause: clauses.groupDeletesMembers, needs: [...needs, 'controller:LIST_SNAPSHOTS'] },
    async (bench) => {
      const group = await bench.createGroup(bench.newName(), await twoVolumes(bench));
      await expectOk('DeleteVolumeGroupSnapshot', () => bench.deleteGroup(group));
      const left = await listSnapshotIds(bench.driver.controller, bench.secrets('ListSnapshotsSecret'));
      const members = group.snapshots.filter(({ snapshotId }) => left.includes(snapshotId));
      expectThat(members.length === 0, `the group was deleted, but ListSnapshots has its snapshot ${members[0]?.snapshotId}`);
    },
  ),
  spec('GetVolumeGroupSnapshot/same', { title: 'the group is as it was created', clause: clauses.groupFields, needs }, async (bench) => {
    const group = await bench.createGroup(bench.newName(), await twoVolumes(bench));
    const members = group.snapshots.map(({ snapshotId }) => snapshotId);
    const { groupSnapshot } = await expectOk('GetVolumeGroupSnapshot', () => get(bench, group.groupSnapshotId, members));
    const found = groupSnapshot?.snapshots.map(({ snapshotId }) => snapshotId).sort();
    expectThat(
      shown(found ?? null) === shown(members.sort()),
      `the group has the snapshots ${shown(members)}, GetVolumeGroupSnapshot answers ${shown(found ?? null)}`,
    );
  }),
  spec('GetVolumeGroupSnapshot/unknown', { title: 'a group that does not exist is not found', clause: clauses.groupGetMissing, needs }, (bench) =>
    expectCode('GetVolumeGroupSnapshot of an unknown group', () => get(bench, unknownId, []), ['NotFound']),
  ),
];
