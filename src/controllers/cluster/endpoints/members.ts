/** Which pods are endpoints of a Service, and under which addresses and ports: rules that EndpointSlices and Endpoints share. */
import type { ObjectReference, Pod, Service, ServicePort } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { formatIp, isIpv4, parseIp } from '../../../api/validation/ip.ts';
import { isPodTerminal } from '../../pods/state.ts';

export type IpFamily = 'IPv4' | 'IPv6';

/** Endpoints of Services without selector, and of ExternalName Services, are not managed by these controllers. */
export const isSelecting = ({ spec }: Service): boolean => spec.selector !== undefined && spec.type !== 'ExternalName';

/** The pod has an address and has not ended. `alsoIfGoing`: terminating pods count too. */
export function isReachable(pod: Pod, { alsoIfGoing }: { readonly alsoIfGoing: boolean }): boolean {
  const { podIP = '', podIPs = [] } = pod.status;
  return !isPodTerminal(pod) && (podIP !== '' || podIPs.length > 0) && (alsoIfGoing || pod.metadata.deletionTimestamp === undefined);
}

/** In canonical form. */
export function addressesOf({ status }: Pod, family: IpFamily): readonly string[] {
  const ips = status.podIPs ?? (status.podIP === undefined ? [] : [{ ip: status.podIP }]);
  return ips.flatMap(({ ip }) => {
    const parsed = parseIp(ip);
    return parsed !== undefined && isIpv4(parsed) === (family === 'IPv4') ? [formatIp(parsed)] : [];
  });
}

/** The pod's hostname, if the Service is its `spec.subdomain`, as for the pods of a StatefulSet. */
export function hostnameBelow({ metadata }: Stored<Service>, pod: Stored<Pod>): string | undefined {
  const { hostname = '', subdomain = '' } = pod.spec;
  return hostname !== '' && subdomain === metadata.name && metadata.namespace === pod.metadata.namespace ? hostname : undefined;
}

/** Undefined: the pod has no port of that name. */
export function portOf({ spec }: Pod, { targetPort, protocol = 'TCP' }: ServicePort): number | undefined {
  if (typeof targetPort === 'number') return targetPort;
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const named = [...(spec.containers ?? []), ...sidecars]
    .flatMap(({ ports }) => ports ?? [])
    .find((port) => port.name === targetPort && (port.protocol ?? 'TCP') === protocol);
  return named?.containerPort;
}

export const isHeadless = ({ spec }: Service): boolean => spec.clusterIP === 'None';

/** The Service has a cluster IP: it is not headless, and the IP is allocated. */
export const hasAddress = (service: Service): boolean => !isHeadless(service) && (service.spec.clusterIP ?? '') !== '';

export const referenceTo = ({ metadata: { namespace = '', name, uid } }: Stored<Pod>): ObjectReference => ({ kind: 'Pod', namespace, name, uid });

export const headlessLabel = 'service.kubernetes.io/headless';
export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';

/** With the last-change-trigger-time annotation, if the time is known. */
export function withTriggerTime(annotations: Readonly<Record<string, string>> | undefined, time: string | undefined): Record<string, string> {
  const { [triggerTimeAnnotation]: _, ...rest } = annotations ?? {};
  return time === undefined ? rest : { ...rest, [triggerTimeAnnotation]: time };
}
