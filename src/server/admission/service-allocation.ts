import { type FieldError, invalid } from '../../api/field-error.ts';
import type { Service, ServicePort } from '../../api/generated/types.ts';
import { type ApiError, statusErrors } from '../../api/status.ts';
import type { Store } from '../../store/contract.ts';
import type { World } from '../../world/world.ts';
import { Allocation, ipPool, nodePortsOf, type Pool, portPool, releaseIp, releasePort, type Taken } from '../registry/service-addresses.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource } from './chain.ts';
import { keepAllocated, setIpFamilies, syncClusterIps } from './service-ip-fields.ts';

export interface ServiceNetwork {
  /** '10.96.0.0/12' */
  readonly serviceCidr: string;
  /** 30000 to 32767 */
  readonly nodePorts: { readonly first: number; readonly last: number };
}

export const defaultServiceNetwork: ServiceNetwork = { serviceCidr: '10.96.0.0/12', nodePorts: { first: 30_000, last: 32_767 } };

interface Work {
  readonly request: AdmissionRequest;
  readonly service: Service;
  readonly old: Service | undefined;
  readonly allocation: Allocation;
}

/** Services get the cluster IPs and node ports that they need, and give back those that they no longer do. */
export function serviceAllocation(network: ServiceNetwork, { store, world }: { readonly store: Store; readonly world: World }): AdmissionPlugin {
  const ips = ipPool(network.serviceCidr);
  const ports = portPool(network.nodePorts.first, network.nodePorts.last);

  const allocateIp = async ({ request, service, allocation }: Work): Promise<void> => {
    const { spec } = service;
    const asked = spec.clusterIPs?.[0] ?? '';
    if (asked === 'None') return;
    const taken = asked === '' ? await allocation.takeAny(ips, world.random) : await allocation.take(ips, asked);
    if (taken.type === 'refused') throw ipRefused(request, spec, asked, taken.why, ips);
    spec.clusterIP = taken.text;
    spec.clusterIPs = [taken.text, ...(spec.clusterIPs ?? []).slice(1)];
  };

  const allocatePort = async (work: Work, asked: number, field: string): Promise<number> => {
    const taken = asked === 0 ? await work.allocation.takeAny(ports, world.random) : await work.allocation.take(ports, String(asked));
    if (taken.type === 'taken') return Number(taken.text);
    if (taken.why === 'full') throw statusErrors.internal('failed to allocate a nodePort: range is full');
    const why =
      taken.why === 'allocated' ? 'provided port is already allocated' : `provided port is not in the valid range. The range of valid ports is ${ports.text}`;
    throw invalidService(work.request, [invalid(field, asked, why)]);
  };

  /** Ports of the same number (TCP and UDP, say) share a node port. */
  const allocatePorts = async (work: Work): Promise<void> => {
    const { service, old } = work;
    const kept = old === undefined ? new Set<number>() : nodePortsOf(old.spec);
    const byNumber = new Map<number, number>();
    const taken = new Set<number>();
    for (const [i, port] of (service.spec.ports ?? []).entries()) {
      const asked = port.nodePort ?? 0;
      if (asked === 0 && !allocatesNodePorts(service)) continue;
      const known = asked === 0 && old === undefined ? (byNumber.get(port.port) ?? requestedElsewhere(port, service.spec.ports ?? [])) : asked;
      if (known !== 0 && (kept.has(known) || taken.has(known))) port.nodePort = known;
      else port.nodePort = await allocatePort(work, known, `spec.ports[${i}].nodePort`);
      byNumber.set(port.port, port.nodePort);
      taken.add(port.nodePort);
    }
  };

  const allocateHealthCheck = async (work: Work): Promise<void> => {
    const { service, old } = work;
    if (!needsHealthCheck(service) || (old !== undefined && needsHealthCheck(old))) return;
    service.spec.healthCheckNodePort = await allocatePort(work, service.spec.healthCheckNodePort ?? 0, 'spec.healthCheckNodePort');
  };

  return {
    name: 'ServiceAllocation',
    handles: (operation, resource, subresource) => operation !== 'delete' && subresource === '' && isResource(resource, '', 'services'),
    mutate: async (request) => {
      const service = request.object as Service;
      const old = request.old as Service | undefined;
      const allocation = new Allocation(request.draft, store, `${request.namespace}/${service.metadata.name ?? service.metadata.generateName ?? ''}`);
      const work: Work = { request, service, old, allocation };
      if (old !== undefined) keepAllocated(service, old);
      syncClusterIps(service, old);
      const errors = setIpFamilies(service, old);
      if (errors.length > 0) throw invalidService(request, errors);
      if (needsClusterIp(service) && (old === undefined || !needsClusterIp(old))) await allocateIp(work);
      if (usesNodePorts(service)) await allocatePorts(work);
      await allocateHealthCheck(work);
      if (old !== undefined) releaseUnused(request, service, old);
    },
  };
}

const needsClusterIp = ({ spec }: Service): boolean => spec.type !== 'ExternalName';
const usesNodePorts = ({ spec }: Service): boolean => spec.type === 'NodePort' || spec.type === 'LoadBalancer';
const allocatesNodePorts = ({ spec }: Service): boolean => spec.type === 'NodePort' || spec.allocateLoadBalancerNodePorts !== false;
const needsHealthCheck = ({ spec }: Service): boolean => spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';

const requestedElsewhere = ({ port }: ServicePort, ports: readonly ServicePort[]): number =>
  ports.find((other) => other.port === port && (other.nodePort ?? 0) !== 0)?.nodePort ?? 0;

/** A type that needs no address, or a port that is gone, frees it. What the object still says about it is dropped with the other fields of the old type. */
function releaseUnused({ draft }: AdmissionRequest, service: Service, old: Service): void {
  if (needsClusterIp(old) && !needsClusterIp(service)) for (const ip of old.spec.clusterIPs ?? []) if (ip !== 'None') releaseIp(draft, ip);
  const used = usesNodePorts(service) ? nodePortsOf(service.spec) : new Set<number>();
  for (const port of nodePortsOf(old.spec)) if (!used.has(port)) releasePort(draft, port);
}

const invalidService = ({ resource, object }: AdmissionRequest, errors: readonly FieldError[]): ApiError =>
  statusErrors.invalid(resource.kind, object.metadata.name ?? '', errors);

function ipRefused(request: AdmissionRequest, spec: Service['spec'], asked: string, why: Extract<Taken, { type: 'refused' }>['why'], pool: Pool): ApiError {
  if (why === 'full')
    return statusErrors.internal(`failed to allocate a serviceIP for Service ${JSON.stringify(request.object.metadata.name ?? '')}: range is full`);
  const text =
    why === 'allocated' ? 'provided IP is already allocated' : `the provided IP (${asked}) is not in the valid range. The range of valid IPs is ${pool.text}`;
  return invalidService(request, [invalid('spec.clusterIPs', spec.clusterIPs, `failed to allocate IP ${asked}: ${text}`)]);
}
