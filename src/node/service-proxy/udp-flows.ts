/**
 * Connection tracking of UDP. The kernel sends the packets of a flow (same addresses and ports) where its first packet was sent, as long as packets come: a client that
 * goes on sending from one port would for ever reach a pod that is gone. So its entries are removed, as kube-proxy does (pkg/proxy/conntrack). Packets to a Service without
 * endpoints are refused, which leaves no entry.
 */
import type { EndpointSlice, Service } from '../../api/generated/types.ts';
import { clusterEndpoints, endpointsOf, localEndpoints, type ProxyLocation } from './endpoints.ts';

export interface UdpSnapshot {
  readonly service: Service;
  /** Those of the Service. */
  readonly slices: readonly EndpointSlice[];
  readonly location: ProxyLocation;
}

/** 'ADDRESS PORT' of all endpoints that packets of UDP may be sent to. */
export function udpEndpoints({ service, slices, location }: UdpSnapshot): ReadonlySet<string> {
  const found = new Set<string>();
  for (const port of service.spec.ports ?? []) {
    if (port.protocol !== 'UDP') continue;
    const all = endpointsOf(port, slices, location);
    for (const each of [...clusterEndpoints(service, all, location), ...localEndpoints(all)]) found.add(`${each.ip} ${each.port}`);
  }
  return found;
}

/** For conntrack(8): removes the flows that are led to an endpoint. */
export function removeFlows(endpoint: string): readonly string[] {
  const [address = '', port = ''] = endpoint.split(' ');
  return ['-D', '-f', 'ipv4', '-p', 'udp', '--dst-nat', address, '--reply-port-src', port];
}
