/** Which port of which pod a request to `pods/proxy` or `services/proxy` is for. */
import type { Endpoints, Pod, Service } from '../../api/generated/types.ts';
import { statusErrors } from '../../api/status.ts';
import type { Random } from '../../world/world.ts';

export interface ProxyName {
  readonly scheme: 'http' | 'https';
  readonly name: string;
  /** A number or a name; '': the first one. */
  readonly port: string;
}

/** 'web', 'web:80', 'https:web:admin', as Kubernetes' SplitSchemeNamePort. @throws ApiError */
export function parseProxyName(asked: string, kind: 'pod' | 'service'): ProxyName {
  const [, scheme = 'http', name = '', port = ''] = /^(?:(https?|):)?([^:]+)(?::([^:]*))?$/.exec(asked) ?? [];
  if (name === '') throw statusErrors.badRequest(`invalid ${kind} request ${JSON.stringify(asked)}`);
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port };
}

/** Without a port, the first one that a container names. @throws ApiError */
export function podPort({ spec }: Pod, port: string): number {
  if (port === '') return (spec.containers ?? []).flatMap(({ ports }) => ports ?? [])[0]?.containerPort ?? 80;
  return portNumber(port) ?? refuse(`invalid port ${JSON.stringify(port)} of a pod: it is a number from 1 to 65535`);
}

export interface ServiceBackend {
  readonly pod: string;
  readonly port: number;
}

/** A ready endpoint of the Service, chosen at random. @throws ApiError */
export function serviceBackend(service: Service, endpoints: Endpoints | undefined, port: string, random: Pick<Random, 'float'>): ServiceBackend {
  const name = service.metadata.name ?? '';
  const portName = servicePortName(service, port);
  const backends = (endpoints?.subsets ?? []).flatMap(({ addresses = [], ports = [] }) => {
    const found = portName === undefined ? ports[0] : ports.find((each) => (each.name ?? '') === portName);
    return found === undefined ? [] : addresses.map(({ targetRef }) => ({ pod: targetRef?.kind === 'Pod' ? (targetRef.name ?? '') : '', port: found.port }));
  });
  if (backends.length === 0)
    throw statusErrors.serviceUnavailable(`no endpoints available for service ${JSON.stringify(port === '' ? name : `${name}:${port}`)}`);
  const pods = backends.filter(({ pod }) => pod !== '');
  const chosen = pods[Math.floor(random.float() * pods.length)];
  if (chosen === undefined) throw statusErrors.serviceUnavailable(`the endpoints of service "${name}" are no pods: the proxy reaches only pods`);
  return chosen;
}

/** The name of the asked port; undefined: the first one, whatever its name. @throws ApiError */
function servicePortName({ metadata, spec }: Service, port: string): string | undefined {
  if (port === '') return undefined;
  const number = portNumber(port);
  const found = (spec.ports ?? []).find((each) => (number === undefined ? each.name === port : each.port === number));
  if (found !== undefined) return found.name ?? '';
  throw statusErrors.serviceUnavailable(`no service port ${JSON.stringify(port)} found for service ${JSON.stringify(metadata.name ?? '')}`);
}

function portNumber(text: string): number | undefined {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return number > 0 && number <= 65_535 ? number : undefined;
}

function refuse(message: string): never {
  throw statusErrors.badRequest(message);
}
