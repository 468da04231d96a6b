import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import {
  Controller,
  ControllerServiceCapability_RPC_Type as Rpc,
  GroupController,
  GroupControllerServiceCapability_RPC_Type as GroupRpc,
  type Snapshot,
  type VolumeGroupSnapshot,
} from '../../grpc/generated/csi.ts';
import {
  done,
  type DriverAnswer,
  type DriverGroupSnapshot,
  type DriverSnapshot,
  failed,
  type GroupSnapshotter,
  type Snapshotter,
  succeeded,
} from '../contract.ts';
import type { CsiConnection } from './controller-connection.ts';
import type { CsiIdentity } from './controller-identity.ts';
import { allPages } from './controller-listing.ts';

/** The timeout of csi-snapshotter. */
const timeoutMs = 60_000;
const pageSize = 1000;

export function snapshotterOf(connection: CsiConnection, { controller }: CsiIdentity): { readonly snapshotter?: Snapshotter } {
  if (!controller.has(Rpc.CREATE_DELETE_SNAPSHOT)) return {};
  return {
    snapshotter: {
      async createSnapshot({ name, sourceHandle, parameters, secret }, leader) {
        const secrets = await connection.secrets(secret);
        if (!secrets.ok) return secrets;
        const request = { name, sourceVolumeId: sourceHandle, parameters: { ...parameters }, secrets: { ...secrets.value } };
        const answer = await connection.call(Controller.method.createSnapshot, request, { leader, timeoutMs });
        return answer.ok ? snapshotOf(answer.value.snapshot, { sourceHandle }) : answer;
      },
      async deleteSnapshot({ handle, secret }, leader) {
        const secrets = { ...(await connection.secretsIfThere(secret)) };
        const answer = await connection.call(Controller.method.deleteSnapshot, { snapshotId: handle, secrets }, { leader, timeoutMs });
        return answer.ok ? done : answer;
      },
      ...(controller.has(Rpc.LIST_SNAPSHOTS) ? listingOf(connection) : {}),
    },
  };
}

function listingOf(connection: CsiConnection): Pick<Snapshotter, 'getSnapshot' | 'listSnapshots'> {
  return {
    async getSnapshot({ handle, secret }) {
      const secrets = await connection.secrets(secret);
      if (!secrets.ok) return secrets;
      const answer = await connection.call(Controller.method.listSnapshots, { snapshotId: handle, secrets: { ...secrets.value } }, { timeoutMs });
      if (!answer.ok) return answer;
      const found = answer.value.entries.find(({ snapshot }) => snapshot?.snapshotId === handle);
      return found === undefined ? failed('NotFound', `no snapshot ${JSON.stringify(handle)}`) : snapshotOf(found.snapshot, {});
    },
    async listSnapshots() {
      const entries = await allPages('ListSnapshots', (startingToken) =>
        connection.call(Controller.method.listSnapshots, { maxEntries: pageSize, startingToken }, { timeoutMs }),
      );
      return entries.ok ? readAll(entries.value.map(({ snapshot }) => snapshot)) : entries;
    },
  };
}

export function groupSnapshotterOf(connection: CsiConnection, { group }: CsiIdentity): { readonly groupSnapshotter?: GroupSnapshotter } {
  if (!group.has(GroupRpc.CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT)) return {};
  return {
    groupSnapshotter: {
      async createVolumeGroupSnapshot({ name, sourceHandles, parameters, secret }, leader) {
        const secrets = await connection.secrets(secret);
        if (!secrets.ok) return secrets;
        const request = { name, sourceVolumeIds: [...sourceHandles], parameters: { ...parameters }, secrets: { ...secrets.value } };
        const answer = await connection.call(GroupController.method.createVolumeGroupSnapshot, request, { leader, timeoutMs });
        return answer.ok ? groupSnapshotOf(answer.value.groupSnapshot) : answer;
      },
      async deleteVolumeGroupSnapshot({ handle, snapshotHandles, secret }, leader) {
        const secrets = { ...(await connection.secretsIfThere(secret)) };
        const request = { groupSnapshotId: handle, snapshotIds: [...snapshotHandles], secrets };
        const answer = await connection.call(GroupController.method.deleteVolumeGroupSnapshot, request, { leader, timeoutMs });
        return answer.ok ? done : answer;
      },
      async getVolumeGroupSnapshot({ handle, snapshotHandles, secret }) {
        const secrets = await connection.secrets(secret);
        if (!secrets.ok) return secrets;
        const request = { groupSnapshotId: handle, snapshotIds: [...snapshotHandles], secrets: { ...secrets.value } };
        const answer = await connection.call(GroupController.method.getVolumeGroupSnapshot, request, { timeoutMs });
        return answer.ok ? groupSnapshotOf(answer.value.groupSnapshot) : answer;
      },
    },
  };
}

/** `sourceHandle`: the volume that was asked for. */
function snapshotOf(snapshot: Snapshot | undefined, { sourceHandle }: { readonly sourceHandle?: string }): DriverAnswer<DriverSnapshot> {
  if (snapshot === undefined || snapshot.snapshotId === '') return uncertain('the driver answered no snapshot_id');
  if (sourceHandle !== undefined && snapshot.sourceVolumeId !== sourceHandle) {
    return uncertain(`the driver answered a snapshot of volume ${JSON.stringify(snapshot.sourceVolumeId)} instead of ${JSON.stringify(sourceHandle)}`);
  }
  if (snapshot.sizeBytes < 0n) return uncertain(`the driver answered a snapshot of ${snapshot.sizeBytes} bytes`);
  return succeeded({
    handle: snapshot.snapshotId,
    sourceHandle: snapshot.sourceVolumeId,
    creationTime: timeOf(snapshot.creationTime),
    readyToUse: snapshot.readyToUse,
    sizeBytes: Number(snapshot.sizeBytes),
    ...(snapshot.groupSnapshotId === '' ? {} : { groupHandle: snapshot.groupSnapshotId }),
  });
}

function groupSnapshotOf(group: VolumeGroupSnapshot | undefined): DriverAnswer<DriverGroupSnapshot> {
  if (group === undefined || group.groupSnapshotId === '') return uncertain('the driver answered no group_snapshot_id');
  const snapshots = readAll(group.snapshots);
  if (!snapshots.ok) return snapshots;
  return succeeded({ handle: group.groupSnapshotId, snapshots: snapshots.value, creationTime: timeOf(group.creationTime), readyToUse: group.readyToUse });
}

function readAll(snapshots: readonly (Snapshot | undefined)[]): DriverAnswer<readonly DriverSnapshot[]> {
  const read: DriverSnapshot[] = [];
  for (const snapshot of snapshots) {
    const answer = snapshotOf(snapshot, {});
    if (!answer.ok) return answer;
    read.push(answer.value);
  }
  return succeeded(read);
}

/** The snapshot may exist. */
const uncertain = (message: string) => ({ ...failed('Internal', message), final: false });

const timeOf = (time: Timestamp | undefined): number => (time === undefined ? 0 : timestampMs(time));
