import type { Disk } from '../../world/disk.ts';
import { StoreError } from '../contract.ts';
import { Tree } from '../mvcc/tree.ts';
import { StoreDamage } from './damage.ts';
import { listFiles, type Segment, type SnapshotFile, type StoredFile, type StoredFiles } from './files.ts';
import { FILE_HEADER_BYTES, FORMAT } from './format.ts';
import { type ListedFile, MANIFEST, type ManifestContent, readManifest } from './manifest.ts';
import { PROGRESS, type ProgressNote, readProgress } from './progress.ts';
import { type Checkpoint, checkCluster, checkpointOf, headerOf, isUnused, loadSnapshot, replaySegment } from './replay.ts';

/** What the files of a store hold, and what is to be done before it goes on. */
export interface Examined {
  readonly tree: Tree;
  /**
   * - `new`: there are no files yet
   * - `created`: there is a manifest; creating the store may not be finished, then there are no segments
   * - `format 1`: as Mooring 0.2.0 left it, without a manifest
   */
  readonly state: 'new' | 'created' | 'format 1';
  readonly clusterId: string | undefined;
  readonly segments: readonly Segment[];
  readonly snapshot: SnapshotFile | undefined;
  /** An append that a crash cut off, and that was never acknowledged: it is to be removed. */
  readonly torn: { readonly path: string; readonly bytes: number } | undefined;
  /** The newest segment ends here: what follows is a torn append, or zeros of a process that was killed. */
  readonly cut: { readonly path: string; readonly size: number } | undefined;
  /** Files that do not count: never completed, or replaced. */
  readonly discard: readonly string[];
}

/** The revision of an empty store, before its first transaction. */
export const FIRST_REVISION = 1;

/**
 * Reads all files of a store and judges them; it changes nothing. What a crash at any moment leaves is accepted; everything else is damage.
 * @throws StoreDamage, or StoreError `corrupt` or `newer-version`
 */
export async function examine(disk: Disk, directory: string): Promise<Examined> {
  const files = await listFiles(disk, directory);
  const manifest = await readManifest(disk, directory);
  if (manifest !== undefined) return examineListed(disk, { directory, files, manifest });
  const isFresh = files.logs.length + files.snapshots.length === 0 && !(await disk.list(directory)).includes(PROGRESS);
  if (isFresh) return { ...nothing, tree: new Tree(FIRST_REVISION, 0), state: 'new', clusterId: undefined, discard: files.partial };
  return examineFormat1(disk, directory, files);
}

const nothing = { segments: [], snapshot: undefined, torn: undefined, cut: undefined } as const;

/** Does what `examine` found to be necessary. */
export async function discardRest(disk: Disk, directory: string, { cut, discard }: Examined): Promise<void> {
  for (const path of discard) await disk.remove(path);
  if (cut !== undefined) await disk.truncate(cut.path, cut.size);
  // A removed segment must not come back behind revisions that are written from now on.
  if (discard.length > 0) await disk.syncDirectory(directory);
}

interface Listed {
  readonly directory: string;
  readonly files: StoredFiles;
  readonly manifest: ManifestContent;
}

async function examineListed(disk: Disk, listed: Listed): Promise<Examined> {
  const { directory, manifest } = listed;
  const { clusterId, snapshot: wanted } = manifest;
  if (manifest.segments.length === 0) return examineUnfinished(disk, listed);
  const notes = await readProgress(disk, directory, clusterId);
  const discard = [...listed.files.partial, ...(await unlisted(disk, listed))];
  const tree = wanted === undefined ? new Tree(FIRST_REVISION, 0) : new Tree(wanted.revision, wanted.revision);
  const snapshot = wanted === undefined ? undefined : await loadListedSnapshot(disk, { ...listed, wanted }, tree);
  const replayed = await replayListed(disk, { ...listed, notes }, tree);
  return { tree, state: 'created', clusterId, snapshot, discard, ...replayed };
}

/** The store was being created: nothing was acknowledged yet, and what is there holds nothing. */
async function examineUnfinished(disk: Disk, { directory, files, manifest: { clusterId } }: Listed): Promise<Examined> {
  for (const { path } of [...files.logs, ...files.snapshots]) {
    const isEmpty = path.includes('/log-') && (await isUnused(disk, path, clusterId));
    if (!isEmpty) throw new StoreDamage({ file: `${directory}/${MANIFEST}`, expected: `a manifest that lists ${path}`, found: 'one of a store without files' });
  }
  const discard = [...files.partial, ...files.logs.map(({ path }) => path)];
  return { ...nothing, tree: new Tree(FIRST_REVISION, 0), state: 'created', clusterId, discard };
}

