import { persistentVolumeClaimKind } from '../api/kinds/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../api/kinds/persistent-volume.ts';
import { provisioner } from '../controllers/provisioner/controller.ts';
import { reclaimer } from '../controllers/reclaimer/controller.ts';
import { type BinderOptions, volumeBinder } from '../controllers/volume-binder/controller.ts';
import { VolumesView } from '../domain/volumes/view.ts';
import type { LedDrivers } from '../drivers/driver-set.ts';
import type { Client } from '../machinery/client.ts';
import type { Informers } from '../machinery/informers.ts';
import type { Recorder } from '../machinery/recorder.ts';
import { Bell } from '../machinery/loop.ts';
import { Tellings } from '../machinery/tellings.ts';
import type { World } from '../world/world.ts';

export interface StorageControllersOptions extends Pick<BinderOptions, 'bindTogether'> {
  readonly client: Client;
  readonly informers: Informers;
  readonly world: World;
  readonly recorder: Recorder;
  readonly drivers: LedDrivers;
}

/** The binder, the provisioner and the reclaimer. They see volumes and claims through one view, which hears of changes before they do. */
export function storageControllers({ recorder, drivers, ...options }: StorageControllersOptions) {
  const { informers, world } = options;
  const view = new VolumesView();
  informers.cache(persistentVolumeKind).subscribe(({ before, after }) => void view.changeVolume(before, after));
  informers.cache(persistentVolumeClaimKind).subscribe(({ before, after }) => void view.changeClaim(before, after));
  /** Each remembers what it said, and nothing of what the others did. */
  const common = () => ({ ...options, view, clock: world.clock, log: world.log, tellings: new Tellings(recorder, world.clock) });
  const [toMake, toBind] = [new Bell<string>(), new Bell<string>()];
  const { facts, create, delete: deleteAsset, deleteSource } = drivers;
  return {
    binder: volumeBinder({ ...common(), toMake, toBind }),
    // Drivers of this process are all there from the start.
    provisioner: provisioner({ ...common(), toMake, toBind, drivers: { facts, create, delete: deleteAsset, onAppear: () => () => undefined } }),
    reclaimer: reclaimer({ ...common(), drivers: { facts, delete: deleteSource } }),
  };
}
