import type { Disk } from '../../world/disk.ts';
import { StoreError } from '../contract.ts';
import {
  digestWith,
  FILE_HEADER_BYTES,
  type FileHeader,
  type FileKind,
  FRAME_HEADER_BYTES,
  findValidFrame,
  payloadLength,
  readFileHeader,
  validPayload,
} from './format.ts';

/** The end of a file's frames: after the last one, perhaps with preallocated zeros, or at an append that a crash cut off. */
export type FileEnd =
  | { readonly type: 'whole'; readonly size: number; readonly zeros: number }
  | { readonly type: 'torn'; readonly size: number; readonly lost: number };

export interface Frame {
  readonly payload: Buffer;
  /** Where the next frame starts. */
  readonly end: number;
  /** Of all frames up to this one. */
  readonly digest: number;
}

/**
 * Reads a file of frames from front to back, a chunk ahead of what is being decoded.
 *
 * A crash can only harm the last append of the newest log, since each append is synced before the next one. Damage anywhere
 * else, or damage that no crash leaves behind, is corruption: the store refuses to open and drops nothing.
 */
export class FrameFile {
  readonly path: string;
  readonly #disk: Disk;
  readonly #size: number;
  /** The bytes from file offset `#start` on, as far as they are needed, and those behind them that were read as well. */
  #bytes: Buffer = NOTHING;
  #start = 0;
  #rest: Buffer = NOTHING;
  #ahead: Promise<Uint8Array> | undefined;

  private constructor(disk: Disk, path: string, size: number) {
    this.#disk = disk;
    this.path = path;
    this.#size = size;
  }

  static async open(disk: Disk, path: string): Promise<FrameFile> {
    return new FrameFile(disk, path, await disk.size(path));
  }

  get size(): number {
    return this.#size;
  }

  /**
   * undefined if the file was torn before its header was complete.
   * @throws StoreError `newer-version` or `corrupt`
   */
  async header(kind: FileKind): Promise<FileHeader | undefined> {
    await this.#fill(FILE_HEADER_BYTES);
    const header = readFileHeader(this.path, kind, this.#bytes.subarray(0, FILE_HEADER_BYTES));
    // The header is synced before anything but zeros follows it.
    if (header === undefined && this.#size > FILE_HEADER_BYTES && !(await this.#onlyZeros())) throw this.corrupt(0, `it does not start as a ${kind} does`);
    this.#skip(header?.length ?? FILE_HEADER_BYTES);
    return header;
  }

  /**
   * Hands over every frame; what `take` throws counts as corruption of that frame.
   * @throws StoreError `corrupt`
   */
  async frames(take: (frame: Frame) => void): Promise<FileEnd> {
    let digest = 0;
    while (this.#start < this.#size) {
      if (this.#bytes.length < FRAME_HEADER_BYTES) await this.#fill(FRAME_HEADER_BYTES);
      const length = payloadLength(this.#bytes, 0);
      if (length === undefined) return this.#withoutHeader();
      const whole = FRAME_HEADER_BYTES + length;
      if (this.#start + whole > this.#size) return this.#torn();
      if (this.#bytes.length < whole) await this.#fill(whole);
      const payload = validPayload(this.#bytes, 0, length);
      if (payload === undefined) return this.#damaged('a frame fails its checksum', whole);
      digest = digestWith(digest, this.#bytes);
      this.#handOver({ payload, end: this.#start + whole, digest }, take);
      this.#skip(whole);
    }
    return { type: 'whole', size: this.#size, zeros: 0 };
  }

  corrupt(offset: number, what: string, cause?: unknown): StoreError {
    return new StoreError('corrupt', `${this.path} is corrupt at offset ${offset}: ${what}`, { cause });
  }

  #handOver(frame: Frame, take: (frame: Frame) => void): void {
    try {
      take(frame);
    } catch (cause) {
      if (cause instanceof StoreError) throw cause;
      throw this.corrupt(this.#start, cause instanceof Error ? cause.message : String(cause), cause);
    }
  }

  #torn(): FileEnd {
    return { type: 'torn', size: this.#start, lost: this.#size - this.#start };
  }

  async #withoutHeader(): Promise<FileEnd> {
    if (await this.#onlyZeros()) return { type: 'whole', size: this.#start, zeros: this.#size - this.#start };
    return this.#damaged('the header of a frame fails its checksum', FRAME_HEADER_BYTES);
  }

  /** Whether nothing was ever written from here on. */
  isZeroFromHere(): Promise<boolean> {
    return this.#onlyZeros();
  }

  async #onlyZeros(): Promise<boolean> {
    await this.#fill(this.#size - this.#start);
    return isZero(this.#bytes);
  }

  /** Decides whether a crash can have left behind what is here, of which so many bytes are known to be the damaged frame's. */
  async #damaged(what: string, bytes: number): Promise<FileEnd> {
    const offset = this.#start;
    await this.#fill(this.#size - offset);
    if (this.#bytes.length < FRAME_HEADER_BYTES) return this.#torn();
    const next = findValidFrame(this.#bytes, 1);
    if (next >= 0) throw this.corrupt(offset, `${what}, and a sound frame follows at offset ${offset + next}`);
    if (hasZeroSector(this.#bytes.subarray(0, bytes), offset)) return this.#torn();
    throw this.corrupt(offset, what);
  }

  #skip(bytes: number): void {
    this.#bytes = this.#bytes.subarray(bytes);
    this.#start += bytes;
  }

  /** Gets at least `wanted` bytes together, or all there are. Only a frame that lies across two reads is copied. */
  async #fill(wanted: number): Promise<void> {
    while (this.#bytes.length < wanted) {
      const missing = wanted - this.#bytes.length;
      if (this.#rest.length === 0) this.#rest = await this.#read(missing);
      if (this.#rest.length === 0) return;
      const taken = this.#bytes.length === 0 ? this.#rest : this.#rest.subarray(0, missing);
      this.#bytes = this.#bytes.length === 0 ? taken : Buffer.concat([this.#bytes, taken]);
      this.#rest = this.#rest.subarray(taken.length);
    }
  }

  async #read(atLeast: number): Promise<Buffer> {
    const offset = this.#start + this.#bytes.length;
    const chunk = await (this.#ahead ?? this.#disk.read(this.path, offset, Math.max(atLeast, CHUNK_BYTES)));
    this.#ahead = undefined;
    const next = offset + chunk.byteLength;
    if (chunk.byteLength >= atLeast && next < this.#size) this.#readAhead(next);
    return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }

  #readAhead(offset: number): void {
    this.#ahead = this.#disk.read(this.path, offset, CHUNK_BYTES);
    // The awaiting caller gets the failure; until then it must not count as unhandled.
    this.#ahead.catch(() => {});
  }
}

const NOTHING = Buffer.alloc(0);
const CHUNK_BYTES = 4 << 20;
const SECTOR_BYTES = 512;

const isZero = (bytes: Buffer): boolean => bytes.equals(Buffer.alloc(bytes.length));

/** Sectors get to the disk whole and in any order: one that did not, or what the frame has of it, reads as zeros. */
function hasZeroSector(bytes: Buffer, offset: number): boolean {
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(bytes.length, start + SECTOR_BYTES - ((offset + start) % SECTOR_BYTES));
    if (isZero(bytes.subarray(start, end))) return true;
    start = end;
  }
  return false;
}
