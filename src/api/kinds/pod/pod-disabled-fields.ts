import type { PodSpec, PodStatus } from '../../generated/types.ts';
import { allContainers } from './pod-parts.ts';

/**
 * Fields of features whose feature gates are off by default in Kubernetes 1.36: what a client sends in them is dropped, as
 * if it had not been sent. In place.
 */
export function dropDisabledFields(spec: PodSpec): void {
  delete spec.schedulingGroup;
  for (const volume of spec.volumes ?? []) {
    for (const source of volume.projected?.sources ?? []) {
      delete source.clusterTrustBundle;
      delete source.podCertificate;
    }
  }
  for (const { container } of allContainers(spec, '')) {
    if (container.lifecycle?.stopSignal === undefined) continue;
    delete container.lifecycle.stopSignal;
    if (Object.keys(container.lifecycle).length === 0) delete container.lifecycle;
  }
}

export function dropDisabledStatusFields(status: PodStatus): void {
  delete status.nodeAllocatableResourceClaimStatuses;
  const containers = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? []), ...(status.ephemeralContainerStatuses ?? [])];
  for (const container of containers) for (const mount of container.volumeMounts ?? []) delete mount.volumeStatus;
}
