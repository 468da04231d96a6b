import { crc32 } from 'node:zlib';
import { StoreError } from '../contract.ts';
import type { ByteWriter } from './bytes.ts';

/**
 * A file of the store is a header and then frames, each with its length and checksum.
 *
 *     header   'MOORING\0'   format u32   kind u32   revision f64   0 u32   checksum of these u32          32 bytes
 *              cluster id (16 bytes)   zeros   checksum of these u32            since format 2             32 bytes
 *     frame    'FRAM'   length of the payload u32   checksum of the payload u32   checksum of these u32    16 bytes
 *              payload
 *
 * A log's revision is the one before its first; a snapshot's is the one whose state it holds. The first 32 bytes keep their
 * layout in every format, so that an older Mooring can tell that the data is too new for it.
 */
export const FORMAT = 2;
export const FILE_HEADER_BYTES = 64;
export const FRAME_HEADER_BYTES = 16;

export type FileKind = 'log' | 'snapshot' | 'progress';

export interface FileHeader {
  readonly revision: number;
  /** undefined: format 1, which had none. */
  readonly clusterId: string | undefined;
  /** The bytes of the header. */
  readonly length: number;
}

const FILE_MAGIC = Buffer.from('MOORING\0', 'latin1');
const FRAME_MAGIC = Buffer.from('FRAM', 'latin1').readUInt32LE(0);
const KIND_NUMBERS: Readonly<Record<FileKind, number>> = { log: 1, snapshot: 2, progress: 3 };
const FORMAT_1_HEADER_BYTES = 32;

export function fileHeader(kind: FileKind, revision: number, clusterId: string): Buffer {
  const header = Buffer.alloc(FILE_HEADER_BYTES);
  FILE_MAGIC.copy(header);
  header.writeUInt32LE(FORMAT, 8);
  header.writeUInt32LE(KIND_NUMBERS[kind], 12);
  header.writeDoubleLE(revision, 16);
  header.writeUInt32LE(crc32(header.subarray(0, 28)), 28);
  header.write(clusterId.replaceAll('-', ''), 32, 'hex');
  header.writeUInt32LE(crc32(header.subarray(32, 60)), 60);
  return header;
}

/**
 * undefined: the header is damaged.
 * @throws StoreError `newer-version`
 */
export function readFileHeader(path: string, kind: FileKind, bytes: Buffer): FileHeader | undefined {
  const sound = bytes.length >= FORMAT_1_HEADER_BYTES && FILE_MAGIC.equals(bytes.subarray(0, 8)) && crc32(bytes.subarray(0, 28)) === bytes.readUInt32LE(28);
  if (!sound) return undefined;
  const format = bytes.readUInt32LE(8);
  if (format > FORMAT) throw newerFormat(path, format);
  if (bytes.readUInt32LE(12) !== KIND_NUMBERS[kind]) return undefined;
  const revision = bytes.readDoubleLE(16);
  if (format === 1) return { revision, clusterId: undefined, length: FORMAT_1_HEADER_BYTES };
  if (bytes.length < FILE_HEADER_BYTES || crc32(bytes.subarray(32, 60)) !== bytes.readUInt32LE(60)) return undefined;
  const clusterId = bytes.toString('hex', 32, 48).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { revision, clusterId, length: FILE_HEADER_BYTES };
}

export const newerFormat = (path: string, format: number): StoreError =>
  new StoreError('newer-version', `${path} was written by a newer Mooring: its format is ${format}, this one reads up to ${FORMAT}`);

/** The digest of all frames of a file so far, given one more: their headers hold the checksums of the payloads. */
export const digestWith = (digest: number, frame: Buffer): number => crc32(frame.subarray(0, FRAME_HEADER_BYTES), digest);

/** Starts a frame in an empty writer; what is written next is its payload. */
export function beginFrame(writer: ByteWriter): void {
  writer.reserve(FRAME_HEADER_BYTES);
}

/** Completes the frame, and returns all of it. */
export function endFrame(writer: ByteWriter): Buffer {
  const frame = writer.written;
  frame.writeUInt32LE(FRAME_MAGIC, 0);
  frame.writeUInt32LE(frame.length - FRAME_HEADER_BYTES, 4);
  frame.writeUInt32LE(crc32(frame.subarray(FRAME_HEADER_BYTES)), 8);
  frame.writeUInt32LE(crc32(frame.subarray(0, 12)), 12);
  return frame;
}

/** The length of the payload of the frame that starts at `at`; undefined if no sound frame header is there. */
export function payloadLength(bytes: Buffer, at: number): number | undefined {
  if (at + FRAME_HEADER_BYTES > bytes.length || bytes.readUInt32LE(at) !== FRAME_MAGIC) return undefined;
  return crc32(bytes.subarray(at, at + 12)) === bytes.readUInt32LE(at + 12) ? bytes.readUInt32LE(at + 4) : undefined;
}

/** The payload of the frame at `at`, all of which is in `bytes`; undefined if it fails its checksum. */
export function validPayload(bytes: Buffer, at: number, length: number): Buffer | undefined {
  const start = at + FRAME_HEADER_BYTES;
  const payload = bytes.subarray(start, start + length);
  return payload.length === length && crc32(payload) === bytes.readUInt32LE(at + 8) ? payload : undefined;
}

/** Where the next frame after `from` starts that is sound in every byte; -1 if there is none. */
export function findValidFrame(bytes: Buffer, from: number): number {
  const magic = Buffer.from('FRAM', 'latin1');
  for (let at = bytes.indexOf(magic, from); at >= 0; at = bytes.indexOf(magic, at + 1)) {
    const length = payloadLength(bytes, at);
    if (length !== undefined && validPayload(bytes, at, length) !== undefined) return at;
  }
  return -1;
}