/** Files that no manifest lists: what a crash leaves may go, everything else is damage. */
async function unlisted(disk: Disk, { directory, files, manifest }: Listed): Promise<string[]> {
  const { clusterId, segments, snapshot } = manifest;
  const names = new Set([...segments, ...(snapshot === undefined ? [] : [snapshot])].map(({ file }) => `${directory}/${file}`));
  const oldest = segments[0]?.after ?? 0;
  const newest = segments.at(-1)?.after ?? 0;
  for (const { path, revision } of [...files.logs, ...files.snapshots].filter((file) => !names.has(file.path))) {
    checkCluster(path, (await headerOf(disk, path))?.clusterId, clusterId);
    const mayBe = path.includes('/snapshot-') || revision < oldest || (revision > newest && (await isUnused(disk, path, clusterId)));
    if (!mayBe) throw new StoreDamage({ file: path, expected: 'no such file, or one that the manifest lists', found: 'a log that is not part of this store' });
  }
  return [...files.logs, ...files.snapshots].map(({ path }) => path).filter((path) => !names.has(path));
}

async function loadListedSnapshot(disk: Disk, { directory, files, manifest, wanted }: Listed & { wanted: ListedFile }, tree: Tree): Promise<SnapshotFile> {
  const path = `${directory}/${wanted.file}`;
  const expected = `the snapshot of revision ${wanted.revision}, ${wanted.bytes} bytes`;
  if (!files.snapshots.some((file) => file.path === path)) throw new StoreDamage({ file: path, expected, found: 'no file' });
  const snapshot = await loadSnapshot(disk, { path, revision: wanted.revision, clusterId: manifest.clusterId }, tree);
  const { bytes, digest } = checkpointOf(wanted);
  if (snapshot.bytes !== bytes || snapshot.digest !== digest) {
    throw new StoreDamage({ file: path, expected: `${expected} with digest ${wanted.digest}`, found: `another one, ${snapshot.bytes} bytes` });
  }
  return snapshot;
}

async function replayListed(
  disk: Disk,
  { directory, files, manifest, notes }: Listed & { notes: readonly ProgressNote[] },
  tree: Tree,
): Promise<Pick<Examined, 'segments' | 'torn' | 'cut'>> {
  const known = Math.max(...manifest.segments.map(({ revision }) => revision), ...notes.map(({ revision }) => revision));
  const segments: Segment[] = [];
  let end: Pick<Examined, 'torn' | 'cut'> = { torn: undefined, cut: undefined };
  checkNotes(directory, manifest, notes);
  for (const [index, wanted] of manifest.segments.entries()) {
    const path = `${directory}/${wanted.file}`;
    const isNewest = index === manifest.segments.length - 1;
    const segment: Segment = { path, base: wanted.after, last: wanted.after, bytes: 0, digest: 0 };
    try {
      if (!files.logs.some((file) => file.path === path))
        throw new StoreDamage({ file: path, expected: `the log after revision ${wanted.after}`, found: 'no file' });
      const checkpoints = isNewest ? [checkpointOf(wanted), ...newestNote(notes, wanted)] : [checkpointOf(wanted)];
      const found = await replaySegment(disk, { path, base: wanted.after, clusterId: manifest.clusterId, checkpoints, segment }, tree);
      if (!isNewest && segment.bytes !== wanted.bytes) {
        throw new StoreDamage({ file: path, expected: `${wanted.bytes} bytes`, found: `frames up to offset ${segment.bytes}` });
      }
      if (isNewest) end = endOf(found, segment);
    } catch (error) {
      throw withMissing(error, known - Math.min(segment.last, known));
    }
    segments.push(segment);
  }
  return { segments, ...end };
}

function endOf(found: Awaited<ReturnType<typeof replaySegment>>, { path, bytes }: Segment): Pick<Examined, 'torn' | 'cut'> {
  if (found.type === 'torn') return { torn: { path, bytes: found.lost }, cut: { path, size: bytes } };
  return { torn: undefined, cut: found.zeros > 0 ? { path, size: bytes } : undefined };
}

const newestNote = (notes: readonly ProgressNote[], { after, bytes }: ListedFile): Checkpoint[] =>
  notes
    .filter((note) => note.base === after && note.bytes > bytes)
    .sort((a, b) => a.bytes - b.bytes)
    .slice(-1);

