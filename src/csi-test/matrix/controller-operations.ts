import type { Bench, CreateVolume } from '../bench.ts';
import { clauses } from '../clauses.ts';
import { expectThat, shown } from '../expect.ts';
import { listSnapshotIds, listVolumeIds } from '../inventory.ts';
import { expand } from '../specs/expansion.ts';
import { groupNeeds } from '../specs/groups.ts';
import { expectOnce } from '../specs/lists.ts';
import { NotApplicable, Violation } from '../violation.ts';
import type { Operation, Prepared } from './operation.ts';

const create = ['controller:CREATE_DELETE_VOLUME'] as const;
const snapshots = [...create, 'controller:CREATE_DELETE_SNAPSHOT'] as const;
const attach = [...create, 'controller:PUBLISH_UNPUBLISH_VOLUME'] as const;

const listsVolume = async (bench: Bench, id: string): Promise<void> => {
  if (bench.has('controller:LIST_VOLUMES')) expectOnce('ListVolumes', await listVolumeIds(bench.driver.controller), id);
};
const listsNoVolume = async (bench: Bench, id: string): Promise<void> => {
  if (!bench.has('controller:LIST_VOLUMES')) return;
  expectThat(!(await listVolumeIds(bench.driver.controller)).includes(id), `ListVolumes has ${id}, which was deleted`);
};
const snapshotsOf = (bench: Bench): Promise<readonly string[]> => listSnapshotIds(bench.driver.controller, bench.secrets('ListSnapshotsSecret'));
const listsSnapshot = async (bench: Bench, id: string): Promise<void> => {
  if (bench.has('controller:LIST_SNAPSHOTS')) expectOnce('ListSnapshots', await snapshotsOf(bench), id);
};
const listsNoSnapshot = async (bench: Bench, id: string): Promise<void> => {
  if (!bench.has('controller:LIST_SNAPSHOTS')) return;
  expectThat(!(await snapshotsOf(bench)).includes(id), `ListSnapshots has ${id}, which was deleted`);
};

function creation(bench: Bench, changes: CreateVolume): Prepared {
  const request = bench.createVolumeRequest(changes);
  let id = '';
  const { volumeSize } = bench.context.options;
  return {
    proxy: bench.driver.controllerProxy,
    async perform() {
      const { answer } = await bench.performCreateVolume(request);
      id = answer.volumeId;
      const { volumeId, capacityBytes, volumeContext, accessibleTopology, contentSource } = answer;
      if (capacityBytes !== 0n && capacityBytes < volumeSize)
        throw new Violation(`required_bytes is ${volumeSize}, the answer has ${capacityBytes}`, clauses.requiredBytes);
      return { volumeId, capacityBytes, volumeContext, accessibleTopology, contentSource };
    },
    other: {
      what: 'CreateVolume of the same name with a hundred times the size',
      clause: clauses.createIncompatible,
      codes: ['AlreadyExists'],
      perform: () => bench.performCreateVolume({ ...request, capacityRange: { requiredBytes: volumeSize * 100n } }),
    },
    inverse: () => bench.deleteVolume({ id }),
    check: () => listsVolume(bench, id),
  };
}

const createVolume: Operation = { call: 'CreateVolume', clause: clauses.createIdempotent, needs: create, prepare: async (bench) => creation(bench, {}) };

const restore: Operation = {
  call: 'CreateVolume from snapshot',
  clause: clauses.createIdempotent,
  needs: snapshots,
  prepare: async (bench) => {
    const { snapshotId } = await bench.settle(async () => bench.createSnapshot(await bench.createVolume()));
    return creation(bench, { volumeContentSource: { type: { case: 'snapshot', value: { snapshotId } } } });
  },
};

const clone: Operation = {
  call: 'CreateVolume from volume',
  clause: clauses.createIdempotent,
  needs: [...create, 'controller:CLONE_VOLUME'],
  prepare: async (bench) => {
    const { id: volumeId } = await bench.createVolume();
    return creation(bench, { volumeContentSource: { type: { case: 'volume', value: { volumeId } } } });
  },
};

const deleteVolume: Operation = {
  call: 'DeleteVolume',
  clause: clauses.deleteIdempotent,
  needs: create,
  prepare: async (bench) => {
    const volume = await bench.createVolume();
    return { proxy: bench.driver.controllerProxy, perform: () => bench.deleteVolume(volume), check: () => listsNoVolume(bench, volume.id) };
  },
};

const publish: Operation = {
  call: 'ControllerPublishVolume',
  clause: clauses.attachIdempotent,
  needs: attach,
  prepare: async (bench) => {
    const volume = await bench.createVolume();
    return {
      proxy: bench.driver.controllerProxy,
      perform: () => bench.attach(volume),
      other: {
        what: 'ControllerPublishVolume at the same node with another readonly flag',
        clause: clauses.attachIncompatible,
        // A driver without PUBLISH_READONLY refuses the flag itself.
        codes: ['AlreadyExists', 'InvalidArgument'],
        perform: () => bench.attach(volume, { readonly: true }),
      },
      inverse: () => bench.detach(volume),
      check: () => listsVolume(bench, volume.id),
    };
  },
};

