/** The scheduler's informers. */
import { csiDriverKind } from '../api/kinds/storage/csi-driver.ts';
import { csiNodeKind } from '../api/kinds/storage/csi-node.ts';
import { csiStorageCapacityKind } from '../api/kinds/storage/csi-storage-capacity.ts';
import { namespaceKind } from '../api/kinds/core/namespace.ts';
import { nodeKind } from '../api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../api/kinds/core/persistent-volume.ts';
import { podDisruptionBudgetKind } from '../api/kinds/policy/pod-disruption-budget.ts';
import { serviceKind } from '../api/kinds/core/service.ts';
import { storageClassKind } from '../api/kinds/storage/storage-class.ts';
import { volumeAttachmentKind } from '../api/kinds/storage/volume-attachment.ts';
import { podKind } from '../api/kinds/pod/pod.ts';
import { replicaSetKind } from '../api/kinds/apps/replica-set.ts';
import { statefulSetKind } from '../api/kinds/apps/stateful-set.ts';
import type { Informers } from '../client/informers/informers.ts';
import type { Cancel } from '../world/world.ts';
import type { ClusterEvent, ClusterSnapshot, ObjectView, ResourceName, Resources } from './framework.ts';

interface ResourceCache<T> extends ObjectView<T> {
  subscribe(listener: (change: { readonly before: T | undefined; readonly after: T | undefined }) => void): Cancel;
}

type Caches = { readonly [R in ResourceName]: ResourceCache<Resources[R]> };

export interface SchedulerInformers {
  readonly views: ClusterSnapshot['views'];
  /** Delivers every existing object, then every change. Pods come last, after the objects that they refer to. */
  subscribe(listener: (change: ClusterEvent) => void): Cancel;
}

export function schedulerInformers(informers: Informers): SchedulerInformers {
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
    subscribe: (listener) => {
      const cancels = (Object.keys(caches) as ResourceName[]).map((resource) =>
        // The resource name determines the kind of the cache; the compiler cannot follow that through a loop.
        (caches[resource] as ResourceCache<Resources[ResourceName]>).subscribe((change) => listener({ resource, ...change } as ClusterEvent)),
      );
      return () => {
        for (const cancel of cancels) cancel();
      };
    },
  };
}
