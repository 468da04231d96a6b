import type { Disk } from '../../world/disk.ts';
import type { Tree } from '../mvcc/tree.ts';
import { tombstone, Version, visible } from '../mvcc/version.ts';
import { ByteReader } from './bytes.ts';
import { StoreDamage } from './damage.ts';
import { fileName, type Segment, type SnapshotFile } from './files.ts';
import { FILE_HEADER_BYTES, type FileHeader, readFileHeader } from './format.ts';
import { type FileEnd, type Frame, FrameFile } from './frame-file.ts';
import { digestText, type ListedFile } from './manifest.ts';
import { type LoggedWrite, readLogRecord, readSnapshotRecord } from './records.ts';

/** What a file must hold where it is known: up to this offset these frames, which end at this revision. */
export interface Checkpoint {
  readonly bytes: number;
  readonly revision: number;
  readonly digest: number;
}

export const checkpointOf = ({ bytes, revision, digest }: ListedFile): Checkpoint => ({ bytes, revision, digest: Number.parseInt(digest, 16) });

interface SnapshotToLoad {
  readonly path: string;
  readonly revision: number;
  /** undefined: any. */
  readonly clusterId: string | undefined;
}

/** A sound snapshot into an empty tree. @throws StoreError */
export async function loadSnapshot(disk: Disk, { path, revision, clusterId }: SnapshotToLoad, tree: Tree): Promise<SnapshotFile> {
  const file = await FrameFile.open(disk, path);
  const header = await file.header('snapshot');
  checkCluster(path, header?.clusterId, clusterId);
  if (header?.revision !== revision) throw file.corrupt(0, 'its header is damaged or belongs to another file');
  let ended = false;
  let digest = 0;
  const end = await file.frames((frame) => {
    digest = frame.digest;
    for (const reader = new ByteReader(frame.payload); !reader.atEnd; ) {
      const record = readSnapshotRecord(reader);
      if (record.type === 'entry') tree.load(record.version);
      else if (record.entries === tree.keys) ended = true;
      else throw new RangeError(`it should hold ${record.entries} keys, but holds ${tree.keys}`);
    }
  });
  // A snapshot gets its name only when it is complete and synced: no crash can tear it.
  if (end.type === 'torn' || !ended) throw file.corrupt(end.size, 'it ends too early');
  return { path, revision, bytes: end.size, digest };
}

interface SegmentReplay {
  readonly path: string;
  /** The revision before its first. */
  readonly base: number;
  /** undefined: any. */
  readonly clusterId: string | undefined;
  /** Those it must reach, in the order of their offsets. */
  readonly checkpoints: readonly Checkpoint[];
  /** Filled as frames are replayed, also if the rest of the file is damaged. */
  readonly segment: Segment;
}

/** Replays the frames of one segment into the tree. @throws StoreError */
export async function replaySegment(disk: Disk, { path, base, clusterId, checkpoints, segment }: SegmentReplay, tree: Tree): Promise<FileEnd> {
  const file = await FrameFile.open(disk, path);
  const header = await file.header('log');
  if (header === undefined)
    throw new StoreDamage({ file: path, expected: 'a log', found: file.size === 0 ? 'an empty file' : `${file.size} bytes, cut within the header` });
  checkCluster(path, header.clusterId, clusterId);
  if (header.revision !== base) throw file.corrupt(0, 'its header is damaged or belongs to another file');
  segment.bytes = header.length;
  const open = checkpoints.filter(({ bytes }) => bytes > header.length);
  const end = await file.frames((frame) => {
    replayFrame(frame.payload, segment, tree);
    segment.bytes = frame.end;
    segment.digest = frame.digest;
    for (let next = open[0]; next !== undefined && next.bytes <= frame.end; next = open[0]) {
      checkReached(path, next, { frame, segment });
      open.shift();
    }
  });
  const unreached = open.at(-1);
  if (unreached !== undefined) throw tooShort(path, unreached, segment);
  return end;
}

function checkReached(path: string, { bytes, revision, digest }: Checkpoint, { frame, segment }: { frame: Frame; segment: Segment }): void {
  if (bytes === frame.end && revision === segment.last && digest === frame.digest) return;
  throw new StoreDamage({
    file: path,
    expected: `revision ${revision} and digest ${digestText(digest)} at offset ${bytes}`,
    found: `revision ${segment.last} and digest ${digestText(frame.digest)} at offset ${frame.end}: other frames than this store wrote`,
  });
}

const tooShort = (path: string, { bytes, revision }: Checkpoint, { bytes: size, last }: Segment): StoreDamage =>
  new StoreDamage({
    file: path,
    expected: `at least ${bytes} bytes, up to revision ${revision}`,
    found: `${size} bytes, up to revision ${last}`,
    missingRevisions: revision - last,
  });

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

/** Whether a log holds nothing that was ever written to it. @throws StoreError if it belongs to another cluster or cannot be read */
export async function isUnused(disk: Disk, path: string, clusterId: string | undefined): Promise<boolean> {
  const file = await FrameFile.open(disk, path);
  const header = await file.header('log');
  if (header === undefined) return true;
  checkCluster(path, header.clusterId, clusterId);
  return file.size <= header.length || (await file.isZeroFromHere());
}

/** @throws StoreError */
export function checkCluster(path: string, found: string | undefined, expected: string | undefined): void {
  if (found === undefined || expected === undefined || found === expected) return;
  throw new StoreDamage({ file: path, expected: `a file of cluster ${expected}`, found: `one of cluster ${found}` });
}

/** The header of a log or snapshot; undefined: it is not sound. @throws StoreError `newer-version` */
export async function headerOf(disk: Disk, path: string): Promise<FileHeader | undefined> {
  const kind = fileName(path).startsWith('log-') ? 'log' : 'snapshot';
  return readFileHeader(path, kind, Buffer.from(await disk.read(path, 0, FILE_HEADER_BYTES)));
}
