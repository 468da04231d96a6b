import type { AppendFile, Disk } from '../../world/disk.ts';
import { StoreError } from '../contract.ts';
import { pathOf, type Segment, writeRefusal } from './files.ts';
import { digestWith, FILE_HEADER_BYTES, fileHeader } from './format.ts';
import type { Manifest } from './manifest.ts';

interface CommitLogOptions {
  readonly directory: string;
  readonly disk: Disk;
  /** A segment that reached this size is followed by a new one. */
  readonly segmentBytes: number;
  /** Of the segments, which it names before they are used. */
  readonly manifest: Manifest;
}

/**
 * The log on disk: frames appended to the newest segment, each synced before the next.
 *
 * After a write that the disk refused, part of a frame may be left. It must go before anything else is appended, else it would
 * look like damage in the middle; if even that fails, it is tried again before the next append.
 */
export class CommitLog {
  readonly #options: CommitLogOptions;
  #file: AppendFile;
  /** What must be put right before the next append. */
  #repair: (() => Promise<void>) | undefined;
  /** The size at which the newest segment is followed by another. */
  #startNextAt: number;

  private constructor(options: CommitLogOptions, file: AppendFile) {
    this.#options = options;
    this.#file = file;
    this.#startNextAt = options.segmentBytes;
  }

  /** Goes on behind the newest segment of the manifest. */
  static async open(options: CommitLogOptions): Promise<CommitLog> {
    const newest = newestOf(options.manifest);
    const file = await options.disk.openPreallocated(newest.path, aheadOf(options));
    // A process that was killed may have left frames that no sync has covered. They are about to be shown to readers.
    await file.sync();
    return new CommitLog(options, file);
  }

  get bytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.bytes, 0);
  }

  /** Bytes of the segments that hold nothing after `revision`. */
  bytesThrough(revision: number): number {
    return this.#segments.slice(0, -1).reduce((sum, segment) => sum + (segment.last <= revision ? segment.bytes : 0), 0);
  }

  /**
   * Resolves once the frame, whose newest revision is `last`, is durable.
   * @throws StoreError `full`: nothing of it is left; `failed`: it may or may not be there
   */
  async append(frame: Buffer, last: number): Promise<void> {
    if (this.#repair !== undefined || this.newest.bytes >= this.#startNextAt) await this.#prepare();
    const segment = this.newest;
    try {
      await this.#file.append([frame]);
    } catch (error) {
      this.#repair = () => this.#options.disk.truncate(segment.path, segment.bytes);
      await this.#tryRepair();
      throw writeRefusal(error, this.#options.directory);
    }
    await this.#sync();
    segment.bytes += frame.byteLength;
    segment.last = last;
    segment.digest = digestWith(segment.digest, frame);
  }

  /** The segments that hold something after `revision`; the newest one always counts. */
  static segmentsAfter(segments: readonly Segment[], revision: number): readonly Segment[] {
    return segments.filter((segment, index) => segment.last > revision || index === segments.length - 1);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  get newest(): Segment {
    return newestOf(this.#options.manifest);
  }

  get #segments(): readonly Segment[] {
    return this.#options.manifest.layout.segments;
  }

  /** Whatever its size, the newest segment is followed by another. */
  async startNext(): Promise<void> {
    await this.#startNext(this.newest);
    await this.#tryRepair();
  }

  async #prepare(): Promise<void> {
    const { newest } = this;
    if (this.#repair === undefined && newest.last > newest.base) await this.#startNext(newest);
    await this.#tryRepair();
    if (this.#repair !== undefined) throw new StoreError('full', `the disk of ${this.#options.directory} refused a write and cannot be put right yet`);
  }

  /** If that fails, the log continues in the old segment: on a broken disk the append itself fails. */
  async #startNext({ last, bytes }: Segment): Promise<void> {
    const { manifest, segmentBytes } = this.#options;
    let file: AppendFile | undefined;
    try {
      const started = await startSegment(this.#options, last);
      file = started.file;
      await manifest.update(({ snapshot, segments }) => ({ snapshot, segments: [...segments, started.segment] }));
      const old = this.#file;
      this.#file = file;
      this.#startNextAt = segmentBytes;
      await old.close();
    } catch {
      if (this.#file === file) return;
      await file?.close().catch(() => undefined);
      this.#startNextAt = bytes + segmentBytes / 4;
      this.#repair = () => this.#takeBack(last);
    }
  }

  /** A manifest that names the new segment must be gone before the old one grows: it states where the old one ends. */
  async #takeBack(base: number): Promise<void> {
    const { manifest } = this.#options;
    if (manifest.isUncertain) await manifest.update((layout) => layout);
    await removeSegment(this.#options, base);
  }

  async #tryRepair(): Promise<void> {
    try {
      await this.#repair?.();
      this.#repair = undefined;
    } catch {
      // Tried again before the next append.
    }
  }

  async #sync(): Promise<void> {
    try {
      await this.#file.sync();
    } catch (error) {
      // After a failed sync the kernel may have dropped the pages: a second one would lie.
      throw new StoreError('failed', `the disk of ${this.#options.directory} failed to sync, nothing more is written`, { cause: error });
    }
  }
}

/** Zeros that a segment has behind its frames. */
const aheadOf = ({ segmentBytes }: CommitLogOptions): number => Math.min(AHEAD_BYTES, segmentBytes);

const AHEAD_BYTES = 1 << 20;

const newestOf = ({ layout }: Manifest): Segment => {
  const newest = layout.segments.at(-1);
  if (newest === undefined) throw new Error('a log has at least one segment');
  return newest;
};

/** The first segment of a store whose manifest is being written. */
export async function createSegment(options: CommitLogOptions, base: number): Promise<Segment> {
  const { segment, file } = await startSegment(options, base);
  await file.close();
  return segment;
}

async function startSegment(options: CommitLogOptions, base: number): Promise<{ segment: Segment; file: AppendFile }> {
  const { directory, disk, manifest } = options;
  const path = pathOf(directory, 'log', base);
  const file = await disk.openPreallocated(path, aheadOf(options));
  try {
    await file.append([fileHeader('log', base, manifest.clusterId)]);
    await file.sync();
    await disk.syncDirectory(directory);
  } catch (error) {
    await file.close();
    throw error;
  }
  return { segment: { path, base, last: base, bytes: FILE_HEADER_BYTES, digest: 0 }, file };
}

/** Durably, lest a crash brings it back behind revisions that the older segment got meanwhile. */
async function removeSegment({ directory, disk }: CommitLogOptions, base: number): Promise<void> {
  const path = pathOf(directory, 'log', base);
  const names = await disk.list(directory);
  if (names.includes(path.slice(directory.length + 1))) await disk.remove(path);
  await disk.syncDirectory(directory);
}
