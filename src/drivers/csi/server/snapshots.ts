import type { MessageInitShape } from '@bufbuild/protobuf';
import { type CreateSnapshotRequest, type ListSnapshotsRequest, type ListSnapshotsResponseSchema, type SnapshotSchema } from '../../../grpc/generated/csi.ts';
import { RpcError } from '../../../grpc/status.ts';
import { checkedName } from './create-volume.ts';
import { type DriverContext, idOf, required, volumeOf } from './driver-context.ts';
import { pageOf, type SnapshotRecord } from './records.ts';

export async function createSnapshot(context: DriverContext, { name, sourceVolumeId, parameters }: CreateSnapshotRequest): Promise<SnapshotRecord> {
  checkedName(name);
  required(sourceVolumeId, 'source_volume_id');
  const unknown = Object.keys(parameters).find((key) => !key.startsWith('csi.storage.k8s.io/'));
  if (unknown !== undefined) throw new RpcError('InvalidArgument', `parameters: ${JSON.stringify(unknown)} is unknown; this driver has no parameters`);
  const id = idOf(context, 'snap', name);
  const { backend, snapshots, clock } = context;
  return context.locks.run(id, async () => {
    const existing = snapshots.get(id);
    if (existing !== undefined && existing.volumeId !== sourceVolumeId)
      throw new RpcError('AlreadyExists', `snapshot ${JSON.stringify(name)} exists already, of volume ${existing.volumeId}`);
    if (existing?.ready === true) return existing;
    // The volume keeps its size and stays until the copy is made.
    return context.locks.run(sourceVolumeId, async () => {
      const volume = volumeOf(context, sourceVolumeId);
      const { bytes, block } = volume;
      const snapshot = { id, name, volumeId: sourceVolumeId, bytes, block, createdAt: clock.now(), ready: false };
      if (!backend.isRecordOnly) await snapshots.put(snapshot);
      await backend.snapshot(sourceVolumeId, id, block ? undefined : volume.onNode.staged?.path);
      const ready = { ...snapshot, ready: true };
      await snapshots.put(ready);
      return ready;
    });
  });
}

export function deleteSnapshot({ backend, snapshots, locks }: DriverContext, id: string): Promise<void> {
  required(id, 'snapshot_id');
  return locks.run(id, async () => {
    if (snapshots.get(id) === undefined) return;
    await backend.removeSnapshot(id);
    await snapshots.remove(id);
  });
}

export function getSnapshot({ snapshots }: DriverContext, id: string): SnapshotRecord {
  const snapshot = snapshots.get(required(id, 'snapshot_id'));
  if (snapshot?.ready !== true) throw new RpcError('NotFound', `snapshot ${JSON.stringify(id)} does not exist`);
  return snapshot;
}

export function listSnapshots({ snapshots }: DriverContext, request: ListSnapshotsRequest): MessageInitShape<typeof ListSnapshotsResponseSchema> {
  const { snapshotId, sourceVolumeId, startingToken, maxEntries } = request;
  if (maxEntries < 0) throw new RpcError('InvalidArgument', `max_entries ${maxEntries} is negative`);
  const all = snapshots
    .sorted()
    .filter(({ id, volumeId, ready }) => ready && (snapshotId === '' || id === snapshotId) && (sourceVolumeId === '' || volumeId === sourceVolumeId));
  const found = pageOf(all, { startingToken, maxEntries });
  if (found === undefined) throw new RpcError('Aborted', `starting_token ${JSON.stringify(startingToken)} is not one of this driver`);
  return { entries: found.page.map((each) => ({ snapshot: snapshotMessage(each) })), nextToken: found.nextToken };
}

export const snapshotMessage = ({ id, volumeId, bytes, createdAt, ready }: SnapshotRecord): MessageInitShape<typeof SnapshotSchema> => ({
  snapshotId: id,
  sourceVolumeId: volumeId,
  sizeBytes: BigInt(bytes),
  creationTime: { seconds: BigInt(Math.floor(createdAt / 1000)), nanos: (createdAt % 1000) * 1_000_000 },
  readyToUse: ready,
});
