import type { Disk } from '../../world/disk.ts';
import { StoreError } from '../contract.ts';
import { Tree } from '../mvcc/tree.ts';
import { tombstone, Version, visible } from '../mvcc/version.ts';
import { ByteReader } from './bytes.ts';
import type { Segment } from './commit-log.ts';
import { listFiles, type StoredFile } from './files.ts';
import { FrameFile } from './frame-file.ts';
import { type LoggedWrite, readLogRecord, readSnapshotRecord } from './records.ts';

export interface Recovered {
  readonly tree: Tree;
  readonly segments: readonly Segment[];
  readonly snapshot: SnapshotFile | undefined;
  /** An append that a crash cut off, and that was never acknowledged: it is removed. */
  readonly torn: { readonly path: string; readonly bytes: number } | undefined;
}

export interface SnapshotFile extends StoredFile {
  readonly bytes: number;
}

/** The revision of an empty store, before its first transaction. */
const FIRST_REVISION = 1;

/**
 * Brings back what the last process left: the newest snapshot, then every later transaction of the log.
 * @throws StoreError `corrupt` or `newer-version`; then nothing was changed
 */
export async function recover(disk: Disk, directory: string): Promise<Recovered> {
  const { logs, snapshots, partial } = await listFiles(disk, directory);
  // Files that a killed process created or renamed may not be durable yet, and recovery relies on them.
  await disk.syncDirectory(directory);
  const newest = snapshots.at(-1);
  const tree = newest === undefined ? new Tree(FIRST_REVISION, 0) : new Tree(newest.revision, newest.revision);
  const snapshot = newest === undefined ? undefined : await loadSnapshot(disk, newest, tree);
  // Logs before the last one that starts at or before the snapshot were about to be removed, and so were older snapshots.
  const first = logs.findLastIndex((file) => file.revision <= tree.revision);
  if (first < 0 && logs.length + snapshots.length > 0) throw missing(directory, tree.revision, logs[0]);
  const { segments, torn, unborn, zeros } = await replay(disk, logs.slice(Math.max(first, 0)), tree);
  const obsolete = [...snapshots.slice(0, -1), ...logs.slice(0, Math.max(first, 0)), ...unborn].map((file) => file.path);
  for (const path of [...partial, ...obsolete]) await disk.remove(path);
  if (torn !== undefined) await disk.truncate(torn.path, torn.size);
  if (zeros !== undefined) await disk.truncate(zeros.path, zeros.bytes);
  if (unborn.length > 0) await disk.syncDirectory(directory);
  return { tree, segments, snapshot, torn: torn && { path: torn.path, bytes: torn.lost } };
}

function missing(directory: string, from: number, next: StoredFile | undefined): StoreError {
  const until = next === undefined ? '' : `, the next log, ${next.path}, starts after revision ${next.revision}`;
  return new StoreError('corrupt', `${directory} is corrupt: the log after revision ${from} is missing${until}`);
}

async function loadSnapshot(disk: Disk, { path, revision }: StoredFile, tree: Tree): Promise<SnapshotFile> {
  const file = await FrameFile.open(disk, path);
  if ((await file.header('snapshot')) !== revision) throw file.corrupt(0, 'its header is damaged or belongs to another file');
  let ended = false;
  const end = await file.frames((payload) => {
    for (const reader = new ByteReader(payload); !reader.atEnd; ) {
      const record = readSnapshotRecord(reader);
      if (record.type === 'entry') tree.load(record.version);
      else if (record.entries === tree.keys) ended = true;
      else throw new RangeError(`it should hold ${record.entries} keys, but holds ${tree.keys}`);
    }
  });
  // A snapshot gets its name only when it is complete and synced: no crash can tear it.
  if (end.type === 'torn' || !ended) throw file.corrupt(end.size, 'it ends too early');
  return { path, revision, bytes: end.size };
}

interface Replayed {
  readonly segments: Segment[];
  torn: { readonly path: string; readonly size: number; readonly lost: number } | undefined;
  /** The newest segment, if zeros follow its frames: its process was killed. */
  zeros: Segment | undefined;
  /** A segment whose creation was cut off. */
  readonly unborn: StoredFile[];
}

async function replay(disk: Disk, files: readonly StoredFile[], tree: Tree): Promise<Replayed> {
  const replayed: Replayed = { segments: [], torn: undefined, zeros: undefined, unborn: [] };
  for (const [index, { path, revision }] of files.entries()) {
    const newest = index === files.length - 1;
    const file = await FrameFile.open(disk, path);
    const base = await file.header('log');
    if (base === undefined && newest) {
      replayed.unborn.push({ path, revision });
      break;
    }
    if (base !== revision) throw file.corrupt(0, 'its header is damaged or belongs to another file');
    const before = replayed.segments.at(-1)?.last ?? base;
    if (before !== base) throw file.corrupt(0, `it starts after revision ${base}, but the log before it ends at ${before}`);
    const segment = { path, base, last: base, bytes: 0 };
    const end = await file.frames((payload) => replayFrame(payload, segment, tree));
    if (end.type === 'torn' && !newest) throw file.corrupt(end.size, 'a log that is followed by another ends within a frame');
    if (end.type === 'torn') replayed.torn = { path, size: end.size, lost: end.lost };
    segment.bytes = end.size;
    if (end.type === 'whole' && end.zeros > 0 && newest) replayed.zeros = segment;
    replayed.segments.push(segment);
  }
  return replayed;
}

function replayFrame(payload: Buffer, segment: Segment, tree: Tree): void {
  const reader = new ByteReader(payload);
  const first = reader.double();
  if (first !== segment.last + 1) throw new RangeError(`revision ${first} follows ${segment.last}`);
  while (!reader.atEnd) {
    const record = readLogRecord(reader);
    if (record.type === 'compact') {
      tree.compact(record.revision);
      tree.trim(Number.POSITIVE_INFINITY);
    } else {
      segment.last++;
      if (segment.last > tree.revision) tree.apply(record.writes.map((write) => versionOf(write, segment.last, tree)));
    }
  }
}

function versionOf(write: LoggedWrite, revision: number, tree: Tree): Version {
  const current = visible(tree.newest(write.key));
  if (write.type === 'delete') return tombstone(current?.key ?? write.key, revision);
  return new Version({
    key: current?.key ?? write.key,
    value: write.value,
    createRevision: current?.createRevision ?? revision,
    modRevision: revision,
  });
}
