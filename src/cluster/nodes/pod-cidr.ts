import { readFile } from 'node:fs/promises';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { createClient } from '../../client/client.ts';
import type { Transport } from '../../client/transport.ts';
import { freeBlock } from '../../node/network/addresses.ts';
import { nameOf } from '../../node/runtimes/sandbox/shim/layout.ts';

export interface PodCidrOptions {
  readonly node: string;
  /** The directory of the node's containers. */
  readonly root: string;
  /** With the node's own credentials. */
  readonly own: Transport;
  /** CIDRs that nodes on this machine are about to use. */
  readonly alsoTaken?: readonly string[];
}

/**
 * The CIDR of a node's pods: the one in its Node object, since that is immutable; for a new node one that no other node of the cluster has and that is free on this
 * machine, nodes of other clusters included.
 */
export async function podCidrFor({ node, root, own, alsoTaken = [] }: PodCidrOptions): Promise<string> {
  const client = createClient({ transport: own });
  const known = await client.get(nodeKind, { name: node });
  const registered = known.ok ? known.value.spec.podCIDR : undefined;
  if (registered !== undefined) return registered;
  const nodes = await client.list(nodeKind);
  const ofNodes = nodes.ok ? nodes.value.items.flatMap(({ spec }) => spec.podCIDR ?? []) : [];
  const onMachine = (await routes()).flatMap(({ via, cidr }) => (via === `moor-${nameOf(root)}` ? [] : cidr));
  return freeBlock(root, [...alsoTaken, ...ofNodes, ...onMachine]);
}

/** The routes of this machine, without the default route. */
export async function routes(): Promise<readonly Route[]> {
  return parseRoutes(await readFile('/proc/net/route', 'utf8').catch(() => ''));
}

interface Route {
  /** The network interface. */
  readonly via: string;
  readonly cidr: string;
}

/** The routes of /proc/net/route, without the default route. Addresses in it are hexadecimal, last byte first. */
export function parseRoutes(text: string): readonly Route[] {
  return text.split('\n').flatMap((line) => {
    const [via = '', destination = '', , , , , , mask = ''] = line.trim().split(/\s+/);
    if (!/^[0-9A-F]{8}$/.test(destination) || !/^[0-9A-F]{8}$/.test(mask) || mask === '00000000') return [];
    return [{ via, cidr: `${bytes(destination).join('.')}/${bytes(mask).reduce((ones, byte) => ones + byte.toString(2).replaceAll('0', '').length, 0)}` }];
  });
}

const bytes = (hex: string): readonly number[] => [6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