const unpublish: Operation = {
  call: 'ControllerUnpublishVolume',
  clause: clauses.detachIdempotent,
  needs: attach,
  prepare: async (bench) => {
    const volume = await bench.createVolume();
    await bench.attach(volume);
    return {
      proxy: bench.driver.controllerProxy,
      perform: () => bench.detach(volume),
      inverse: () => bench.attach(volume),
      check: () => listsVolume(bench, volume.id),
    };
  },
};

const expandVolume: Operation = {
  call: 'ControllerExpandVolume',
  clause: clauses.expandIdempotent,
  needs: [...create, 'controller:EXPAND_VOLUME'],
  prepare: async (bench) => {
    const volume = await bench.createVolume();
    const wanted = bench.context.options.volumeSize * 2n;
    return {
      proxy: bench.driver.controllerProxy,
      async perform() {
        const { capacityBytes } = await expand(bench, volume, wanted);
        if (capacityBytes < wanted) throw new Violation(`required_bytes is ${wanted}, the answer has ${capacityBytes}`, clauses.expandCapacity);
        return capacityBytes;
      },
      check: () => listsVolume(bench, volume.id),
    };
  },
};

const modify: Operation = {
  call: 'ControllerModifyVolume',
  clause: clauses.modifyIdempotent,
  needs: [...create, 'controller:MODIFY_VOLUME'],
  prepare: async (bench) => {
    const { mutableParameters } = bench.context.options;
    if (Object.keys(mutableParameters).length === 0) throw new NotApplicable('no mutable parameters were given (--mutable-parameters)');
    const { id: volumeId } = await bench.createVolume();
    const secrets = { ...bench.secrets('ControllerModifyVolumeSecret') };
    return {
      proxy: bench.driver.controllerProxy,
      perform: () => bench.driver.controller.controllerModifyVolume({ volumeId, mutableParameters: { ...mutableParameters }, secrets }),
      check: () => listsVolume(bench, volumeId),
    };
  },
};

const createSnapshot: Operation = {
  call: 'CreateSnapshot',
  clause: clauses.snapshotIdempotent,
  needs: snapshots,
  prepare: async (bench) => {
    const [volume, stranger] = [await bench.createVolume(), await bench.createVolume()];
    const request = bench.createSnapshotRequest(volume);
    let id = '';
    return {
      proxy: bench.driver.controllerProxy,
      async perform() {
        const { snapshotId, sourceVolumeId, creationTime } = await bench.performCreateSnapshot(request);
        id = snapshotId;
        return { snapshotId, sourceVolumeId, creationTime };
      },
      other: {
        what: 'CreateSnapshot of the same name with another source volume',
        clause: clauses.snapshotIncompatible,
        codes: ['AlreadyExists'],
        perform: () => bench.performCreateSnapshot({ ...request, sourceVolumeId: stranger.id }),
      },
      inverse: () => bench.deleteSnapshot(id),
      check: () => listsSnapshot(bench, id),
    };
  },
};

const deleteSnapshot: Operation = {
  call: 'DeleteSnapshot',
  clause: clauses.snapshotDeleteIdempotent,
  needs: snapshots,
  prepare: async (bench) => {
    const { snapshotId } = await bench.createSnapshot(await bench.createVolume());
    return { proxy: bench.driver.controllerProxy, perform: () => bench.deleteSnapshot(snapshotId), check: () => listsNoSnapshot(bench, snapshotId) };
  },
};

const createGroup: Operation = {
  call: 'CreateVolumeGroupSnapshot',
  clause: clauses.groupIdempotent,
  needs: groupNeeds,
  prepare: async (bench) => {
    const [one, other, stranger] = [await bench.createVolume(), await bench.createVolume(), await bench.createVolume()];
    const name = bench.newName();
    let group: Awaited<ReturnType<Bench['createGroup']>> | undefined;
    return {
      proxy: bench.driver.controllerProxy,
      async perform() {
        group = await bench.createGroup(name, [one.id, other.id]);
        return { id: group.groupSnapshotId, snapshots: group.snapshots.map(({ snapshotId, sourceVolumeId }) => shown([sourceVolumeId, snapshotId])).sort() };
      },
      other: {
        what: 'CreateVolumeGroupSnapshot of the same name with other volumes',
        clause: clauses.groupIncompatible,
        codes: ['AlreadyExists'],
        perform: () => bench.createGroup(name, [one.id, stranger.id]),
      },
      inverse: async () => group && (await bench.deleteGroup(group)),
      async check() {
        for (const { snapshotId } of group?.snapshots ?? []) await listsSnapshot(bench, snapshotId);
      },
    };
  },
};

const deleteGroup: Operation = {
  call: 'DeleteVolumeGroupSnapshot',
  clause: clauses.groupDeleteIdempotent,
  needs: groupNeeds,
  prepare: async (bench) => {
    const group = await bench.createGroup(bench.newName(), [(await bench.createVolume()).id, (await bench.createVolume()).id]);
    return {
      proxy: bench.driver.controllerProxy,
      perform: () => bench.deleteGroup(group),
      async check() {
        for (const { snapshotId } of group.snapshots) await listsNoSnapshot(bench, snapshotId);
      },
    };
  },
};

export const controllerOperations: readonly Operation[] = [
  createVolume,
  restore,
  clone,
  deleteVolume,
  publish,
  unpublish,
  expandVolume,
  modify,
  createSnapshot,
  deleteSnapshot,
  createGroup,
  deleteGroup,
];
