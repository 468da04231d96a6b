/** What the scheduler follows, and under which kind. */
import { csiDriverKind } from '../api/kinds/csi-driver.ts';
import { csiNodeKind } from '../api/kinds/csi-node.ts';
import { csiStorageCapacityKind } from '../api/kinds/csi-storage-capacity.ts';
import { namespaceKind } from '../api/kinds/namespace.ts';
import { nodeKind } from '../api/kinds/node.ts';
import { persistentVolumeClaimKind } from '../api/kinds/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../api/kinds/persistent-volume.ts';
import { podDisruptionBudgetKind } from '../api/kinds/pod-disruption-budget.ts';
import { serviceKind } from '../api/kinds/service.ts';
import { storageClassKind } from '../api/kinds/storage-class.ts';
import { volumeAttachmentKind } from '../api/kinds/volume-attachment.ts';
import { podKind } from '../api/kinds/workloads/pod.ts';
import { replicaSetKind } from '../api/kinds/workloads/replica-set.ts';
import { statefulSetKind } from '../api/kinds/workloads/stateful-set.ts';
import type { Cache } from '../machinery/cache.ts';
import type { Informers } from '../machinery/informers.ts';
import type { Cancel } from '../world/world.ts';
import type { ClusterChange, ResourceName, Resources, Snapshot } from './framework.ts';

type Caches = { readonly [R in ResourceName]: Cache<Resources[R]> };

export interface Followed {
  readonly views: Snapshot['views'];
  readonly pods: Cache<Resources['pod']>;
  /** Told of every change from now on, and of everything that is here. Pods come last, when all that they need is known. */
  subscribe(listener: (change: ClusterChange) => void): Cancel;
}

export function follow(informers: Informers): Followed {
  const caches: Caches = {
    node: informers.cache(nodeKind),
    namespace: informers.cache(namespaceKind),
    claim: informers.cache(persistentVolumeClaimKind),
    volume: informers.cache(persistentVolumeKind),
    storageClass: informers.cache(storageClassKind),
    csiNode: informers.cache(csiNodeKind),
    csiDriver: informers.cache(csiDriverKind),
    storageCapacity: informers.cache(csiStorageCapacityKind),
    attachment: informers.cache(volumeAttachmentKind),
    disruptionBudget: informers.cache(podDisruptionBudgetKind),
    service: informers.cache(serviceKind),
    replicaSet: informers.cache(replicaSetKind),
    statefulSet: informers.cache(statefulSetKind),
    pod: informers.cache(podKind),
  };
  return {
    views: caches,
    pods: caches.pod,
    subscribe: (listener) => {
      const cancels = (Object.keys(caches) as ResourceName[]).map((resource) =>
        // A cache holds objects of one kind, which the name of the resource tells; the compiler cannot follow that through a loop.
        (caches[resource] as Cache<Resources[ResourceName]>).subscribe((change) => listener({ resource, ...change } as ClusterChange)),
      );
      return () => {
        for (const cancel of cancels) cancel();
      };
    },
  };
}
