/** Those who work beside the storage controllers, in the simplest form: protection, which lets deleted objects go, and a kubelet that runs scrubbers. */
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../src/api/generated/types.ts';
import type { Kind } from '../../src/api/kind.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { withFinalizers } from '../../src/storage/volumes/edits.ts';
import type { SimulatedWorld } from '../../src/sim/world/world.ts';
import type { StorageCluster } from './storage-cluster.ts';

export function runOtherComponents(cluster: StorageCluster, world: SimulatedWorld, { scrubFails }: { readonly scrubFails: number }): void {
  const random = world.random.fork();
  const round = async () => {
    await letGo(cluster, persistentVolumeClaimKind, 'kubernetes.io/pvc-protection', () => true);
    await letGo(cluster, persistentVolumeKind, 'kubernetes.io/pv-protection', ({ status }) => status.phase !== 'Bound');
    await endPods(cluster, () => (random.float() < scrubFails ? 'Failed' : 'Succeeded'));
    world.timers.after(200, () => void round());
  };
  void round();
}

async function letGo<T extends PersistentVolume | PersistentVolumeClaim>(
  { client }: StorageCluster,
  kind: Kind<T>,
  finalizer: string,
  mayGo: (object: T) => boolean,
): Promise<void> {
  const all = await client.list(kind);
  for (const object of all.ok ? all.value.items : []) {
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes(finalizer) || !mayGo(object)) continue;
    await client.update(
      kind,
      withFinalizers(
        object,
        finalizers.filter((name) => name !== finalizer),
      ),
    );
  }
}

async function endPods({ client }: StorageCluster, how: () => 'Succeeded' | 'Failed'): Promise<void> {
  const all = await client.list(podKind);
  for (const pod of all.ok ? all.value.items : []) {
    if (pod.status.phase !== 'Pending') continue;
    const ended: Pod = { ...pod, status: { ...pod.status, phase: how() } };
    await client.updateStatus(podKind, ended);
  }
}
