import type { Client } from '../grpc/client.ts';
import type { Controller } from '../grpc/generated/csi.ts';
import type { HostFiles, Mounts } from '../world/mounts.ts';
import type { Processes } from '../world/processes.ts';
import { clauses } from './clauses.ts';
import type { Need } from './capabilities.ts';
import { Violation } from './violation.ts';

/** What the tests need of the machine. */
export interface Machine {
  readonly mounts: Pick<Mounts, 'table'>;
  readonly files: HostFiles;
  readonly processes: Processes;
  /** Files below a folder that have a loop device. */
  imagesWithDevice(directory: string): Promise<readonly string[]>;
}

/** All that could leak, by name. */
export type Inventory = ReadonlyMap<string, number>;

export interface InventorySources {
  readonly machine: Machine;
  readonly controller: Client<typeof Controller>;
  readonly offered: ReadonlySet<Need>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Mounts and loop devices below these count. */
  readonly folders: readonly string[];
  /** Files below these count too. */
  readonly fileFolders: readonly string[];
  /** But not these, by their names in an inventory. */
  readonly ownFiles: ReadonlySet<string>;
}

export async function takeInventory(sources: InventorySources): Promise<Inventory> {
  const { machine, controller, offered, folders, fileFolders } = sources;
  const found = new Map<string, number>();
  const count = (name: string): void => {
    if (!sources.ownFiles.has(name)) found.set(name, (found.get(name) ?? 0) + 1);
  };
  if (offered.has('controller:LIST_VOLUMES')) for (const id of new Set(await listVolumeIds(controller))) count(`volume ${id}`);
  if (offered.has('controller:LIST_SNAPSHOTS')) for (const id of new Set(await listSnapshotIds(controller, sources.secrets))) count(`snapshot ${id}`);
  for (const { target } of await machine.mounts.table()) if (folders.some((folder) => isBelow(target, folder))) count(`mount at ${target}`);
  for (const folder of folders) for (const image of await machine.imagesWithDevice(folder)) count(`loop device of ${image}`);
  for (const folder of fileFolders) await countFiles(machine.files, folder, count);
  return found;
}

/** What is there now and was not there before. */
export function leaks(before: Inventory, now: Inventory): readonly string[] {
  return [...now].flatMap(([name, count]) => {
    const more = count - (before.get(name) ?? 0);
    if (more <= 0) return [];
    return [more === 1 && count === 1 ? name : `${name} (${count} times)`];
  });
}

export const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

const mostFiles = 20_000;
const mostPages = 10_000;

async function countFiles(files: HostFiles, folder: string, count: (name: string) => void): Promise<void> {
  let left = mostFiles;
  const visit = async (path: string): Promise<void> => {
    if (left-- <= 0) return;
    const stat = await files.stat(path);
    if (stat === undefined) return;
    count(`file ${path}`);
    if (stat.type !== 'directory') return;
    for (const name of await files.list(path).catch(() => [])) await visit(`${path}/${name}`);
  };
  for (const name of await files.list(folder).catch(() => [])) await visit(`${folder}/${name}`);
}

/** All pages of a list. A token that comes twice would never end. */
async function allPages<Entry>(what: string, page: (startingToken: string) => Promise<{ readonly entries: readonly Entry[]; readonly nextToken: string }>) {
  const entries: Entry[] = [];
  const tokens = new Set<string>();
  for (let token = ''; tokens.size < mostPages; tokens.add(token)) {
    const answer = await page(token);
    entries.push(...answer.entries);
    if (answer.nextToken === '') return entries;
    if (tokens.has(answer.nextToken))
      throw new Violation(`${what} gives the token ${JSON.stringify(answer.nextToken)} twice: its pages never end`, clauses.listAll);
    token = answer.nextToken;
  }
  throw new Violation(`${what} has more than ${mostPages} pages`, clauses.listAll);
}

/** `maxEntries` 0: no limit. */
export async function listVolumeIds(controller: Client<typeof Controller>, maxEntries = 0): Promise<readonly string[]> {
  const entries = await allPages('ListVolumes', (startingToken) => controller.listVolumes({ maxEntries, startingToken }));
  return entries.map(({ volume }) => volume?.volumeId ?? '');
}

export async function listSnapshotIds(
  controller: Client<typeof Controller>,
  secrets: Readonly<Record<string, string>>,
  maxEntries = 0,
): Promise<readonly string[]> {
  const entries = await allPages('ListSnapshots', (startingToken) => controller.listSnapshots({ maxEntries, startingToken, secrets }));
  return entries.map(({ snapshot }) => snapshot?.snapshotId ?? '');
}
