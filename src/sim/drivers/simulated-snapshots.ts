import {
  type CreateVolumeRequest,
  done,
  type DriverAnswer,
  type DriverGroupSnapshot,
  type DriverSnapshot,
  failed,
  type GroupSnapshotter,
  type Leader,
  type Snapshotter,
} from '../../drivers/contract.ts';
import { quantityValue } from '../../api/quantity.ts';
import type { Asset } from '../../api/volumes/intent.ts';
import { SimulatedDiskDriver } from './simulated-disk-driver.ts';

interface KeptSnapshot {
  readonly name: string;
  readonly sourceHandle: string;
  readonly content: string;
  readonly size: string;
  readonly takenAt: number;
  /** How often it still has to be asked for until it is ready. */
  pending: number;
}

/** Disks with a content, snapshots of them, and volumes that are restored from those. It outlives every process. */
export class SnapshottingDiskDriver extends SimulatedDiskDriver {
  /** By handle. A new disk is empty. */
  readonly contents = new Map<string, string>();
  readonly snapshots = new Map<string, KeptSnapshot>();
  /** How often a new snapshot is answered with "not ready". */
  slowness = 0;
  /** While set, calls for snapshots are never answered. */
  hangs = false;

  override async createVolume(request: CreateVolumeRequest, leader: Leader): Promise<DriverAnswer<Asset>> {
    const { source } = request;
    const handle = this.handleFor(request.name);
    const content = source?.type === 'snapshot' ? this.snapshots.get(source.handle)?.content : '';
    if (content === undefined) return failed('NotFound', `no snapshot ${source?.handle ?? ''}`);
    const isNew = !this.sizes.has(handle);
    const answer = await super.createVolume(request, leader);
    if (isNew && this.sizes.has(handle)) this.contents.set(handle, content);
    return answer;
  }

  readonly snapshotter: Snapshotter = {
    createSnapshot: async ({ name, sourceHandle }, leader) => {
      if (this.hangs) return new Promise(() => undefined);
      const size = this.sizes.get(sourceHandle);
      if (size === undefined) return failed('NotFound', `no disk ${sourceHandle}`);
      const handle = `snap-${name}`;
      return this.perform(leader, `snapshot ${handle}`, () => {
        const known = this.snapshots.get(handle);
        const kept = known ?? { name, sourceHandle, content: this.contents.get(sourceHandle) ?? '', size, takenAt: 1, pending: this.slowness };
        if (known === undefined) this.snapshots.set(handle, kept);
        else if (kept.pending > 0) kept.pending--;
        return described(handle, kept);
      });
    },
    deleteSnapshot: async ({ handle }, leader) => {
      if (this.hangs) return new Promise(() => undefined);
      const deleted = await this.perform(leader, `delete-snapshot ${handle}`, () => this.snapshots.delete(handle));
      return deleted.ok ? done : deleted;
    },
    getSnapshot: async ({ handle }) => {
      const kept = this.snapshots.get(handle);
      return kept === undefined ? failed('NotFound', `no snapshot ${handle}`) : { ok: true, value: described(handle, kept) };
    },
    listSnapshots: async () => ({ ok: true, value: Array.from(this.snapshots, ([handle, kept]) => described(handle, kept)) }),
  };

  /** All disks at one moment. */
  readonly groupSnapshotter: GroupSnapshotter = {
    createVolumeGroupSnapshot: async ({ name, sourceHandles }, leader) =>
      this.perform(leader, `group ${name}`, () => {
        for (const sourceHandle of sourceHandles) {
          const content = this.contents.get(sourceHandle) ?? '';
          const kept = { name, sourceHandle, content, size: this.sizes.get(sourceHandle) ?? '0', takenAt: 1, pending: 0 };
          const handle = `${name}-${sourceHandle}`;
          if (!this.snapshots.has(handle)) this.snapshots.set(handle, kept);
        }
        return this.#group(name);
      }),
    deleteVolumeGroupSnapshot: async ({ handle, snapshotHandles }, leader) => {
      const members = this.#group(handle).snapshots.map((snapshot) => snapshot.handle);
      if (members.some((member) => !snapshotHandles.includes(member))) return failed('InvalidArgument', 'these are not the snapshots of the group');
      return this.perform(leader, `delete-group ${handle}`, () => {
        for (const member of members) this.snapshots.delete(member);
        return undefined;
      });
    },
    getVolumeGroupSnapshot: async ({ handle }) => ({ ok: true, value: this.#group(handle) }),
  };

  #group(handle: string): DriverGroupSnapshot {
    const snapshots = Array.from(this.snapshots)
      .filter(([, { name }]) => name === handle)
      .map(([member, kept]): DriverSnapshot => ({ ...described(member, kept), groupHandle: handle }));
    return { handle, snapshots, creationTime: 1, readyToUse: true };
  }
}

const described = (handle: string, { sourceHandle, size, takenAt, pending }: KeptSnapshot): DriverSnapshot => ({
  handle,
  sourceHandle,
  creationTime: takenAt,
  readyToUse: pending === 0,
  sizeBytes: Number(quantityValue(size)),
});
