import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { networkLinks, realHostNetwork } from '../../host/host-network.ts';
import { nameOf } from '../../node/runtimes/sandbox/shim/layout.ts';

/** A file for each table, with its process, its bridges and its tunnel. They end with the machine's run, as tables do. */
const records = '/run/moor/tables';

const tableName = (directory: string): string => `moor-${nameOf(directory)}`;

/** The nftables table of the nodes in a directory, with its family. */
export const tableOf = (directory: string): string => `ip ${tableName(directory)}`;

/** The directory of all nodes of `moor up`: they share a table. */
export const nodesDirectory = (dataDir: string): string => path.join(dataDir, 'nodes');

/** `links`: bridges that are there, and the tunnel before it is made. */
export async function recordTable(directory: string, links: readonly string[]): Promise<void> {
  await mkdir(records, { recursive: true, mode: 0o700 });
  await writeFile(path.join(records, tableName(directory)), [process.pid, ...links].join('\n'));
}

export const removeTable = (directory: string): Promise<void> => deleteTable(tableName(directory));

/** Of clusters that were killed and whose data was removed: nothing else would. The host would still be led to their Services. */
export async function removeStaleTables(): Promise<void> {
  const there = new Set(await networkLinks());
  for (const table of await recordedTables()) {
    const { pid, links } = await readRecord(table);
    const isUsed = existsSync(`/proc/${pid}`) || links.some((link) => !isTunnel(link) && there.has(link));
    if (/^moor-[0-9a-f]{8}$/.test(table) && !isUsed) await deleteTable(table);
  }
}

const isTunnel = (link: string): boolean => link.startsWith('moorvx');

const recordedTables = (): Promise<readonly string[]> => readdir(records).catch(() => []);

async function readRecord(table: string): Promise<{ readonly pid: string; readonly links: readonly string[] }> {
  const [pid = '', ...links] = (await readFile(path.join(records, table), 'utf8').catch(() => '')).split('\n');
  return { pid, links };
}

/** Without nft(8) there is none. Deleting a table that is not there would fail. Nodes of one cluster on this machine share a tunnel: it goes with the last. */
async function deleteTable(table: string): Promise<void> {
  await realHostNetwork.nft(`add table ip ${table}\ndelete table ip ${table}\n`);
  const { links } = await readRecord(table);
  await rm(path.join(records, table), { force: true });
  const used = new Set((await Promise.all((await recordedTables()).map(readRecord))).flatMap((record) => record.links));
  for (const link of links) if (isTunnel(link) && !used.has(link)) await realHostNetwork.ip(`link del ${link}\n`);
}
