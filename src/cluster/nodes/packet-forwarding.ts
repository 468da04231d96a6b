/** Packets between pods and other networks: the interfaces of the host's default routes, and those of its nodes' addresses, forward packets while a cluster has pods on this machine. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { networkLinks, realHostNetwork } from '../../host/host-network.ts';
import type { World } from '../../world/world.ts';

/** A file for each interface that did not forward packets before. It ends with the machine's run, as the setting does. */
const records = '/run/moor/forwarding';
const sysctlOf = (link: string): string => `net/ipv4/conf/${link}/forwarding`;

export async function forwardPackets(world: World, addresses: readonly string[]): Promise<void> {
  const table = await readFile('/proc/net/route', 'utf8').catch(() => '');
  for (const link of new Set([...defaultRouteLinks(table), ...addresses.flatMap((address) => linkWith(address) ?? [])])) {
    if ((await realHostNetwork.sysctl(sysctlOf(link))) !== '0') continue;
    await mkdir(records, { recursive: true, mode: 0o700 });
    // First: a crash in between restores what is as it was.
    await writeFile(path.join(records, link), '0');
    const error = await realHostNetwork.setSysctl(sysctlOf(link), '1');
    if (error !== '') world.log.warn('pods do not reach other networks: the host forwards no packets', { link, error });
  }
}

/** Once no cluster has a bridge on this machine. */
export async function restoreForwarding(): Promise<void> {
  if ((await networkLinks()).some((link) => link.startsWith('moor-'))) return;
  for (const link of await readdir(records).catch(() => [])) {
    await realHostNetwork.setSysctl(sysctlOf(link), '0');
    await rm(path.join(records, link), { force: true });
  }
}

/** The interface with this address. */
export const linkWith = (address: string): string | undefined =>
  Object.entries(networkInterfaces()).find(([, all]) => (all ?? []).some((each) => each.address === address))?.[0];

/** Of /proc/net/route. */
export const defaultRouteLinks = (table: string): readonly string[] => [
  ...new Set(
    table.split('\n').flatMap((line) => {
      const [link = '', destination, , , , , , mask] = line.trim().split(/\s+/);
      return destination === '00000000' && mask === '00000000' && /^[\w.:@-]+$/.test(link) ? [link] : [];
    }),
  ),
];
