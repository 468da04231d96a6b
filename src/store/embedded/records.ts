import type { Entry } from '../contract.ts';
import { Version } from '../mvcc/version.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';

/**
 * What is in the frames.
 *
 * Log: the revision of the first transaction in the frame (f64), then records, each transaction one revision after the one before:
 *     TRANSACTION   how many   (PUT key value | DELETE key)…
 *     COMPACT       revision
 * Snapshot: records
 *     ENTRY         key   createRevision   modRevision   value
 *     END           how many entries there were
 */
const TRANSACTION = 1;
const COMPACT = 2;
const ENTRY = 3;
const END = 4;
const PUT = 1;
const DELETE = 2;

export function writeTransaction(writer: ByteWriter, versions: readonly Version[]): void {
  writer.byte(TRANSACTION);
  writer.integer(versions.length);
  for (const version of versions) {
    writer.byte(version.deleted ? DELETE : PUT);
    writer.key(version.key);
    if (!version.deleted) writer.value(version.value);
  }
}

export function writeCompaction(writer: ByteWriter, revision: number): void {
  writer.byte(COMPACT);
  writer.integer(revision);
}

export function writeEntry(writer: ByteWriter, entry: Entry): void {
  writer.byte(ENTRY);
  writer.key(entry.key);
  writer.integer(entry.createRevision);
  writer.integer(entry.modRevision);
  writer.value(entry.value);
}

export function writeEnd(writer: ByteWriter, entries: number): void {
  writer.byte(END);
  writer.integer(entries);
}

export type LoggedWrite = { readonly type: 'put'; readonly key: string; readonly value: Uint8Array } | { readonly type: 'delete'; readonly key: string };

export type LogRecord = { readonly type: 'transaction'; readonly writes: readonly LoggedWrite[] } | { readonly type: 'compact'; readonly revision: number };

/** @throws RangeError if the bytes are no record */
export function readLogRecord(reader: ByteReader): LogRecord {
  const type = reader.byte();
  if (type === COMPACT) return { type: 'compact', revision: reader.integer() };
  if (type !== TRANSACTION) throw new RangeError(`unknown record ${type}`);
  const writes: LoggedWrite[] = [];
  for (let left = reader.integer(); left > 0; left--) writes.push(readWrite(reader));
  return { type: 'transaction', writes };
}

function readWrite(reader: ByteReader): LoggedWrite {
  const type = reader.byte();
  const key = reader.key();
  if (type === PUT) return { type: 'put', key, value: reader.value() };
  if (type === DELETE) return { type: 'delete', key };
  throw new RangeError(`unknown write ${type}`);
}

export type SnapshotRecord = { readonly type: 'entry'; readonly version: Version } | { readonly type: 'end'; readonly entries: number };

/** @throws RangeError if the bytes are no record */
export function readSnapshotRecord(reader: ByteReader): SnapshotRecord {
  const type = reader.byte();
  if (type === END) return { type: 'end', entries: reader.integer() };
  if (type !== ENTRY) throw new RangeError(`unknown record ${type}`);
  const version = new Version({ key: reader.key(), createRevision: reader.integer(), modRevision: reader.integer(), value: reader.value() });
  return { type: 'entry', version };
}
