import type { PublishTarget } from '../../api/volumes/controller-publish.ts';
import type { PersistentVolumeSource } from '../../api/generated/types.ts';
import { compareQuantities } from '../../api/quantity.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import type { Asset } from '../../api/volumes/intent.ts';
import {
  type Attacher,
  type CreateVolumeRequest,
  type DriverAnswer,
  type DriverFailure,
  deposed,
  failed,
  type Leader,
  type VolumeDriver,
} from '../../drivers/contract.ts';

export type DiskChange =
  | { readonly type: 'provided' | 'created' | 'grown'; readonly handle: string; readonly capacity: string }
  | { readonly type: 'deleted'; readonly handle: string }
  | { readonly type: 'attached' | 'detached'; readonly handle: string; readonly node: string };

/** A volume driver whose disks are in memory: created, expanded, attached to nodes, and deleted. It outlives every process. */
export class SimulatedDiskDriver implements VolumeDriver {
  readonly capabilities: DriverCapabilities;
  /** Sizes, by handle. */
  readonly sizes = new Map<string, string>();
  /** 'node id handle' */
  readonly attached = new Set<string>();
  /** The failures of the next calls. */
  readonly failures: DriverFailure[] = [];
  /** Every call that changes something: 'publish node-1 disk-a'. */
  readonly calls: string[] = [];
  /** Called for every real change, at the moment it happens. */
  onChange: (change: DiskChange) => void = () => undefined;
  /** Called before a disk is attached. A text: the driver refuses, for this reason. */
  refuses: (placement: PublishTarget) => string | undefined = () => undefined;
  #highest = 0;

  constructor(name = 'disks.example.com') {
    this.capabilities = { name, provisions: true, deletes: true, mountOptions: true, block: true, expands: 'always', attaches: true };
  }

  /** A disk that exists without a call of the driver. */
  provide(handle: string, capacity: string): void {
    if (this.sizes.has(handle)) return;
    this.sizes.set(handle, capacity);
    this.onChange({ type: 'provided', handle, capacity });
  }

  handleFor(name: string): string {
    return `disk-${name}`;
  }

  handleOf({ csi }: PersistentVolumeSource): string | undefined {
    return csi?.driver === this.capabilities.name ? csi.volumeHandle : undefined;
  }

  createVolume({ name, capacity }: CreateVolumeRequest, leader: Leader): Promise<DriverAnswer<Asset>> {
    const handle = this.handleFor(name);
    return this.perform(leader, `create ${handle}`, () => {
      if (!this.sizes.has(handle)) {
        this.sizes.set(handle, capacity);
        this.onChange({ type: 'created', handle, capacity });
      }
      return { handle, capacity: this.sizes.get(handle) ?? capacity, source: { csi: { driver: this.capabilities.name, volumeHandle: handle } } };
    });
  }

  async deleteVolume(handle: string, leader: Leader): Promise<DriverAnswer<undefined>> {
    // As CSI specifies for DeleteVolume: FAILED_PRECONDITION.
    if (Array.from(this.attached).some((place) => placementOf(place).handle === handle)) return failed('FailedPrecondition', `${handle} is attached`);
    return await this.perform(leader, `delete ${handle}`, () => {
      if (this.sizes.delete(handle)) this.onChange({ type: 'deleted', handle });
      return undefined;
    });
  }

  async listVolumes(): Promise<DriverAnswer<readonly string[]>> {
    return { ok: true, value: [...this.sizes.keys()] };
  }

  controllerExpandVolume({ handle, capacity }: { readonly handle: string; readonly capacity: string }, leader: Leader) {
    return this.perform(leader, `expand ${handle} ${capacity}`, () => {
      const before = this.sizes.get(handle) ?? capacity;
      if (compareQuantities(before, capacity) < 0) {
        this.sizes.set(handle, capacity);
        this.onChange({ type: 'grown', handle, capacity });
      }
      return { capacity: this.sizes.get(handle) ?? capacity, nodeExpansionRequired: false };
    });
  }

  readonly attacher: Attacher = {
    controllerPublishVolume: async ({ handle, nodeId }, leader) => {
      const refusal = this.refuses({ handle, nodeId });
      if (refusal !== undefined) return failed('FailedPrecondition', refusal);
      return await this.perform(leader, `publish ${nodeId} ${handle}`, () => {
        const place = `${nodeId} ${handle}`;
        const isNew = !this.attached.has(place);
        this.attached.add(place);
        if (isNew) this.onChange({ type: 'attached', handle, node: nodeId });
        return { device: `/dev/${handle}` };
      });
    },
    controllerUnpublishVolume: ({ handle, nodeId }, leader) =>
      this.perform(leader, `unpublish ${nodeId} ${handle}`, () => {
        if (this.attached.delete(`${nodeId} ${handle}`)) this.onChange({ type: 'detached', handle, node: nodeId });
        return undefined;
      }),
    listPublishedVolumes: async () => ({ ok: true, value: Array.from(this.attached, placementOf) }),
  };

  protected async perform<T>(leader: Leader, call: string, change: () => T): Promise<DriverAnswer<T>> {
    if (leader.epoch < this.#highest) return deposed(leader, this.#highest);
    this.#highest = leader.epoch;
    this.calls.push(call);
    const failure = this.failures.shift();
    // The end of a DeadlineExceeded call is unknown to the caller: here, it took effect.
    if (failure !== undefined && failure.code !== 'DeadlineExceeded') return failure;
    const value = change();
    return failure ?? { ok: true, value };
  }
}

function placementOf(text: string): PublishTarget {
  const [nodeId = '', handle = ''] = text.split(' ');
  return { handle, nodeId };
}
