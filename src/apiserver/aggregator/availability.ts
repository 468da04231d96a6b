import type { APIService, EndpointSlice, Service } from '../../api/generated/types.ts';

/** What the cluster knows about the Service of an APIService. */
export interface ApiServiceBackend {
  readonly service: Service | undefined;
  /** Of the Service. */
  readonly slices: readonly EndpointSlice[];
}

export interface Availability {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export const passed: Availability = { status: 'True', reason: 'Passed', message: 'all checks passed' };

/**
 * Why the server behind an APIService cannot be asked; undefined: it can. With the reasons of Kubernetes
 * (kube-aggregator/pkg/controllers/status/remote/remote_available_controller.go).
 */
export function unavailability({ spec }: APIService, { service, slices }: ApiServiceBackend): Availability | undefined {
  const { namespace = '', name = '', port = 443 } = spec.service ?? {};
  const named = `service/${name} in ${JSON.stringify(namespace)}`;
  if (service === undefined) return { status: 'False', reason: 'ServiceNotFound', message: `${named} is not present` };
  if ((service.spec.type ?? 'ClusterIP') !== 'ClusterIP') return undefined;
  const servicePort = (service.spec.ports ?? []).find((each) => each.port === port);
  if (servicePort === undefined) return { status: 'False', reason: 'ServicePortError', message: `${named} is not listening on port ${port}` };
  if (slices.length === 0) return { status: 'False', reason: 'EndpointsNotFound', message: `cannot find endpointslices for ${named}` };
  const portName = servicePort.name ?? '';
  if (slices.some((slice) => isReady(slice, portName))) return undefined;
  return { status: 'False', reason: 'MissingEndpoints', message: `endpointslices for ${named} have no addresses with port name ${JSON.stringify(portName)}` };
}

function isReady({ endpoints, ports }: EndpointSlice, portName: string): boolean {
  const isServed = (ports ?? []).some(({ name = '', port }) => name === portName && port !== undefined);
  return isServed && (endpoints ?? []).some(({ conditions }) => conditions.ready !== false);
}
