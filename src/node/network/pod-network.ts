/**
 * The network of a node's pods. Each pod has a veth pair, and the host a route to its address: every packet of a pod is routed by the host, also between two
 * pods of one node, so that the tables (Services, NetworkPolicies) see each connection in both directions. A bridge without ports holds the host's own address.
 */
import { gatewayOf } from './gateway.ts';

export interface PodNetwork {
  /** '10.128.0.0/22'; its first address is the host's. */
  readonly cidr: string;
  /** At most 15 characters: 'moor-' and eight hexadecimal digits. */
  readonly bridge: string;
}

/** The group of the veth pairs' outer ends, by which rules name all of them. */
export const linkGroup = ({ bridge }: Pick<PodNetwork, 'bridge'>): number => (Number.parseInt(bridge.slice(-8), 16) & 0x7f_ff_ff_ff) | 1;

/** For ip(8). The bridge may exist already: only the second command has to succeed. */
export function bridgeCommands({ bridge, cidr }: PodNetwork): { readonly add: string; readonly setUp: string } {
  const [, prefix = '24'] = cidr.split('/');
  return { add: `link add ${bridge} type bridge\n`, setUp: `addr replace ${gatewayOf(cidr)}/${prefix} dev ${bridge}\nlink set ${bridge} up\n` };
}

export interface PodLink {
  /** The name of the host's end. */
  readonly outside: string;
  /** Has the network namespace. */
  readonly pid: number;
  readonly address: string;
}

/** The pod's end is eth0 in the process's network namespace. */
export const linkCommands = (network: PodNetwork, { outside, pid, address }: PodLink): string =>
  [
    `link add ${outside} type veth peer name eth0 netns ${pid}`,
    `link set ${outside} group ${linkGroup(network)} up`,
    `route replace ${address}/32 dev ${outside} src ${gatewayOf(network.cidr)}`,
    '',
  ].join('\n');

/** They end with the link. */
export const linkSysctls = (outside: string, fromHostLoopback: boolean): readonly (readonly [name: string, value: string])[] => [
  [`net/ipv4/conf/${outside}/forwarding`, '1'],
  // The host answers for the other pods' addresses, without the usual delay of up to a second.
  [`net/ipv4/neigh/${outside}/proxy_delay`, '0'],
  [`net/ipv4/conf/${outside}/proxy_arp`, '1'],
  // A pod sends from its own address alone: NetworkPolicies go by addresses. The table drops others too: the machine may have a looser setting for all. Pods have none of IPv6, for which there are no rules.
  [`net/ipv4/conf/${outside}/rp_filter`, '1'],
  [`net/ipv6/conf/${outside}/disable_ipv6`, '1'],
  // For connections of the host from 127.0.0.1 to a node port; the table drops what pods send to the host's loopback.
  [`net/ipv4/conf/${outside}/route_localnet`, fromHostLoopback ? '1' : '0'],
];
