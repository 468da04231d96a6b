import type { DiscoveryEndpointPort, Endpoint, EndpointAddress, EndpointPort, Endpoints, EndpointSlice } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import { formatIp, isIpv4, parseIp } from '../../../../api/validation/ip.ts';
import { nameIsDnsSubdomain } from '../../../../api/validation/names.ts';
import { semanticallyEqual } from '../../../../api/validation/equality.ts';
import { subsetEntries, repackSubsets } from '../subsets.ts';
import { type IpFamily, managedByLabel, serviceNameLabel, withTriggerTime } from '../members.ts';
import { identityOf, portsKey, equalEndpoints } from '../slices/desired-endpoints.ts';
import type { MirrorAction, MirrorDecision } from './actions.ts';

export interface MirrorSnapshot {
  /** Undefined: they do not exist or are not mirrored: no Service, a Service with selector, or the skip-mirror label. */
  readonly endpoints: Stored<Endpoints> | undefined;
  /** The slices that this controller made, sorted by name. */
  readonly slices: readonly Stored<EndpointSlice>[];
  /** By reason: the message that was last recorded about the endpoints, unless that was long ago. */
  readonly recorded: (key: string) => string | undefined;
}

/** The value of the managed-by label. */
export const controllerName = 'endpointslicemirroring-controller.k8s.io';
const addressesPerSubset = 1000;
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Hand-written Endpoints appear as EndpointSlices too. */
export function decideMirror({ endpoints, slices, recorded }: MirrorSnapshot): MirrorDecision {
  if (endpoints === undefined)
    return act(
      'NotMirrored',
      'there is nothing to be mirrored',
      slices.map((slice) => ({ do: 'delete', object: slice }) as const),
    );
  const { groups, invalid, skipped } = mirroredEndpoints(endpoints);
  const create: EndpointSlice[] = [];
  const updates: MirrorAction[] = [];
  const remove = slices.filter((slice) => (groups.get(keyOf(slice))?.endpoints.length ?? 0) === 0);
  for (const [key, group] of groups) {
    const [first, ...rest] = slices.filter((slice) => keyOf(slice) === key && !remove.includes(slice));
    remove.push(...rest);
    if (group.endpoints.length === 0 || (first !== undefined && isMirrored(first, group, endpoints))) continue;
    if (first === undefined) create.push(sliceFor(endpoints, group));
    else updates.push({ do: 'update', object: sliceFor(endpoints, group, first), from: first });
  }
  const { recycled, created, removed } = recycle(create, remove);
  const isTerminating = endpoints.metadata.deletionTimestamp !== undefined;
  return act('Mirrored', 'the slices mirror the endpoints', [
    ...eventsFor({ endpoints, recorded }, invalid, skipped),
    ...(isTerminating ? [] : created).map((slice) => ({ do: 'create', object: slice }) as const),
    ...updates,
    ...recycled,
    ...removed.map((slice) => ({ do: 'delete', object: slice }) as const),
  ]);
}

const act = (code: string, text: string, actions: readonly MirrorAction[]): MirrorDecision => ({ actions, reasons: [{ code, text }] });

interface Group {
  readonly family: IpFamily;
  readonly ports: readonly DiscoveryEndpointPort[];
  readonly endpoints: Endpoint[];
}

interface MirroredEndpoints {
  readonly groups: ReadonlyMap<string, Group>;
  /** The number of invalid addresses. */
  readonly invalid: number;
  /** The number of invalid addresses and of those beyond the limit. */
  readonly skipped: number;
}

function mirroredEndpoints({ subsets = [] }: Endpoints): MirroredEndpoints {
  const groups = new Map<string, Group>();
  let [invalid, skipped] = [0, 0];
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of repackSubsets(subsetEntries(subsets))) {
    const slicePorts = ports.map(slicePortOf);
    const groupOf = (family: IpFamily): Group => {
      const key = `${family} ${portsKey(slicePorts)}`;
      const group = groups.get(key) ?? { family, ports: slicePorts, endpoints: [] };
      groups.set(key, group);
      return group;
    };
    let added = 0;
    for (const [address, ready] of [...addresses.map((each) => [each, true] as const), ...notReadyAddresses.map((each) => [each, false] as const)]) {
      const ip = parseIp(address.ip);
      if (added >= addressesPerSubset) continue;
      if (ip === undefined) invalid++;
      else {
        groupOf(isIpv4(ip) ? 'IPv4' : 'IPv6').endpoints.push(endpointOf(address, formatIp(ip), ready));
        added++;
      }
    }
    skipped += addresses.length + notReadyAddresses.length - added;
  }
  return { groups, invalid, skipped };
}

