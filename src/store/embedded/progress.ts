import { crc32 } from 'node:zlib';
import type { AppendFile, Disk } from '../../world/disk.ts';
import type { Timers } from '../../world/world.ts';
import { StoreDamage } from './damage.ts';
import type { Segment } from './files.ts';
import { FILE_HEADER_BYTES, fileHeader, readFileHeader } from './format.ts';

/**
 * How far the newest segment had got, noted about once a second while there are writes. What is noted was acknowledged: a log that ends
 * before it has lost acknowledged writes. Notes are not synced, so they cost no write anything; a crash may lose or tear the last ones.
 *
 *     note   'NOTE'   digest u32   base f64   bytes f64   revision f64   0 u32   checksum of these u32       40 bytes
 */
export interface ProgressNote {
  /** Of the segment. */
  readonly base: number;
  readonly bytes: number;
  readonly revision: number;
  readonly digest: number;
}

export const PROGRESS = 'progress';
const NOTE_MAGIC = Buffer.from('NOTE', 'latin1');
const NOTE_BYTES = 40;
const INTERVAL_MS = 1000;
/** At this size the notes are dropped, since a manifest that knows as much is written. */
const MOST_BYTES = 64 << 10;

const pathIn = (directory: string): string => `${directory}/${PROGRESS}`;

export async function createProgress(disk: Disk, directory: string, clusterId: string): Promise<void> {
  const path = pathIn(directory);
  const file = await disk.openAppend(path);
  try {
    await disk.truncate(path, 0);
    await file.append([fileHeader('progress', 0, clusterId)]);
    await file.sync();
  } finally {
    await file.close();
  }
  await disk.syncDirectory(directory);
}

/**
 * All notes that are whole.
 * @throws StoreError `corrupt` if the file is not there or its header, which was synced, is not sound
 */
export async function readProgress(disk: Disk, directory: string, clusterId: string): Promise<readonly ProgressNote[]> {
  const path = pathIn(directory);
  const expected = `the progress notes of cluster ${clusterId}`;
  if (!(await disk.list(directory)).includes(PROGRESS)) throw new StoreDamage({ file: path, expected, found: 'no file' });
  const size = await disk.size(path);
  const bytes = Buffer.from(await disk.read(path, 0, size));
  const header = readFileHeader(path, 'progress', bytes.subarray(0, FILE_HEADER_BYTES));
  if (header?.clusterId === undefined) throw new StoreDamage({ file: path, expected, found: `${size} bytes without a sound header` });
  if (header.clusterId !== clusterId) throw new StoreDamage({ file: path, expected, found: `a file of cluster ${header.clusterId}` });
  return notesIn(bytes);
}

function notesIn(bytes: Buffer): ProgressNote[] {
  const notes: ProgressNote[] = [];
  for (let at = bytes.indexOf(NOTE_MAGIC, FILE_HEADER_BYTES); at >= 0; at = bytes.indexOf(NOTE_MAGIC, at + 1)) {
    const note = bytes.subarray(at, at + NOTE_BYTES);
    if (note.length < NOTE_BYTES || crc32(note.subarray(0, 36)) !== note.readUInt32LE(36)) continue;
    notes.push({ digest: note.readUInt32LE(4), base: note.readDoubleLE(8), bytes: note.readDoubleLE(16), revision: note.readDoubleLE(24) });
  }
  return notes;
}

function noteOf({ base, bytes, last, digest }: Segment): Buffer {
  const note = Buffer.alloc(NOTE_BYTES);
  NOTE_MAGIC.copy(note);
  note.writeUInt32LE(digest, 4);
  note.writeDoubleLE(base, 8);
  note.writeDoubleLE(bytes, 16);
  note.writeDoubleLE(last, 24);
  note.writeUInt32LE(crc32(note.subarray(0, 36)), 36);
  return note;
}

interface ProgressOptions {
  readonly disk: Disk;
  readonly directory: string;
  readonly timers: Timers | undefined;
  readonly newest: () => Segment;
  /** Writes a manifest with the progress so far: then the notes are no longer needed. */
  readonly saveManifest: () => Promise<void>;
}

export class Progress {
  readonly #options: ProgressOptions;
  readonly #file: AppendFile;
  #size: number;
  #cancel: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(options: ProgressOptions, file: AppendFile, size: number) {
    this.#options = options;
    this.#file = file;
    this.#size = size;
  }

  static async open(options: ProgressOptions): Promise<Progress> {
    const path = pathIn(options.directory);
    return new Progress(options, await options.disk.openAppend(path), await options.disk.size(path));
  }

  /** A write is durable: within a second it is noted, with those that come until then. */
  advanced(): void {
    this.#cancel ??= this.#options.timers?.after(INTERVAL_MS, () => {
      this.#cancel = undefined;
      this.#writing = this.#writing.then(() => this.#note());
    });
  }

  async close(): Promise<void> {
    this.#cancel?.();
    await this.#writing;
    await this.#file.close();
  }

  /** A note that the disk refuses is left out: the next one says more. */
  async #note(): Promise<void> {
    try {
      await this.#file.append([noteOf(this.#options.newest())]);
      this.#size += NOTE_BYTES;
      if (this.#size > MOST_BYTES) await this.#startAgain();
    } catch {
      this.#size += NOTE_BYTES;
    }
  }

  async #startAgain(): Promise<void> {
    await this.#options.saveManifest();
    await this.#options.disk.truncate(pathIn(this.#options.directory), FILE_HEADER_BYTES);
    this.#size = FILE_HEADER_BYTES;
  }
}