/** Notes are of listed segments, or of older ones: a segment is listed before it is used. */
function checkNotes(directory: string, { segments }: ManifestContent, notes: readonly ProgressNote[]): void {
  const newest = segments.at(-1)?.after ?? 0;
  const later = notes.find(({ base }) => base > newest);
  if (later === undefined) return;
  const expected = `a manifest that lists the log after revision ${later.base}, which got to revision ${later.revision}`;
  throw new StoreDamage({ file: `${directory}/${MANIFEST}`, expected, found: `an older one, whose last log starts after revision ${newest}` });
}

/** The same damage, with the number of revisions that were acknowledged and cannot be read. */
function withMissing(error: unknown, missingRevisions: number): unknown {
  if (error instanceof StoreDamage) {
    const { file, expected, found } = error;
    return new StoreDamage({ file, expected, found, missingRevisions: Math.max(missingRevisions, error.missingRevisions) });
  }
  if (!(error instanceof StoreError) || error.code !== 'corrupt' || missingRevisions === 0) return error;
  return new StoreError('corrupt', `${error.message}; at least ${missingRevisions} acknowledged revisions cannot be read`, { cause: error.cause });
}

/** As 0.2.0 read it: the names of the files alone say what belongs together. */
async function examineFormat1(disk: Disk, directory: string, { logs, snapshots, partial }: StoredFiles): Promise<Examined> {
  for (const { path } of [...logs, ...snapshots]) {
    const clusterId = (await headerOf(disk, path))?.clusterId;
    if (clusterId !== undefined) throw noManifest(directory, `files of cluster ${clusterId}`);
  }
  const noted = (await disk.list(directory)).includes(PROGRESS) ? await disk.size(`${directory}/${PROGRESS}`) : 0;
  if (logs.length === 0 || noted > FILE_HEADER_BYTES) throw noManifest(directory, 'other files of a store');
  const newest = snapshots.at(-1);
  const tree = newest === undefined ? new Tree(FIRST_REVISION, 0) : new Tree(newest.revision, newest.revision);
  const snapshot = newest === undefined ? undefined : await loadSnapshot(disk, { ...newest, clusterId: undefined }, tree);
  // Logs before the last one that starts at or before the snapshot were about to be removed, and so were older snapshots.
  const first = logs.findLastIndex((file) => file.revision <= tree.revision);
  if (first < 0) throw missing(directory, tree.revision, logs[0]);
  const { unborn, ...replayed } = await replayFormat1(disk, logs.slice(first), tree);
  if (replayed.segments.length === 0) throw new StoreDamage({ file: unborn[0] ?? directory, expected: 'a log', found: 'a file without a sound header' });
  const discard = [...partial, ...snapshots.slice(0, -1).map(({ path }) => path), ...logs.slice(0, first).map(({ path }) => path), ...unborn];
  return { tree, state: 'format 1', clusterId: undefined, snapshot, discard, ...replayed };
}

const noManifest = (directory: string, beside: string): StoreDamage =>
  new StoreDamage({ file: `${directory}/${MANIFEST}`, expected: `a manifest of format ${FORMAT}`, found: `no file beside ${beside}` });

function missing(directory: string, from: number, next: StoredFile | undefined): StoreError {
  const until = next === undefined ? '' : `, the next log, ${next.path}, starts after revision ${next.revision}`;
  return new StoreError('corrupt', `${directory} is corrupt: the log after revision ${from} is missing${until}`);
}

async function replayFormat1(
  disk: Disk,
  files: readonly StoredFile[],
  tree: Tree,
): Promise<Pick<Examined, 'segments' | 'torn' | 'cut'> & { readonly unborn: readonly string[] }> {
  const segments: Segment[] = [];
  for (const [index, { path, revision }] of files.entries()) {
    const isNewest = index === files.length - 1;
    // A segment whose creation was cut off.
    if (isNewest && (await headerOf(disk, path)) === undefined && (await isUnused(disk, path, undefined)))
      return { segments, torn: undefined, cut: undefined, unborn: [path] };
    const before = segments.at(-1)?.last ?? revision;
    if (before !== revision) {
      throw new StoreDamage({ file: path, expected: `a log after revision ${before}, where the one before it ends`, found: `one after revision ${revision}` });
    }
    const segment: Segment = { path, base: revision, last: revision, bytes: 0, digest: 0 };
    const end = await replaySegment(disk, { path, base: revision, clusterId: undefined, checkpoints: [], segment }, tree);
    if (end.type === 'torn' && !isNewest)
      throw new StoreDamage({ file: path, expected: 'whole frames, since another log follows', found: `part of one at offset ${end.size}` });
    segments.push(segment);
    if (isNewest) return { segments, unborn: [], ...endOf(end, segment) };
  }
  return { segments, torn: undefined, cut: undefined, unborn: [] };
}
