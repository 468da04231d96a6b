import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { realHostNetwork } from '../../host/host-network.ts';
import { nameOf } from '../../node/runtimes/sandbox/shim/layout.ts';

/** A file for each table, with its process and its bridges. They end with the machine's run, as tables do. */
const records = '/run/moor/tables';

const tableName = (directory: string): string => `moor-${nameOf(directory)}`;

/** The nftables table of the nodes in a directory, with its family. */
export const tableOf = (directory: string): string => `ip ${tableName(directory)}`;

/** The directory of all nodes of `moor up`: they share a table. */
export const nodesDirectory = (dataDir: string): string => path.join(dataDir, 'nodes');

/** Once its bridges are there. */
export async function recordTable(directory: string, bridges: readonly string[]): Promise<void> {
  await mkdir(records, { recursive: true, mode: 0o700 });
  await writeFile(path.join(records, tableName(directory)), [process.pid, ...bridges].join('\n'));
}

export const removeTable = (directory: string): Promise<void> => deleteTable(tableName(directory));

/** Of clusters that were killed and whose data was removed: nothing else would. The host would still be led to their Services. */
export async function removeStaleTables(): Promise<void> {
  for (const table of await readdir(records).catch(() => [])) {
    const [pid = '', ...bridges] = (await readFile(path.join(records, table), 'utf8').catch(() => '')).split('\n');
    const isUsed = existsSync(`/proc/${pid}`) || bridges.some((bridge) => existsSync(`/sys/class/net/${bridge}`));
    if (/^moor-[0-9a-f]{8}$/.test(table) && !isUsed) await deleteTable(table);
  }
}

/** Without nft(8) there is none. Deleting a table that is not there would fail. */
async function deleteTable(table: string): Promise<void> {
  await realHostNetwork.nft(`add table ip ${table}\ndelete table ip ${table}\n`);
  await rm(path.join(records, table), { force: true });
}
