import { serviceKind } from '../../api/kinds/service.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import { hasEnded } from '../../domain/volumes/pods.ts';
import type { Informers } from '../../machinery/informers.ts';
import type { NamesSight } from './addresses.ts';

/** Services and pods as the node sees them. */
export function namesFrom(informers: Informers, domain = 'cluster.local'): NamesSight {
  const services = informers.cache(serviceKind);
  const pods = informers.cache(podKind).addIndex((pod) => (hasEnded(pod) ? [] : [pod.metadata.namespace ?? '']));
  return { domain, service: (namespace, name) => services.getKey(`${namespace}/${name}`), pods: (namespace) => pods.get(namespace) };
}
