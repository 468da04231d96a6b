/** Which pods are behind a service, and how they are reached: the rules that slices and endpoints share. */
import type { ObjectReference, Pod, Service, ServicePort } from '../../../api/generated/types.ts';
import { formatIp, isIpv4, parseIp } from '../../../api/validation/ip.ts';
import { isPodTerminal } from '../../pods/state.ts';

export type IpFamily = 'IPv4' | 'IPv6';

/** Services without selector, and names of something elsewhere, are looked after by whoever made them. */
export const isSelecting = ({ spec }: Service): boolean => spec.selector !== undefined && spec.type !== 'ExternalName';

/** It can be reached, and will not have ended for good. Whether one that is going counts is for those who ask to say. */
export function isReachable(pod: Pod, { alsoIfGoing }: { readonly alsoIfGoing: boolean }): boolean {
  const { podIP = '', podIPs = [] } = pod.status;
  return !isPodTerminal(pod) && (podIP !== '' || podIPs.length > 0) && (alsoIfGoing || pod.metadata.deletionTimestamp === undefined);
}

/** In their proper form, however they are written. */
export function addressesOf({ status }: Pod, family: IpFamily): readonly string[] {
  const ips = status.podIPs ?? (status.podIP === undefined ? [] : [{ ip: status.podIP }]);
  return ips.flatMap(({ ip }) => {
    const parsed = parseIp(ip);
    return parsed !== undefined && isIpv4(parsed) === (family === 'IPv4') ? [formatIp(parsed)] : [];
  });
}

/** A pod has a name of its own below the service that it names as its domain: as those of a StatefulSet do below the governing one. */
export function hostnameBelow({ metadata }: Service, pod: Pod): string | undefined {
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

/** It has an address of its own; a headless one has none, nor one that got none yet. */
export const hasAddress = (service: Service): boolean => !isHeadless(service) && (service.spec.clusterIP ?? '') !== '';

export const referenceTo = ({ metadata: { namespace = '', name = '', uid = '' } }: Pod): ObjectReference => ({ kind: 'Pod', namespace, name, uid });

export const headlessLabel = 'service.kubernetes.io/headless';
export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';

/** Annotations that say since when this change is due, if anybody knows. */
export function withTriggerTime(annotations: Readonly<Record<string, string>> | undefined, time: string | undefined): Record<string, string> {
  const { [triggerTimeAnnotation]: _, ...rest } = annotations ?? {};
  return time === undefined ? rest : { ...rest, [triggerTimeAnnotation]: time };
}
