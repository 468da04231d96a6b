/** A Service and its EndpointSlices → its part of the table: kube-proxy's nftables mode, with one chain for each port instead of each endpoint. */
import type { EndpointSlice, Service, ServicePort } from '../../api/generated/types.ts';
import { ipv4Address, ipv4Network } from '../network/ipv4.ts';
import type { RulesetPart } from '../network/nftables/ruleset.ts';
import { clusterEndpoints, endpointsOf, isPort, localEndpoints, type ProxyEndpoint, type ProxyLocation } from './endpoints.ts';
import { chains, sets } from '../network/table.ts';

export interface ServiceSnapshot {
  readonly service: Service;
  /** Those of the Service. */
  readonly slices: readonly EndpointSlice[];
  readonly location: ProxyLocation;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

export type ServiceRules = { readonly ok: true; readonly part: RulesetPart } | { readonly ok: false; readonly problem: string };

/** What one Service may cost the kernel: ports times endpoints. */
const mostTargets = 100_000;
const protocols = new Set(['TCP', 'UDP', 'SCTP']);

/** Undefined: the Service has no address that packets are sent to (it is headless, or an ExternalName). */
export function serviceRules(snapshot: ServiceSnapshot): ServiceRules | undefined {
  const { service, slices, location } = snapshot;
  const { spec } = service;
  const clusterIps = (spec.clusterIPs ?? [spec.clusterIP ?? '']).flatMap(ipv4Address);
  if (spec.type === 'ExternalName' || clusterIps.length === 0) return undefined;
  const draft = new PartDraft();
  let targets = 0;
  for (const ip of clusterIps) draft.element(sets.clusterIps, ip, '');
  for (const port of spec.ports ?? []) {
    if (!isPort(port.port) || !protocols.has(port.protocol ?? 'TCP')) continue;
    const endpoints = endpointsOf(port, slices, location);
    targets += endpoints.length + 1;
    if (targets > mostTargets) return { ok: false, problem: `it has more than ${mostTargets} ports times endpoints` };
    addPort(draft, { ...snapshot, port, endpoints, clusterIps });
  }
  return { ok: true, part: draft };
}

interface PortSnapshot extends ServiceSnapshot {
  readonly port: ServicePort;
  readonly endpoints: readonly ProxyEndpoint[];
  readonly clusterIps: readonly string[];
}

function addPort(draft: PartDraft, snapshot: PortSnapshot): void {
  const { service, port, endpoints, clusterIps, location, sha256 } = snapshot;
  const { metadata, spec, status } = service;
  const protocol = (port.protocol ?? 'TCP').toLowerCase();
  const id = sha256(`${metadata.namespace ?? ''}/${metadata.name ?? ''}/${protocol}/${port.name ?? ''}/${port.port}`).slice(0, 16);
  const [everywhere, here] = [clusterEndpoints(service, endpoints, location), localEndpoints(endpoints)];
  const usesLocal = spec.internalTrafficPolicy === 'Local';
  const isLocalOutside = spec.externalTrafficPolicy === 'Local';
  const nodePort = isPort(port.nodePort) ? port.nodePort : undefined;
  const externalIps = (spec.externalIPs ?? []).flatMap(ipv4Address);
  const balancerIps = (status?.loadBalancer.ingress ?? []).flatMap(({ ip = '', ipMode }) => (ipMode === 'Proxy' ? [] : ipv4Address(ip)));
  const hasOutside = nodePort !== undefined || externalIps.length + balancerIps.length > 0;
  const targets: Targets = { id, protocol, affinitySeconds: affinityOf(service), comment: commentOf(service, port) };
  const all = !usesLocal || hasOutside ? draft.targets(`service-${id}`, everywhere, targets) : undefined;
  const local = usesLocal || (hasOutside && isLocalOutside) ? draft.targets(`local-${id}`, here, targets) : undefined;

  const inside = usesLocal ? local : all;
  const refused = everywhere.length === 0 ? `goto ${chains.reject}` : 'drop';
  for (const ip of clusterIps)
    draft.goto(`${ip} . ${protocol} . ${port.port}`, { set: sets.serviceIps, chain: inside, otherwise: sets.noEndpointIps, refused });
  if (!hasOutside) return;
  const outside = isLocalOutside ? draft.external(`external-${id}`, all, local) : all;
  const isRefused = (isLocalOutside ? local : all) === undefined;
  const entries = { chain: outside, refused };
  if (nodePort !== undefined)
    draft.goto(`${protocol} . ${nodePort}`, { ...entries, set: sets.nodePorts, otherwise: sets.noEndpointNodePorts, isAlsoRefused: isRefused });
  const guarded = balancerIps.length === 0 ? outside : draft.firewall(`firewall-${id}`, outside, spec.loadBalancerSourceRanges ?? []);
  for (const [ips, chain] of [[externalIps, outside] as const, [balancerIps, guarded] as const])
    for (const ip of ips)
      draft.goto(`${ip} . ${protocol} . ${port.port}`, { refused, chain, set: sets.externalIps, otherwise: sets.noEndpointIps, isAlsoRefused: isRefused });
}

/** Undefined: connections of one client may go to different endpoints. */
function affinityOf({ spec }: Service): number | undefined {
  if (spec.sessionAffinity !== 'ClientIP') return undefined;
  const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 10_800;
  return Number.isInteger(seconds) && seconds > 0 && seconds <= 86_400 ? seconds : 10_800;
}

/** For the reader of `nft list`. The API server validates names; a quote would still end the comment. */
const commentOf = ({ metadata }: Service, { name }: ServicePort): string =>
  `${metadata.namespace ?? ''}/${metadata.name ?? ''}${name === undefined ? '' : `:${name}`}`.replaceAll(/[^\w./:-]/g, '_').slice(0, 100);

interface Targets {
  readonly id: string;
  readonly protocol: string;
  readonly affinitySeconds: number | undefined;
  readonly comment: string;
}

interface Goto {
  readonly set: string;
  /** Undefined: no endpoint. */
  readonly chain: string | undefined;
  readonly otherwise: string;
  readonly refused: string;
  /** The chain is for some clients only: the others are refused. */
  readonly isAlsoRefused?: boolean;
}

class PartDraft implements RulesetPart {
  readonly chains = new Map<string, readonly string[]>();
  readonly sets = new Map<string, string>();
  readonly elements = new Map<string, Map<string, string>>();

