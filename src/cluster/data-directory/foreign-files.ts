/** Files and folders of a user that have the names of a cluster's own: they are neither used nor, by `moor delete`, removed. */
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { readIfThere } from '../../host/read-if-there.ts';
import { manifestFile } from './data-manifest.ts';

/** What a cluster may have in each of its folders, also if its creation was interrupted. */
const own: Readonly<Record<string, RegExp>> = {
  store: /^(lock|progress|manifest\.json|(log|snapshot)-\d+)(\.\w+)?$/,
  pki: /^[\w-]+\.(key|crt)(\.new)?$/,
  images: /\.img(\.new)?$/,
  cloud: /^(lock|cloud\.jsonl(\.new)?)$/,
};

/** The same for files, by their content. */
const ownFiles: Readonly<Record<string, RegExp>> = {
  lock: /^\d*\s*$/,
  'cluster.json': /^\s*$|"dataDir":/,
};

/** The path of a file that is not Mooring's, in place of one of a cluster's. Undefined: there is none, or a manifest says whose the directory is. */
export async function foreignFileIn(dataDir: string): Promise<string | undefined> {
  if (existsSync(manifestFile(dataDir))) return undefined;
  for (const [name, content] of Object.entries(ownFiles)) {
    const file = path.join(dataDir, name);
    if (existsSync(file) && ((await stat(file)).isDirectory() || !content.test((await readIfThere(file)) ?? ''))) return file;
  }
  for (const [name, names] of Object.entries(own)) {
    const foreign = await foreignIn(path.join(dataDir, name), names);
    if (foreign !== undefined) return foreign;
  }
  return foreignNodeIn(path.join(dataDir, 'nodes'));
}

async function foreignIn(folder: string, names: RegExp): Promise<string | undefined> {
  if (!existsSync(folder)) return undefined;
  const { mode } = await stat(folder);
  const found = await namesIn(folder);
  if (found === undefined) return folder;
  const foreign = found.find((name) => !names.test(name));
  if (foreign !== undefined) return path.join(folder, foreign);
  // A cluster makes its folders private, and before anything is in them.
  return found.length === 0 && (mode & 0o066) !== 0 ? folder : undefined;
}

/** The directory of a node has at least one of these. */
const nodeFiles = ['sandbox', 'pki', 'pods', 'journal', 'plugins', 'root-dir', 'shared-root'];

async function foreignNodeIn(folder: string): Promise<string | undefined> {
  if (!existsSync(folder)) return undefined;
  const found = await namesIn(folder);
  if (found === undefined) return folder;
  for (const name of found) {
    const node = path.join(folder, name);
    const files = await namesIn(node);
    if (files === undefined || (files.length > 0 && !nodeFiles.some((each) => files.includes(each)))) return node;
  }
  return undefined;
}

/** Undefined: it is no directory. */
const namesIn = (folder: string): Promise<readonly string[] | undefined> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR') return undefined;
    throw error;
  });
