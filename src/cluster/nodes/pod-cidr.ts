import { readFile } from 'node:fs/promises';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { createClient } from '../../client/client.ts';
import type { Transport } from '../../client/transport.ts';
import { freeBlock } from '../../node/network/addresses.ts';
import { nameOf } from '../../node/runtimes/sandbox/shim/layout.ts';

export interface PodCidrOptions {
  readonly node: string;
  /** Where the node keeps its containers. */
  readonly root: string;
  /** As the node itself. */
  readonly own: Transport;
  /** Blocks that nothing on this machine has yet, but will. */
  readonly alsoTaken?: readonly string[];
}

/**
 * The block that a node's pods have their addresses from: the one that it was registered with, as that can never change; for a new one, what
 * nothing else on this machine has, other clusters' nodes included.
 */
export async function podCidrFor({ node, root, own, alsoTaken = [] }: PodCidrOptions): Promise<string> {
  const known = await createClient({ transport: own }).get(nodeKind, { name: node });
  const registered = known.ok ? known.value.spec.podCIDR : undefined;
  return registered ?? freeBlock(root, [...alsoTaken, ...(await routes()).flatMap(({ via, cidr }) => (via === `moor-${nameOf(root)}` ? [] : cidr))]);
}

async function routes(): Promise<readonly Route[]> {
  return parseRoutes(await readFile('/proc/net/route', 'utf8').catch(() => ''));
}

interface Route {
  /** An interface. */
  readonly via: string;
  readonly cidr: string;
}

/** What /proc/net/route says, without the way to everywhere else. Addresses in it are hexadecimal, last byte first. */
export function parseRoutes(text: string): readonly Route[] {
  return text.split('\n').flatMap((line) => {
    const [via = '', destination = '', , , , , , mask = ''] = line.trim().split(/\s+/);
    if (!/^[0-9A-F]{8}$/.test(destination) || !/^[0-9A-F]{8}$/.test(mask) || mask === '00000000') return [];
    return [{ via, cidr: `${bytes(destination).join('.')}/${bytes(mask).reduce((ones, byte) => ones + byte.toString(2).replaceAll('0', '').length, 0)}` }];
  });
}

const bytes = (hex: string): readonly number[] => [6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
