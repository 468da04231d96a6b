/** The endpoints of a Service port, and which of them get traffic: kube-proxy's rules (pkg/proxy/topology.go). */
import type { Endpoint, EndpointSlice, Service, ServicePort } from '../../api/generated/types.ts';
import { validateEndpointIp } from '../../api/validation/endpoint-ip.ts';
import { ipv4Address } from '../network/ipv4.ts';

export interface ProxyEndpoint {
  readonly ip: string;
  readonly port: number;
  /** On a node whose pods this proxy serves. */
  readonly isLocal: boolean;
  readonly ready: boolean;
  /** Serving and terminating: used where no endpoint is ready. */
  readonly servesWhileTerminating: boolean;
  readonly zones: readonly string[];
  readonly nodes: readonly string[];
}

/** Where this proxy runs. */
export interface ProxyLocation {
  /** The nodes whose pods it serves. */
  readonly nodes: ReadonlySet<string>;
  /** '': it is in none. */
  readonly zone: string;
}

/** An IPv4 address that may be an endpoint: neither loopback nor link-local. Its text is the kernel's. */
function endpointAddress(text: string): string | undefined {
  const [address] = ipv4Address(text);
  return address !== undefined && validateEndpointIp(address, '').length === 0 ? address : undefined;
}

export const isPort = (port: number | undefined): port is number => port !== undefined && Number.isInteger(port) && port > 0 && port <= 65_535;

/** Each address and port once, in a fixed order. */
export function endpointsOf(port: ServicePort, slices: readonly EndpointSlice[], location: ProxyLocation): readonly ProxyEndpoint[] {
  const found = new Map<string, ProxyEndpoint>();
  for (const { addressType, ports, endpoints } of slices) {
    if (addressType !== 'IPv4') continue;
    const target = (ports ?? []).find(({ name = '', protocol = 'TCP' }) => name === (port.name ?? '') && protocol === (port.protocol ?? 'TCP'))?.port;
    if (!isPort(target)) continue;
    for (const endpoint of endpoints ?? []) {
      const made = proxyEndpoint(endpoint, target, location);
      if (made !== undefined) found.set(`${made.ip}:${made.port}`, preferred(found.get(`${made.ip}:${made.port}`), made));
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, endpoint]) => endpoint);
}

/** While a pod moves from one slice to another, both may have it: the ready one counts. */
const preferred = (known: ProxyEndpoint | undefined, made: ProxyEndpoint): ProxyEndpoint => (known?.ready === true ? known : made);

function proxyEndpoint({ addresses, conditions, nodeName, hints }: Endpoint, port: number, { nodes }: ProxyLocation): ProxyEndpoint | undefined {
  // The addresses of one endpoint are interchangeable: kube-proxy uses the first.
  const ip = endpointAddress(addresses?.[0] ?? '');
  if (ip === undefined) return undefined;
  const { ready = true, terminating = false } = conditions;
  const serving = conditions.serving ?? ready;
  return {
    ip,
    port,
    isLocal: nodeName !== undefined && nodes.has(nodeName),
    ready,
    servesWhileTerminating: serving && terminating,
    zones: (hints?.forZones ?? []).map(({ name }) => name),
    nodes: (hints?.forNodes ?? []).map(({ name }) => name),
  };
}

/** Those that get the traffic of a policy 'Cluster'. */
export function clusterEndpoints({ spec }: Service, all: readonly ProxyEndpoint[], location: ProxyLocation): readonly ProxyEndpoint[] {
  const ready = all.filter((endpoint) => endpoint.ready);
  if (ready.length === 0) return all.filter((endpoint) => endpoint.servesWhileTerminating);
  return spec.trafficDistribution === undefined ? ready : nearest(ready, location);
}

/** Hints count only if every endpoint has one; those for this node come first. */
function nearest(ready: readonly ProxyEndpoint[], { nodes, zone }: ProxyLocation): readonly ProxyEndpoint[] {
  const here = ready.filter((endpoint) => endpoint.nodes.some((name) => nodes.has(name)));
  if (here.length > 0 && ready.every((endpoint) => endpoint.nodes.length > 0)) return here;
  const near = zone === '' ? [] : ready.filter(({ zones }) => zones.includes(zone));
  return near.length > 0 && ready.every(({ zones }) => zones.length > 0) ? near : ready;
}

/** Those that get the traffic of a policy 'Local'. */
export function localEndpoints(all: readonly ProxyEndpoint[]): readonly ProxyEndpoint[] {
  const local = all.filter(({ isLocal }) => isLocal);
  const ready = local.filter((endpoint) => endpoint.ready);
  return ready.length > 0 ? ready : local.filter((endpoint) => endpoint.servesWhileTerminating);
}
