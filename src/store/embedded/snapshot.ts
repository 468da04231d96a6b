import type { AppendFile, Disk } from '../../world/disk.ts';
import type { Tree } from '../mvcc/tree.ts';
import { ByteWriter } from './bytes.ts';
import { partialPathOf, pathOf, type SnapshotFile } from './files.ts';
import { beginFrame, digestWith, endFrame, FILE_HEADER_BYTES, fileHeader } from './format.ts';
import { writeEnd, writeEntry } from './records.ts';

interface SnapshotOptions {
  readonly directory: string;
  readonly disk: Disk;
  readonly tree: Tree;
  /** The state to write; the tree keeps it pinned meanwhile. */
  readonly revision: number;
  readonly clusterId: string;
  /** True once the snapshot is no longer needed. */
  readonly abandoned: () => boolean;
}

/**
 * Writes the state as of one revision, a slice at a time: between slices the store serves as always. The file gets its
 * name when it is complete and synced, so a crash leaves either all of it or a partial file that is removed on start.
 */
export async function writeSnapshot(options: SnapshotOptions): Promise<SnapshotFile | undefined> {
  const { directory, disk, revision } = options;
  const path = pathOf(directory, 'snapshot', revision);
  const partial = partialPathOf(path);
  const file = await disk.openAppend(partial);
  let written: { readonly bytes: number; readonly digest: number } | undefined;
  try {
    // A failed attempt may have left a partial file.
    await disk.truncate(partial, 0);
    written = await writeSlices(file, options);
    await file.sync();
  } finally {
    await file.close();
    if (written === undefined) await disk.remove(partial);
  }
  if (written === undefined) return undefined;
  await disk.rename(partial, path);
  await disk.syncDirectory(directory);
  return { path, revision, ...written };
}

/** What the file has then; undefined if it was abandoned. */
async function writeSlices(
  file: AppendFile,
  { tree, revision, clusterId, abandoned }: SnapshotOptions,
): Promise<{ readonly bytes: number; readonly digest: number } | undefined> {
  const writer = new ByteWriter(SLICE_BYTES * 2);
  let bytes = FILE_HEADER_BYTES;
  let digest = 0;
  let unsynced = 0;
  let entries = 0;
  await file.append([fileHeader('snapshot', revision, clusterId)]);
  const flush = async (): Promise<void> => {
    const frame = endFrame(writer);
    await file.append([frame]);
    bytes += frame.byteLength;
    digest = digestWith(digest, frame);
    unsynced += frame.byteLength;
    // In small steps: one huge sync at the end would delay the commits on the same disk.
    if (unsynced > SYNC_BYTES) await file.sync();
    if (unsynced > SYNC_BYTES) unsynced = 0;
    writer.clear();
    beginFrame(writer);
  };
  beginFrame(writer);
  for (let from = ''; ; ) {
    const slice = tree.rangePinned(from, SLICE_ENTRIES);
    for (const entry of slice) {
      writeEntry(writer, entry);
      from = `${entry.key}\0`;
      if (writer.length > SLICE_BYTES) await flush();
    }
    entries += slice.length;
    if (abandoned()) return undefined;
    if (slice.length < SLICE_ENTRIES) break;
  }
  writeEnd(writer, entries);
  await flush();
  return { bytes, digest };
}

const SLICE_ENTRIES = 512;
const SLICE_BYTES = 256 << 10;
const SYNC_BYTES = 4 << 20;
