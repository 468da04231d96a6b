/** The endpoints that the slices of a Service should hold. */
import type { DiscoveryEndpointPort, Endpoint, Pod, Service } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import { isPodReady } from '../../../pods/state.ts';
import { byGoHash, printSlicePort } from '../go-hash.ts';
import { addressesOf, type IpFamily, hostnameBelow, isReachable, portOf, referenceTo } from '../members.ts';

/** The zone of a node, if it has one; undefined: the cache has no such node. */
export type ZoneOf = (node: string) => { readonly zone: string | undefined } | undefined;

/** Endpoints with the same ports share slices. */
export interface EndpointGroup {
  readonly ports: readonly DiscoveryEndpointPort[];
  /** By identity. */
  readonly endpoints: Map<string, Endpoint>;
}

export interface DesiredEndpoints {
  /** By `portsKey`. */
  readonly groups: Map<string, EndpointGroup>;
  /** Pods that are left out because the cache has no such node. */
  readonly skipped: readonly Stored<Pod>[];
}

export function desiredEndpoints(
  service: Stored<Service>,
  pods: readonly Stored<Pod>[],
  { family, zoneOf }: { readonly family: IpFamily; readonly zoneOf: ZoneOf },
): DesiredEndpoints {
  const groups = new Map<string, EndpointGroup>();
  const skipped: Stored<Pod>[] = [];
  for (const pod of pods) {
    if (!isReachable(pod, { alsoIfGoing: true })) continue;
    const ports = portsFor(service, pod);
    const key = portsKey(ports);
    const group = groups.get(key) ?? { ports, endpoints: new Map<string, Endpoint>() };
    groups.set(key, group);
    const node = zoneOf(pod.spec.nodeName ?? '');
    if (node === undefined && service.spec.publishNotReadyAddresses !== true) {
      skipped.push(pod);
      continue;
    }
    const endpoint = endpointOf(service, pod, { family, zone: node?.zone });
    if ((endpoint.addresses ?? []).length > 0) group.endpoints.set(identityOf(endpoint), endpoint);
  }
  return { groups, skipped };
}

/** In the order of Kubernetes' hashes. */
function portsFor(service: Service, pod: Pod): readonly DiscoveryEndpointPort[] {
  const ports = (service.spec.ports ?? []).flatMap((each): DiscoveryEndpointPort[] => {
    const port = portOf(pod, each);
    const { name = '', protocol = 'TCP', appProtocol } = each;
    return port === undefined ? [] : [{ name, protocol, port, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
  return byGoHash(ports, printSlicePort);
}

export const portsKey = (ports: readonly DiscoveryEndpointPort[] | null): string => JSON.stringify((ports ?? []).map(printSlicePort).sort());

function endpointOf(service: Stored<Service>, pod: Stored<Pod>, { family, zone }: { readonly family: IpFamily; readonly zone: string | undefined }): Endpoint {
  const serving = isPodReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const hostname = hostnameBelow(service, pod);
  const { nodeName = '' } = pod.spec;
  return {
    addresses: [...addressesOf(pod, family)].sort(),
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: referenceTo(pod),
    ...(nodeName === '' ? {} : { nodeName }),
    ...(zone === undefined || zone === '' ? {} : { zone }),
  };
}

/** Endpoints with the same identity are the same endpoint, maybe with other conditions. */
export const identityOf = ({ addresses, hostname, targetRef }: Endpoint): string =>
  JSON.stringify([[...(addresses ?? [])].sort(), hostname ?? '', targetRef?.namespace ?? '', targetRef?.name ?? '']);

/** Compares two endpoints of the same identity. */
export function equalEndpoints(a: Endpoint, b: Endpoint): boolean {
  return (
    a.nodeName === b.nodeName &&
    a.zone === b.zone &&
    a.conditions.ready === b.conditions.ready &&
    a.conditions.serving === b.conditions.serving &&
    a.conditions.terminating === b.conditions.terminating &&
    a.targetRef?.kind === b.targetRef?.kind &&
    a.targetRef?.uid === b.targetRef?.uid
  );
}
