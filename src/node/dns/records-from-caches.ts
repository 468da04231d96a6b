import type { EndpointSlice, Service } from '../../api/generated/types.ts';
import { namespaceKind } from '../../api/kinds/core/namespace.ts';
import { serviceKind } from '../../api/kinds/core/service.ts';
import { endpointSliceKind } from '../../api/kinds/discovery/endpoint-slice.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { serviceOfSlice } from '../service-proxy/service-proxy.ts';
import type { ClusterRecords } from './records.ts';

export function clusterRecords(informers: Informers, domain = 'cluster.local'): ClusterRecords {
  const services = informers.cache(serviceKind);
  const slices = informers.cache(endpointSliceKind);
  const namespaces = informers.cache(namespaceKind);
  const [byService, byAddress, byClusterIp] = [slices.addIndex(serviceOfSlice), slices.addIndex(addressesOf), services.addIndex(clusterIpsOf)];
  return {
    domain,
    hasNamespace: (namespace) => namespaces.getKey(namespace) !== undefined,
    service: (namespace, name) => services.getKey(`${namespace}/${name}`),
    slices: (namespace, service) => byService.get(`${namespace}/${service}`),
    serviceAt: (ip) => byClusterIp.get(ip)[0],
    slicesAt: (ip) => byAddress.get(ip),
  };
}

const addressesOf = ({ endpoints }: EndpointSlice): readonly string[] => (endpoints ?? []).flatMap(({ addresses }) => addresses ?? []);
const clusterIpsOf = ({ spec }: Service): readonly string[] => (spec.clusterIPs ?? []).filter((ip) => ip !== 'None');
