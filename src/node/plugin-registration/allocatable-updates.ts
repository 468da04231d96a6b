import type { VolumeAttachment } from '../../api/generated/types.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { Cancel, Timers } from '../../world/world.ts';
import { isExhausted, updatePeriodMs } from '../volumes/attach-limit.ts';

export interface AllocatableUpdatesOptions {
  readonly node: string;
  readonly informers: Informers;
  readonly timers: Timers;
  /** Names of the registered drivers. */
  readonly registered: () => readonly string[];
  /** NodeGetInfo, and the CSINode after it. */
  readonly refresh: (driver: string) => Promise<void>;
}

/**
 * How many volumes a driver can attach to the node may change. Where its CSIDriver has `nodeAllocatableUpdatePeriodSeconds`, the driver is asked that often
 * (kubernetes/pkg/volume/csi/csi_node_updater.go), and at once when attaching a volume to this node failed with ResourceExhausted.
 */
export class AllocatableUpdates {
  readonly #options: AllocatableUpdatesOptions;
  readonly #timers = new Map<string, { readonly periodMs: number; cancel: Cancel }>();
  readonly #unsubscribe: readonly Cancel[];

  constructor(options: AllocatableUpdatesOptions) {
    this.#options = options;
    const { informers } = options;
    this.#unsubscribe = [
      informers.cache(csiDriverKind).subscribe(({ before, after }) => this.sync((after ?? before)?.metadata.name ?? '')),
      informers.cache(volumeAttachmentKind).subscribe(({ before, after }) => this.#onAttachment(before, after)),
    ];
  }

  /** The driver was registered or deregistered, or its CSIDriver has changed. */
  sync(driver: string): void {
    const periodMs = this.#periodOf(driver);
    const known = this.#timers.get(driver);
    if (known?.periodMs === periodMs) return;
    known?.cancel();
    this.#timers.delete(driver);
    if (periodMs !== undefined) this.#wait(driver, periodMs);
  }

  stop(): void {
    for (const cancel of this.#unsubscribe) cancel();
    for (const { cancel } of this.#timers.values()) cancel();
  }

  #wait(driver: string, periodMs: number): void {
    const cancel = this.#options.timers.after(periodMs, () => {
      this.#timers.delete(driver);
      void this.#options.refresh(driver).then(() => this.sync(driver));
    });
    this.#timers.set(driver, { periodMs, cancel });
  }

  /** Undefined: the driver is not asked again. */
  #periodOf(driver: string): number | undefined {
    if (!this.#options.registered().includes(driver)) return undefined;
    return updatePeriodMs(this.#options.informers.cache(csiDriverKind).getKey(driver));
  }

  #onAttachment(before: VolumeAttachment | undefined, after: VolumeAttachment | undefined): void {
    if (after === undefined || after.spec.nodeName !== this.#options.node || !isExhausted(after)) return;
    const isNews = before === undefined || before.status.attachError?.time !== after.status.attachError?.time || !isExhausted(before);
    if (isNews && this.#periodOf(after.spec.attacher) !== undefined) void this.#options.refresh(after.spec.attacher);
  }
}
