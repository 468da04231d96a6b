import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { provisioner, type ProvisionerOptions } from '../../storage/provisioner/controller.ts';
import { reclaimer, type ReclaimerOptions } from '../../storage/reclaimer/controller.ts';
import { volumeBinder } from '../../storage/binder/controller.ts';
import { VolumesView } from '../../storage/volumes/view.ts';
import type { FencedDrivers } from '../../drivers/driver-set.ts';
import type { Client } from '../../client/client.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { Trigger } from '../../client/controller/loop.ts';
import { RecordedEvents } from '../../client/events/event-dedup.ts';
import type { World } from '../../world/world.ts';

export interface StorageControllersOptions extends Pick<ProvisionerOptions, 'bindTogether'>, Pick<ReclaimerOptions, 'listDirectory'> {
  readonly client: Client;
  readonly informers: Informers;
  readonly world: World;
  readonly recorder: EventRecorder;
  readonly drivers: FencedDrivers;
  /** The server has the kinds of snapshots. */
  readonly hasSnapshots: boolean;
  /** The server has VolumePopulators and ReferenceGrants. */
  readonly hasDataSources: boolean;
}

/** The binder, the provisioner and the reclaimer. They share one view of PVs and PVCs, which is updated before they are woken. */
export function storageControllers({ recorder, drivers, ...options }: StorageControllersOptions) {
  const { informers, world } = options;
  const view = new VolumesView();
  informers.cache(persistentVolumeKind).subscribe(({ before, after }) => void view.changeVolume(before, after));
  informers.cache(persistentVolumeClaimKind).subscribe(({ before, after }) => void view.changeClaim(before, after));
  /** Each controller deduplicates its own events. */
  const common = () => ({ ...options, view, clock: world.clock, log: world.log, events: new RecordedEvents(recorder, world.clock) });
  const [provisionTrigger, bindTrigger] = [new Trigger<string>(), new Trigger<string>()];
  const { facts, onChange, create, delete: deleteAsset, deleteSource } = drivers;
  const restores = (name: string): boolean => drivers.snapshots(name).ofVolumes;
  return {
    binder: volumeBinder({ ...common(), provisionTrigger, bindTrigger }),
    provisioner: provisioner({ ...common(), provisionTrigger, bindTrigger, drivers: { facts, onChange, create, delete: deleteAsset, restores } }),
    reclaimer: reclaimer({ ...common(), drivers: { facts, onChange, delete: deleteSource } }),
  };
}
