/** A worker thread of `LayerThreads`: it unpacks layers, each in its own root. */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { parentPort } from 'node:worker_threads';
import { isArchiveError, openArchive } from '../../archive/decompress.ts';
import { TarReader } from '../../archive/tar.ts';
import type { LayerRequest, UnpackedLayer } from '../../node/images/unpacker.ts';
import { changeDirectory, changeRootDirectory, cloneFileSystem, close, enterDirectory, isolateMounts, namespaces, openPath, unshare } from '../mount-calls.ts';
import { newOverlay } from '../overlay-mount.ts';
import { LayerError, LayerFiles } from './layer-files.ts';

export type LayerAnswer =
  | { readonly ok: true; readonly layer: UnpackedLayer }
  /** `isRefused`: the layer itself is wrong; no retry changes that. */
  | { readonly ok: false; readonly isRefused: boolean; readonly message: string };

/** Answers requests of the parent thread, one at a time. */
export function runLayerThread(): void {
  unshare(cloneFileSystem | namespaces.mnt);
  isolateMounts();
  const home = openPath('/');
  parentPort?.on('message', (request: LayerRequest) => void answer(request, home).then((each) => parentPort?.postMessage(each)));
}

async function answer(request: LayerRequest, home: number): Promise<LayerAnswer> {
  try {
    return { ok: true, layer: await unpack(request, home) };
  } catch (error) {
    const { message } = error as Error;
    return { ok: false, isRefused: error instanceof LayerError || isArchiveError(error), message };
  }
}

async function unpack({ blob, directory, parents, limits }: LayerRequest, home: number): Promise<UnpackedLayer> {
  const upper = path.join(directory, 'fs');
  mkdirSync(upper, { mode: 0o755 });
  // Programs start before the root changes: they are the host's.
  const stream = openArchive(blob);
  try {
    const root = parents.length === 0 ? openPath(upper) : overlayRoot(directory, parents);
    return await unpackTo(root, { stream, files: new LayerFiles(limits), home });
  } finally {
    stream.destroy();
  }
}

interface Unpacking {
  readonly stream: Readable;
  readonly files: LayerFiles;
  readonly home: number;
}

/** `root` is closed afterwards. */
async function unpackTo(root: number, { stream, files, home }: Unpacking): Promise<UnpackedLayer> {
  try {
    enterDirectory(root);
    changeRootDirectory('.');
    const digest = await apply(stream, files);
    files.finish();
    return { diffId: `sha256:${digest}`, bytes: files.bytes, passwd: readSmall('/etc/passwd'), group: readSmall('/etc/group') };
  } finally {
    files.abandon();
    close(root);
    enterDirectory(home);
    changeRootDirectory('.');
    changeDirectory('/');
  }
}

/** What is written, removed or linked there goes to `fs`, in the form that overlays read. */
function overlayRoot(directory: string, parents: readonly string[]): number {
  const work = path.join(directory, 'work');
  mkdirSync(work);
  return newOverlay({ lower: parents, upper: path.join(directory, 'fs'), work, options: ['index=off', 'redirect_dir=off', 'metacopy=off'] }, []);
}

async function apply(stream: Readable, files: LayerFiles): Promise<string> {
  const reader = new TarReader(files);
  const hash: Hash = createHash('sha256');
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    hash.update(chunk);
    reader.write(chunk);
  }
  reader.end();
  return hash.digest('hex');
}

const mostListBytes = 1 << 20;

/** A list of users or groups of the image; '': it has none, or one that is too long to be true. A pipe in its place is not waited for. */
function readSmall(name: string): string {
  let file: number;
  try {
    file = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return '';
  }
  try {
    const facts = fstatSync(file);
    return facts.isFile() && facts.size <= mostListBytes ? readFileSync(file, 'utf8') : '';
  } finally {
    closeSync(file);
  }
}
