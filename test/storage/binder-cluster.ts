/** A simulated cluster with nothing but a server and volume binders, any number of which may come and go. */
import { erased } from '../../src/api/kind.ts';
import { eventKind } from '../../src/api/kinds/event.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/persistent-volume.ts';
import { volumeBinder } from '../../src/controllers/volume-binder/controller.ts';
import { VolumesView } from '../../src/domain/volumes/view.ts';
import { createClient } from '../../src/machinery/client.ts';
import { Informers } from '../../src/machinery/informers.ts';
import { type Loop, type LoopOptions, runController } from '../../src/machinery/loop.ts';
import { Recorder } from '../../src/machinery/recorder.ts';
import type { Transport } from '../../src/machinery/transport.ts';
import type { World } from '../../src/world/world.ts';
import type { TestCluster } from '../machinery/cluster.ts';

export function runBinder(transport: Transport, world: World, more: Partial<LoopOptions> = {}): Loop {
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  const client = createClient({ transport, observer: informers.observer });
  const view = new VolumesView();
  informers.cache(persistentVolumeKind).subscribe(({ before, after }) => void view.changeVolume(before, after));
  informers.cache(persistentVolumeClaimKind).subscribe(({ before, after }) => void view.changeClaim(before, after));
  const recorder = new Recorder({ world, client, eventKind, component: 'persistentvolume-controller' });
  const loop = runController(volumeBinder({ client, informers, view, recorder, clock: world.clock, log: world.log }), { world, informers, ...more });
  informers.start();
  return loop;
}

/** 'pv/vol Bound default/data', 'pvc/data Bound vol': sorted. */
export async function look({ client }: TestCluster): Promise<string[]> {
  const [volumes, claims] = await Promise.all([client.list(persistentVolumeKind), client.list(persistentVolumeClaimKind)]);
  if (!volumes.ok) throw volumes.error;
  if (!claims.ok) throw claims.error;
  return [
    ...volumes.value.items.map(({ metadata, spec, status }) =>
      [`pv/${metadata.name ?? ''}`, status.phase, spec.claimRef?.name].filter((word) => word !== undefined).join(' '),
    ),
    ...claims.value.items.map(({ metadata, spec, status }) =>
      [`pvc/${metadata.name ?? ''}`, status.phase, spec.volumeName].filter((word) => word !== undefined).join(' '),
    ),
  ].sort();
}

export const kinds = { volume: erased(persistentVolumeKind), claim: erased(persistentVolumeClaimKind) };