  element(set: string, key: string, value: string): void {
    let elements = this.elements.get(set);
    if (elements === undefined) {
      elements = new Map();
      this.elements.set(set, elements);
    }
    // Two ports of one number and protocol: the first counts.
    if (!elements.has(key)) elements.set(key, value);
  }

  goto(key: string, { set, chain, otherwise, refused, isAlsoRefused = false }: Goto): void {
    if (chain !== undefined) this.element(set, key, `goto ${chain}`);
    if (chain === undefined || isAlsoRefused) this.element(otherwise, key, refused);
  }

  /** A chain that sends each connection to one of the endpoints; undefined: there is none. */
  targets(chain: string, endpoints: readonly ProxyEndpoint[], targets: Targets): string | undefined {
    if (endpoints.length === 0) return undefined;
    for (const { ip } of endpoints) this.element(sets.hairpin, `${ip} . ${ip}`, '');
    this.chains.set(chain, targets.affinitySeconds === undefined ? [spread(endpoints, targets)] : this.#affine(endpoints, targets, targets.affinitySeconds));
    return chain;
  }

  /** A chain and a set of clients for each endpoint. A set keeps its clients while the endpoint stays. */
  #affine(endpoints: readonly ProxyEndpoint[], { id, protocol, comment }: Targets, seconds: number): readonly string[] {
    const names = endpoints.map(({ ip, port }) => {
      const name = `${id}-${ip}-${port}`;
      this.sets.set(`affinity-${name}-${seconds}`, `type ipv4_addr; flags dynamic,timeout; timeout ${seconds}s;`);
      this.chains.set(`endpoint-${name}`, [
        `update @affinity-${name}-${seconds} { ip saddr }`,
        `meta l4proto ${protocol} dnat to ${ip}:${port} comment "${comment}"`,
      ]);
      return name;
    });
    return [
      ...names.map((name) => `ip saddr @affinity-${name}-${seconds} goto endpoint-${name}`),
      names.length === 1
        ? `goto endpoint-${names[0] ?? ''}`
        : `numgen random mod ${names.length} vmap { ${names.map((name, i) => `${i} : goto endpoint-${name}`).join(', ')} }`,
    ];
  }

  /** Policy Local: pods and the host itself reach all endpoints, others those of this node. Undefined: nothing is reached. */
  external(chain: string, all: string | undefined, local: string | undefined): string | undefined {
    if (all === undefined && local === undefined) return undefined;
    const inside = all === undefined ? [] : [`ip saddr @${sets.podCidrs} goto ${all}`, `fib saddr type local goto ${all}`];
    this.chains.set(chain, [...inside, ...(local === undefined ? [] : [`goto ${local}`])]);
    return chain;
  }

  /** Only these networks reach the load balancer's addresses. */
  firewall(chain: string, target: string | undefined, ranges: readonly string[]): string | undefined {
    const networks = ranges.flatMap((range) => ipv4Network(range.trim()));
    if (target === undefined || ranges.length === 0) return target;
    this.chains.set(chain, [...(networks.length === 0 ? [] : [`ip saddr { ${[...new Set(networks)].join(', ')} } goto ${target}`]), 'drop']);
    return chain;
  }
}

function spread(endpoints: readonly ProxyEndpoint[], { protocol, comment }: Targets): string {
  const [first] = endpoints;
  const target =
    endpoints.length === 1 && first !== undefined
      ? `dnat to ${first.ip}:${first.port}`
      : `dnat ip to numgen random mod ${endpoints.length} map { ${endpoints.map(({ ip, port }, i) => `${i} : ${ip} . ${port}`).join(', ')} }`;
  return `meta l4proto ${protocol} ${target} comment "${comment}"`;
}
