import { type FieldError, invalid } from '../../../api/field-error.ts';
import type { Service, ServiceCIDR, ServicePort } from '../../../api/generated/types.ts';
import { isIpv4, parseCidr } from '../../../api/validation/ip.ts';
import { type ApiError, statusErrors } from '../../../api/status.ts';
import type { Store } from '../../../store/contract.ts';
import type { Random, World } from '../../../world/world.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import type { Resources } from '../../objects/resources.ts';
import { AddressAllocator, type AllocationResult, ipPool, nodePortsOf, type Pool, portPool, releaseIp, releasePort } from '../../objects/service-addresses.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource } from '../chain.ts';
import { keepAllocated, setIpFamilies, syncClusterIps } from './service-ip-fields.ts';

export interface ServiceNetwork {
  /** '10.96.0.0/12' */
  readonly serviceCidr: string;
  /** 30000 to 32767 */
  readonly nodePorts: { readonly first: number; readonly last: number };
}

export const defaultServiceNetwork: ServiceNetwork = { serviceCidr: '10.96.0.0/12', nodePorts: { first: 30_000, last: 32_767 } };

interface ServiceWrite {
  readonly request: AdmissionRequest;
  readonly service: Service;
  readonly old: Service | undefined;
  readonly allocation: AddressAllocator;
}

export interface ServiceAllocationContext {
  readonly store: Store;
  readonly world: World;
  readonly resources: Resources;
  readonly reader: ClusterReader;
}

/** Allocates cluster IPs and node ports for Services, and releases those that an update no longer needs. */
export function serviceAllocation(network: ServiceNetwork, { store, world, resources, reader }: ServiceAllocationContext): AdmissionPlugin {
  const ranges = async (): Promise<readonly string[]> => {
    const resource = resources.find('networking.k8s.io/v1', 'servicecidrs');
    return resource === undefined ? [] : rangesOf(await reader.list<ServiceCIDR>(resource, ''));
  };
  const allocator = new ServiceAllocator(network, world.random, ranges);
  return {
    name: 'ServiceAllocation',
    handles: (operation, resource, subresource) => operation !== 'delete' && subresource === '' && isResource(resource, '', 'services'),
    mutate: async (request) => {
      const service = request.object as Service;
      const old = request.old as Service | undefined;
      if (old !== undefined) keepAllocated(service, old);
      syncClusterIps(service, old);
      const errors = setIpFamilies(service, old);
      if (errors.length > 0) throw invalidService(request, errors);
      const owner = `${request.namespace}/${service.metadata.name ?? service.metadata.generateName ?? ''}`;
      await allocator.allocate({ request, service, old, allocation: new AddressAllocator(request.draft, store, owner) });
      if (old !== undefined) releaseUnused(request, service, old);
    },
  };
}

/** The IPv4 ranges of ServiceCIDRs that are not being deleted. */
const rangesOf = (all: readonly ServiceCIDR[]): readonly string[] =>
  all.flatMap(({ metadata, spec }) => (metadata.deletionTimestamp === undefined ? (spec.cidrs ?? []).filter(isUsableRange) : []));

/** A range of less than four addresses has none to give. */
function isUsableRange(cidr: string): boolean {
  const range = parseCidr(cidr);
  return range !== undefined && isIpv4(range.ip) && range.prefix <= 30;
}

class ServiceAllocator {
  readonly #ips: Pool;
  readonly #ports: Pool;
  readonly #random: Random;
  readonly #ranges: () => Promise<readonly string[]>;

  /** `ranges`: of all ServiceCIDRs, beside the one that the server was started with. */
  constructor({ serviceCidr, nodePorts }: ServiceNetwork, random: Random, ranges: () => Promise<readonly string[]>) {
    this.#ips = ipPool(serviceCidr);
    this.#ports = portPool(nodePorts.first, nodePorts.last);
    this.#random = random;
    this.#ranges = ranges;
  }

  async allocate(write: ServiceWrite): Promise<void> {
    const { service, old } = write;
    if (needsClusterIp(service) && (old === undefined || !needsClusterIp(old))) await this.#allocateIp(write);
    if (usesNodePorts(service)) await this.#allocatePorts(write);
    if (needsHealthCheck(service) && (old === undefined || !needsHealthCheck(old))) {
      service.spec.healthCheckNodePort = await this.#allocatePort(write, service.spec.healthCheckNodePort ?? 0, 'spec.healthCheckNodePort');
    }
  }