const slicePortOf = ({ name = '', port, protocol = 'TCP', appProtocol }: EndpointPort): DiscoveryEndpointPort => ({
  name,
  protocol,
  port,
  ...(appProtocol === undefined ? {} : { appProtocol }),
});

const endpointOf = ({ hostname = '', nodeName, targetRef }: EndpointAddress, ip: string, ready: boolean): Endpoint => ({
  addresses: [ip],
  conditions: { ready },
  ...(hostname === '' ? {} : { hostname }),
  ...(targetRef === undefined ? {} : { targetRef }),
  ...(nodeName === undefined ? {} : { nodeName }),
});

const keyOf = ({ addressType, ports }: EndpointSlice): string => `${addressType} ${portsKey(ports)}`;

function isMirrored(slice: Stored<EndpointSlice>, { endpoints: wanted }: Group, { metadata }: Stored<Endpoints>): boolean {
  const held = new Map((slice.endpoints ?? []).map((endpoint) => [identityOf(endpoint), endpoint]));
  const sameEndpoints =
    held.size === wanted.length &&
    wanted.every((endpoint) => {
      const other = held.get(identityOf(endpoint));
      return other !== undefined && equalEndpoints(other, endpoint);
    });
  const { [managedByLabel]: _, [serviceNameLabel]: __, ...labels } = slice.metadata.labels ?? {};
  const { [managedByLabel]: ___, [serviceNameLabel]: ____, ...own } = metadata.labels ?? {};
  const isOwned = (slice.metadata.ownerReferences ?? []).some(({ uid }) => uid === metadata.uid);
  return sameEndpoints && isOwned && semanticallyEqual(labels, own) && semanticallyEqual(slice.metadata.annotations ?? {}, annotationsFor(metadata));
}

function annotationsFor({ annotations }: Endpoints['metadata']): Record<string, string> {
  const { [lastApplied]: _, ...rest } = withTriggerTime(annotations, undefined);
  return rest;
}

/** A new slice, or `old` with new contents. */
function sliceFor(
  { metadata }: Stored<Endpoints>,
  { family, ports, endpoints }: Pick<Group, 'family' | 'ports' | 'endpoints'>,
  old?: Stored<EndpointSlice>,
): EndpointSlice {
  const { namespace = '', name, uid, labels } = metadata;
  const prefix = `${name}-`;
  const annotations = annotationsFor(metadata);
  const { annotations: _, ...kept } = old?.metadata ?? { namespace, generateName: nameIsDnsSubdomain(prefix, true).length === 0 ? prefix : name };
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...kept,
      labels: { ...labels, [serviceNameLabel]: name, [managedByLabel]: controllerName },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Endpoints', name, uid, controller: true, blockOwnerDeletion: true }],
    },
    addressType: family,
    endpoints: endpoints.length === 0 ? null : [...endpoints],
    ports: ports.length === 0 ? null : [...ports],
  };
}

interface Recycled {
  readonly recycled: readonly MirrorAction[];
  readonly created: readonly EndpointSlice[];
  readonly removed: readonly Stored<EndpointSlice>[];
}

/** Slices to delete are updated to the contents of slices to create: one write instead of two. */
function recycle(create: readonly EndpointSlice[], remove: readonly Stored<EndpointSlice>[]): Recycled {
  const removed = [...remove];
  const created: EndpointSlice[] = [];
  const recycled: MirrorAction[] = [];
  for (const slice of create) {
    const at = removed.findIndex(({ addressType }) => addressType === slice.addressType);
    const [old] = at < 0 ? [] : removed.splice(at, 1);
    if (old === undefined) created.push(slice);
    else recycled.push({ do: 'update', object: { ...slice, metadata: { ...old.metadata, ...slice.metadata } }, from: old });
  }
  return { recycled, created, removed };
}

function eventsFor(
  { endpoints, recorded }: { readonly endpoints: Stored<Endpoints>; readonly recorded: MirrorSnapshot['recorded'] },
  invalid: number,
  skipped: number,
): readonly MirrorAction[] {
  const recordUnlessRecorded = (reason: string, message: string): readonly MirrorAction[] => {
    const key = `${endpoints.metadata.uid} ${reason}`;
    return recorded(key) === message ? [] : [{ do: 'recordEvent', event: { about: endpoints, type: 'Warning', reason, message }, rememberAs: key }];
  };
  return [
    ...(invalid > 0 ? recordUnlessRecorded('InvalidIPAddress', `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`) : []),
    ...(skipped > invalid
      ? recordUnlessRecorded(
          'TooManyAddressesToMirror',
          `A max of ${addressesPerSubset} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`,
        )
      : []),
  ];
}
