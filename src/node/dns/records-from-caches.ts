import { serviceKind } from '../../api/kinds/core/service.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { ClusterRecords } from './records.ts';

export function clusterRecords(informers: Informers, domain = 'cluster.local'): ClusterRecords {
  const services = informers.cache(serviceKind);
  const pods = informers.cache(podKind).addIndex((pod) => (hasEnded(pod) ? [] : [pod.metadata.namespace ?? '']));
  return { domain, service: (namespace, name) => services.getKey(`${namespace}/${name}`), pods: (namespace) => pods.get(namespace) };
}