  async #allocateIp({ request, service, allocation }: ServiceWrite): Promise<void> {
    const { spec } = service;
    const requested = spec.clusterIPs?.[0] ?? '';
    if (requested === 'None') return;
    const taken = await this.#takeIp(requested, allocation);
    if (taken.type === 'refused' && taken.why === 'full') {
      throw statusErrors.internal(`failed to allocate a serviceIP for Service ${JSON.stringify(request.object.metadata.name ?? '')}: range is full`);
    }
    if (taken.type === 'refused') {
      const outside = `the provided IP (${requested}) is not in the valid range. The range of valid IPs is ${this.#ips.text}`;
      const why = taken.why === 'allocated' ? 'provided IP is already allocated' : outside;
      throw invalidService(request, [invalid('spec.clusterIPs', spec.clusterIPs, `failed to allocate IP ${requested}: ${why}`)]);
    }
    spec.clusterIP = taken.text;
    spec.clusterIPs = [taken.text, ...(spec.clusterIPs ?? []).slice(1)];
  }

  /** From the server's own range if it can be, else from the first ServiceCIDR that has the address, or a free one. */
  async #takeIp(requested: string, allocation: AddressAllocator): Promise<AllocationResult> {
    const take = (pool: Pool): Promise<AllocationResult> =>
      requested === '' ? allocation.allocateNext(pool, this.#random) : allocation.allocate(pool, requested);
    const first = await take(this.#ips);
    if (first.type === 'taken' || first.why === 'allocated') return first;
    for (const range of await this.#ranges()) {
      if (range === this.#ips.text) continue;
      const taken = await take(ipPool(range));
      if (taken.type === 'taken' || taken.why === 'allocated') return taken;
    }
    return first;
  }

  /** Ports of the same number (TCP and UDP, say) share a node port. */
  async #allocatePorts(write: ServiceWrite): Promise<void> {
    const { service, old } = write;
    const kept = old === undefined ? new Set<number>() : nodePortsOf(old.spec);
    const byNumber = new Map<number, number>();
    const requestedBy = requestedPorts(service.spec.ports ?? []);
    const taken = new Set<number>();
    for (const [i, port] of (service.spec.ports ?? []).entries()) {
      const requested = port.nodePort ?? 0;
      if (requested === 0 && !allocatesNodePorts(service)) continue;
      const known = requested === 0 && old === undefined ? (byNumber.get(port.port) ?? requestedBy.get(port.port) ?? 0) : requested;
      if (known !== 0 && (kept.has(known) || taken.has(known))) port.nodePort = known;
      else port.nodePort = await this.#allocatePort(write, known, `spec.ports[${i}].nodePort`);
      byNumber.set(port.port, port.nodePort);
      taken.add(port.nodePort);
    }
  }

  async #allocatePort({ request, allocation }: ServiceWrite, requested: number, field: string): Promise<number> {
    const taken = requested === 0 ? await allocation.allocateNext(this.#ports, this.#random) : await allocation.allocate(this.#ports, String(requested));
    if (taken.type === 'taken') return Number(taken.text);
    if (taken.why === 'full') throw statusErrors.internal('failed to allocate a nodePort: range is full');
    const outside = `provided port is not in the valid range. The range of valid ports is ${this.#ports.text}`;
    throw invalidService(request, [invalid(field, requested, taken.why === 'allocated' ? 'provided port is already allocated' : outside)]);
  }
}

const needsClusterIp = ({ spec }: Service): boolean => spec.type !== 'ExternalName';
const usesNodePorts = ({ spec }: Service): boolean => spec.type === 'NodePort' || spec.type === 'LoadBalancer';
const allocatesNodePorts = ({ spec }: Service): boolean => spec.type === 'NodePort' || spec.allocateLoadBalancerNodePorts !== false;
const needsHealthCheck = ({ spec }: Service): boolean => spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';

/** By port: the first node port that one of the ports with this number asks for. */
function requestedPorts(ports: readonly ServicePort[]): ReadonlyMap<number, number> {
  const requested = new Map<number, number>();
  for (const { port, nodePort = 0 } of ports) if (nodePort !== 0 && !requested.has(port)) requested.set(port, nodePort);
  return requested;
}

/** Releases addresses and ports that the new type or ports do not need. Their fields are dropped with the others of the old type. */
function releaseUnused({ draft }: AdmissionRequest, service: Service, old: Service): void {
  if (needsClusterIp(old) && !needsClusterIp(service)) for (const ip of old.spec.clusterIPs ?? []) if (ip !== 'None') releaseIp(draft, ip);
  const used = usesNodePorts(service) ? nodePortsOf(service.spec) : new Set<number>();
  for (const port of nodePortsOf(old.spec)) if (!used.has(port)) releasePort(draft, port);
}

const invalidService = ({ resource, object }: AdmissionRequest, errors: readonly FieldError[]): ApiError =>
  statusErrors.invalid(resource.kind, object.metadata.name ?? '', errors);
