import { cpSync, rmSync } from 'node:fs';
import { create } from '@bufbuild/protobuf';
import {
  type Controller,
  type GroupController,
  GroupControllerServiceCapability_RPC_Type,
  type Snapshot,
  SnapshotSchema,
} from '../../../src/grpc/generated/csi.ts';
import type { Implementation } from '../../../src/grpc/service.ts';
import { RpcError } from '../../../src/grpc/status.ts';
import { type DriverState, required, type StoredSnapshot } from './driver-state.ts';
import { pageOf } from './pages.ts';

function answerOf(state: DriverState, { id, sourceVolumeId, size, groupId, createdAt }: StoredSnapshot): Snapshot {
  const readyToUse = !state.has('snapshot-never-ready');
  const creationTime = { seconds: BigInt(createdAt) };
  return create(SnapshotSchema, { snapshotId: id, sourceVolumeId, sizeBytes: BigInt(size), groupSnapshotId: groupId, readyToUse, creationTime });
}

function take(state: DriverState, { name, sourceVolumeId, groupId }: Pick<StoredSnapshot, 'name' | 'sourceVolumeId' | 'groupId'>): StoredSnapshot {
  const { size } = state.volume(sourceVolumeId);
  const id = state.newId('snapshot');
  cpSync(state.pathOf(sourceVolumeId), state.pathOf(id), { recursive: true });
  const snapshot = { id, name, sourceVolumeId, size, groupId, createdAt: Math.floor(Date.now() / 1000) };
  state.data.snapshots[id] = snapshot;
  return snapshot;
}

export function removeSnapshot(state: DriverState, id: string): void {
  rmSync(state.pathOf(id), { recursive: true, force: true });
  delete state.data.snapshots[id];
}

export function snapshotMethods(state: DriverState): Pick<Implementation<typeof Controller>, 'createSnapshot' | 'deleteSnapshot' | 'listSnapshots'> {
  const { data } = state;
  return {
    createSnapshot: (request, { signal }) =>
      state.locked(`snapshot named ${required(request.name, 'name')}`, signal, () => {
        const { name } = request;
        const sourceVolumeId = required(request.sourceVolumeId, 'source_volume_id');
        const existing = Object.values(data.snapshots).find((each) => each.name === name);
        if (existing !== undefined && existing.sourceVolumeId !== sourceVolumeId && !state.has('snapshot-other-source-accepted'))
          throw new RpcError('AlreadyExists', `${name} is a snapshot of ${existing.sourceVolumeId}`);
        const snapshot = existing ?? take(state, { name, sourceVolumeId, groupId: '' });
        state.save();
        return { snapshot: answerOf(state, snapshot) };
      }),
    deleteSnapshot: (request, { signal }) =>
      state.locked(required(request.snapshotId, 'snapshot_id'), signal, () => {
        if (data.snapshots[request.snapshotId] === undefined && state.has('snapshot-delete-missing-fails'))
          throw new RpcError('NotFound', `snapshot ${request.snapshotId} does not exist`);
        removeSnapshot(state, request.snapshotId);
        state.save();
        return {};
      }),
    listSnapshots: async ({ maxEntries, startingToken, snapshotId, sourceVolumeId }) => {
      const chosen = Object.values(data.snapshots).filter(
        (each) =>
          state.has('snapshot-list-ignores-filter') ||
          ((snapshotId === '' || each.id === snapshotId) && (sourceVolumeId === '' || each.sourceVolumeId === sourceVolumeId)),
      );
      const { page, nextToken } = pageOf(state, chosen, { maxEntries, startingToken });
      return { entries: page.map((each) => ({ snapshot: answerOf(state, each) })), nextToken };
    },
  };
}

export function groupMethods(state: DriverState): Implementation<typeof GroupController> {
  const { data } = state;
  const members = (groupId: string): readonly StoredSnapshot[] => Object.values(data.snapshots).filter((each) => each.groupId === groupId);
  const answer = (groupSnapshotId: string) => ({
    groupSnapshot: { groupSnapshotId, snapshots: members(groupSnapshotId).map((each) => answerOf(state, each)), readyToUse: true },
  });
  const { CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT: type } = GroupControllerServiceCapability_RPC_Type;
  return {
    groupControllerGetCapabilities: async () => ({ capabilities: [{ type: { case: 'rpc', value: { type } } }] }),
    createVolumeGroupSnapshot: ({ name, sourceVolumeIds }, { signal }) =>
      state.locked(`group named ${required(name, 'name')}`, signal, () => {
        if (sourceVolumeIds.length === 0) throw new RpcError('InvalidArgument', 'source_volume_ids are missing');
        const existing = Object.entries(data.groups).find(([, each]) => each === name)?.[0];
        if (existing !== undefined) {
          const sources = members(existing).map((each) => each.sourceVolumeId);
          if (JSON.stringify(sources.sort()) !== JSON.stringify([...sourceVolumeIds].sort())) throw new RpcError('AlreadyExists', `${name} has other volumes`);
          return answer(existing);
        }
        if (!state.has('group-leaks-members')) for (const id of sourceVolumeIds) state.volume(id);
        const groupId = state.newId('group');
        for (const sourceVolumeId of sourceVolumeIds) take(state, { name: `${name} of ${sourceVolumeId}`, sourceVolumeId, groupId });
        data.groups[groupId] = name;
        state.save();
        return answer(groupId);
      }),
    deleteVolumeGroupSnapshot: ({ groupSnapshotId }, { signal }) =>
      state.locked(required(groupSnapshotId, 'group_snapshot_id'), signal, () => {
        for (const { id } of members(groupSnapshotId)) removeSnapshot(state, id);
        delete data.groups[groupSnapshotId];
        state.save();
        return {};
      }),
    getVolumeGroupSnapshot: async ({ groupSnapshotId }) => {
      if (data.groups[groupSnapshotId] === undefined) throw new RpcError('NotFound', `group ${groupSnapshotId} does not exist`);
      return answer(groupSnapshotId);
    },
  };
}
