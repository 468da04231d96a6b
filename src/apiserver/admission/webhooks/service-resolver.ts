import type { Endpoints, EndpointSlice, Service, ServicePort, ServiceReference } from '../../../api/generated/types.ts';
import { qualifiedResource } from '../../../api/kind.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Random } from '../../../world/world.ts';
import type { Resources } from '../../objects/resources.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Resolves a Service to one of its endpoints (kube-apiserver: --enable-aggregator-routing), since the server's network may not
 * route cluster IPs.
 */
export class ServiceResolver {
  readonly #reader: ClusterReader;
  readonly #resources: Resources;
  readonly #random: Random;

  constructor(reader: ClusterReader, resources: Resources, random: Random) {
    this.#reader = reader;
    this.#resources = resources;
    this.#random = random;
  }

  /** @throws Error in Kubernetes' words */
  async resolve({ namespace, name, port = 443 }: ServiceReference): Promise<Address> {
    const services = this.#resources.require('v1', 'services');
    const service = await this.#reader.get<Service>(services, namespace, name);
    if (service === undefined) throw new Error(`${qualifiedResource(services.kind).replace(/s$/, '')} ${JSON.stringify(name)} not found`);
    if (service.spec.type === 'ExternalName') return { host: service.spec.externalName ?? '', port };
    const found = (service.spec.ports ?? []).find((one) => one.port === port);
    if (found === undefined) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`);
    const addresses = [...(await this.#inSlices(service, found)), ...(await this.#inEndpoints(service, found))];
    const chosen = addresses[Math.floor(this.#random.float() * addresses.length)];
    if (chosen === undefined) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
    return chosen;
  }

  async #inSlices({ metadata }: Stored<Service>, wanted: ServicePort): Promise<Address[]> {
    const { namespace = '', name } = metadata;
    const slices = await this.#reader.list<EndpointSlice>(this.#resources.require('discovery.k8s.io/v1', 'endpointslices'), namespace);
    return slices
      .filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === name)
      .flatMap((slice) => {
        const { port } = (slice.ports ?? []).find((one) => (one.name ?? '') === (wanted.name ?? '')) ?? {};
        if (port === undefined) return [];
        return (slice.endpoints ?? []).flatMap(({ addresses, conditions }) =>
          conditions.ready === false ? [] : (addresses ?? []).slice(0, 1).map((host) => ({ host, port })),
        );
      });
  }

  /** For a Service without a selector: its Endpoints object. */
  async #inEndpoints({ metadata, spec }: Stored<Service>, wanted: ServicePort): Promise<Address[]> {
    if (Object.keys(spec.selector ?? {}).length > 0) return [];
    const { namespace = '', name } = metadata;
    const endpoints = await this.#reader.get<Endpoints>(this.#resources.require('v1', 'endpoints'), namespace, name);
    return (endpoints?.subsets ?? []).flatMap(({ addresses = [], ports = [] }) => {
      const found = ports.find((one) => (one.name ?? '') === (wanted.name ?? ''));
      return found === undefined ? [] : addresses.map(({ ip }) => ({ host: ip, port: found.port }));
    });
  }
}
