/** Nodes on other machines → the routes to their pods. */
import type { Node } from '../../../api/generated/types.ts';
import { blocksOverlap, isPrivateBlock } from '../addresses.ts';
import { gatewayOf } from '../gateway.ts';
import { ipv4Address, ipv4Network } from '../ipv4.ts';

/** A node whose pods are reached through the tunnel. */
export interface TunnelPeer {
  readonly name: string;
  readonly podCidr: string;
  /** Its machine's. */
  readonly address: string;
}

export interface TunnelSnapshot {
  readonly nodes: readonly Node[];
  /** Of this machine, by the name of the node. */
  readonly ownCidrs: ReadonlyMap<string, string>;
  /** All addresses of this machine. */
  readonly ownAddresses: ReadonlySet<string>;
  /** No node's pods have addresses in these networks: those of Services. */
  readonly reserved: readonly string[];
  /** The networks that this machine has other routes to. */
  readonly routes: readonly string[];
}

export interface TunnelPeers {
  readonly peers: readonly TunnelPeer[];
  /** Nodes that get no route, by name. */
  readonly refused: ReadonlyMap<string, string>;
}

/** A node says itself which addresses its pods have: one that claimed more than this would get the packets of others. */
const widestPrefix = 16;

/**
 * A node that claims addresses of another node, of Services, of a machine, of the internet or of a network that this machine has a route to gets no route: the older node
 * keeps them. Otherwise a node that was taken over could have all that the other machines send to a name server, say. Nodes of this machine need none, hollow nodes have no
 * pods.
 */
export function tunnelPeers({ nodes, ownCidrs, ownAddresses, reserved, routes }: TunnelSnapshot): TunnelPeers {
  const addresses = nodes.flatMap(internalIp);
  const taken = new Map([...ownCidrs].map(([name, cidr]) => [cidr, name]));
  const peers: TunnelPeer[] = [];
  const refused = new Map<string, string>();
  // Pod CIDRs may be parts of wider routes, such as one to all of 10.0.0.0/8.
  const narrow = routes.filter((cidr) => prefixOf(cidr) >= widestPrefix);
  for (const node of [...nodes].sort(byAge)) {
    const { name = '' } = node.metadata;
    const [podCidr] = ipv4Network(node.spec.podCIDR ?? '');
    const [address] = internalIp(node);
    if (ownCidrs.has(name) || isHollow(node) || podCidr === undefined || address === undefined || address.startsWith('127.')) continue;
    const isHere = ownAddresses.has(address);
    const why = problemOf(podCidr, { taken, addresses: [...addresses, ...ownAddresses], reserved, routes: isHere ? [] : narrow });
    if (why !== undefined) refused.set(name, why);
    else {
      taken.set(podCidr, name);
      if (!isHere) peers.push({ name, podCidr, address });
    }
  }
  return { peers, refused };
}

interface Claimed {
  /** CIDR → node. */
  readonly taken: ReadonlyMap<string, string>;
  readonly addresses: readonly string[];
  readonly reserved: readonly string[];
  readonly routes: readonly string[];
}

const prefixOf = (cidr: string): number => Number(cidr.split('/')[1]);

function problemOf(podCidr: string, { taken, addresses, reserved, routes }: Claimed): string | undefined {
  if (prefixOf(podCidr) < widestPrefix) return `its pod CIDR ${podCidr} is wider than /${widestPrefix}`;
  for (const [cidr, node] of taken) if (blocksOverlap(cidr, podCidr)) return `its pod CIDR ${podCidr} overlaps ${cidr} of node ${node}`;
  // The host's own address in the network of its pods is one of these pods' network.
  const inside = addresses.find((address) => blocksOverlap(`${address}/32`, podCidr) && address !== gatewayOf(podCidr));
  if (inside !== undefined) return `its pod CIDR ${podCidr} contains the address ${inside} of a machine`;
  const network = reserved.find((cidr) => blocksOverlap(cidr, podCidr));
  if (network !== undefined) return `its pod CIDR ${podCidr} overlaps ${network}`;
  if (!isPrivateBlock(podCidr)) return `its pod CIDR ${podCidr} is not of a private network`;
  const route = routes.find((cidr) => blocksOverlap(cidr, podCidr));
  return route === undefined ? undefined : `its pod CIDR ${podCidr} overlaps ${route}, to which this machine has a route`;
}

export const internalIp = ({ status }: Node): readonly string[] =>
  (status.addresses ?? [])
    .filter(({ type }) => type === 'InternalIP')
    .flatMap(({ address }) => ipv4Address(address))
    .slice(0, 1);

const isHollow = ({ status }: Node): boolean => (status.nodeInfo?.containerRuntimeVersion ?? '').startsWith('hollow:');

const ageOf = ({ metadata }: Node): string => `${metadata.creationTimestamp ?? ''} ${metadata.name ?? ''}`;
const byAge = (a: Node, b: Node): number => (ageOf(a) < ageOf(b) ? -1 : 1);

/** Of all clusters: their network identifiers keep them apart. 8472 is often taken by another network's tunnel. */
export const tunnelPort = 8473;
/** Of IPv4, UDP, VXLAN and Ethernet headers. */
const overhead = 50;

/** The VXLAN network identifier of a cluster, from the uid of its namespace kube-system. */
export const networkIdentifier = (clusterUid: string, sha256: (text: string) => string): number =>
  (Number.parseInt(sha256(clusterUid).slice(0, 6), 16) % 0xff_ff_fe) + 1;

/** At most 15 characters. */
export const tunnelDevice = (identifier: number): string => `moorvx${identifier.toString(16).padStart(6, '0')}`;

/** Follows from the machine's address: no node has to publish it. */
const macOf = (address: string): string => ['0a', '58', ...address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))].join(':');

export interface TunnelEnd {
  readonly identifier: number;
  /** Of this machine. */
  readonly address: string;
  /** Of the default route. */
  readonly mtu: number;
  readonly ownCidrs: readonly string[];
}

/** For ip(8). The device may exist already: only the second command has to succeed. The host sends from its address in the network of its pods. */
export function deviceCommands({ identifier, address, mtu, ownCidrs }: TunnelEnd): { readonly add: string; readonly setUp: string } {
  const device = tunnelDevice(identifier);
  return {
    add: `link add ${device} type vxlan id ${identifier} dstport ${tunnelPort} local ${address} nolearning\n`,
    setUp: [
      `link set ${device} address ${macOf(address)} mtu ${mtu - overhead} up`,
      ...ownCidrs.map((cidr) => `addr replace ${gatewayOf(cidr)}/32 dev ${device}`),
      '',
    ].join('\n'),
  };
}

/** For ip(8) and bridge(8). `from`: this machine's address in the network of its pods. */
export const addPeer = (device: string, { podCidr, address }: TunnelPeer, from: string): { readonly ip: string; readonly bridge: string } => ({
  ip: [
    `neigh replace ${gatewayOf(podCidr)} lladdr ${macOf(address)} dev ${device} nud permanent`,
    `route replace ${podCidr} via ${gatewayOf(podCidr)} dev ${device} onlink src ${from}`,
    '',
  ].join('\n'),
  // Several nodes of one machine have one entry.
  bridge: `fdb replace ${macOf(address)} dev ${device} dst ${address} self permanent\n`,
});

export const removePeer = (device: string, { podCidr }: Pick<TunnelPeer, 'podCidr'>): string =>
  [`route del ${podCidr} dev ${device}`, `neigh del ${gatewayOf(podCidr)} dev ${device}`, ''].join('\n');
