import path from 'node:path';
import { realHostNetwork } from '../../host/host-network.ts';
import { nameOf } from '../../node/runtimes/sandbox/shim/layout.ts';

/** The nftables table of the nodes in a directory, with its family. */
export const tableOf = (directory: string): string => `ip moor-${nameOf(directory)}`;

/** The directory of all nodes of `moor up`: they share a table. */
export const nodesDirectory = (dataDir: string): string => path.join(dataDir, 'nodes');

/** Without nft(8) there is none. Deleting a table that is not there would fail. */
export async function removeTable(directory: string): Promise<void> {
  const table = tableOf(directory);
  await realHostNetwork.nft(`add table ${table}\ndelete table ${table}\n`);
}
