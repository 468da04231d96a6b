/** Subsets in Kubernetes' canonical form: addresses with the same ports are grouped (RepackSubsets, pkg/api/v1/endpoints/util.go). */
import type { EndpointAddress, EndpointPort, EndpointSubset } from '../../../api/generated/types.ts';
import { byGoHash, printPort, printSubset } from './go-hash.ts';

/** One address with one of its ports; undefined: the address has none. */
export interface SubsetEntry {
  readonly address: EndpointAddress;
  readonly isReady: boolean;
  readonly port: EndpointPort | undefined;
}

/** Subsets taken apart. */
export const subsetEntries = (subsets: readonly EndpointSubset[]): readonly SubsetEntry[] =>
  subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
    const entryPorts = ports.length === 0 ? [undefined] : ports;
    const all = [...addresses.map((address) => ({ address, isReady: true })), ...notReadyAddresses.map((address) => ({ address, isReady: false }))];
    return entryPorts.flatMap((port) => all.map((each) => ({ ...each, port })));
  });

interface SubsetAddress {
  readonly address: EndpointAddress;
  isReady: boolean;
}

export function repackSubsets(entries: readonly SubsetEntry[]): EndpointSubset[] {
  const byPort = new Map<string, { readonly port: EndpointPort | undefined; readonly held: Map<string, SubsetAddress> }>();
  const known = new Map<string, EndpointAddress>();
  for (const { address, isReady, port } of entries) {
    const id = JSON.stringify([address.ip, address.targetRef?.uid ?? '']);
    const first = known.get(id) ?? address;
    known.set(id, first);
    const portId = port === undefined ? '' : printPort(port);
    const entry = byPort.get(portId) ?? { port, held: new Map<string, SubsetAddress>() };
    byPort.set(portId, entry);
    const held = entry.held.get(id);
    // An address that is not ready in one entry is not ready.
    entry.held.set(id, { address: first, isReady: isReady && (held?.isReady ?? true) });
  }
  const byAddresses = new Map<string, { readonly held: readonly SubsetAddress[]; readonly ports: EndpointPort[] }>();
  for (const { port, held } of byPort.values()) {
    const ordered = [...held].sort(([a], [b]) => (a < b ? -1 : 1));
    const key = JSON.stringify(ordered.map(([id, { isReady }]) => [id, isReady]));
    const subset = byAddresses.get(key) ?? { held: ordered.map(([, each]) => each).sort(byIpAndUid), ports: [] };
    byAddresses.set(key, subset);
    if (port !== undefined) subset.ports.push(port);
  }
  return byGoHash([...byAddresses.values()].map(subsetOf), printSubset);
}

function subsetOf({ held, ports }: { readonly held: readonly SubsetAddress[]; readonly ports: readonly EndpointPort[] }): EndpointSubset {
  const addresses = held.filter(({ isReady }) => isReady).map(({ address }) => address);
  const notReadyAddresses = held.filter(({ isReady }) => !isReady).map(({ address }) => address);
  return {
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
    ...(ports.length === 0 ? {} : { ports: byGoHash(ports, printPort) }),
  };
}

function byIpAndUid({ address: a }: SubsetAddress, { address: b }: SubsetAddress): number {
  if (a.ip !== b.ip) return a.ip < b.ip ? -1 : 1;
  return (a.targetRef?.uid ?? '') < (b.targetRef?.uid ?? '') ? -1 : 1;
}

const capacity = 1000;

const countOf = (subsets: readonly EndpointSubset[]): { readonly ready: number; readonly unready: number } => ({
  ready: subsets.reduce((sum, { addresses = [] }) => sum + addresses.length, 0),
  unready: subsets.reduce((sum, { notReadyAddresses = [] }) => sum + notReadyAddresses.length, 0),
});

export const isOverCapacity = (subsets: readonly EndpointSubset[]): boolean => {
  const { ready, unready } = countOf(subsets);
  return ready + unready > capacity;
};

/** At most 1000 addresses: each subset loses its share, addresses that are not ready first. */
export function truncateSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const { ready, unready } = countOf(subsets);
  if (ready + unready <= capacity) return [...subsets];
  const key = ready > capacity ? 'addresses' : 'notReadyAddresses';
  const [room, total] = ready > capacity ? [capacity, ready] : [capacity - ready, unready];
  let left = room;
  return subsets.map((subset) => {
    const { addresses = [], notReadyAddresses = [], ...rest } = subset;
    const all = key === 'addresses' ? addresses : notReadyAddresses;
    const kept = all.slice(0, Math.min(left, Math.ceil((all.length / total) * room)));
    left -= kept.length;
    const stillReady = key === 'addresses' ? kept : addresses;
    const stillUnready = key === 'addresses' ? [] : kept;
    return {
      ...(stillReady.length === 0 ? {} : { addresses: stillReady }),
      ...(stillUnready.length === 0 ? {} : { notReadyAddresses: stillUnready }),
      ...rest,
    };
  });
}
