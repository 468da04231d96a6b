import type { Disk } from '../../world/disk.ts';
import { StoreError } from '../contract.ts';
import type { FileKind } from './format.ts';

/** One file of the store that counts: a log or a snapshot. */
export interface StoredFile {
  readonly path: string;
  readonly revision: number;
}

/** One file of the log: the revisions after `base`, up to `last`. */
export interface Segment {
  readonly path: string;
  readonly base: number;
  last: number;
  bytes: number;
  /** Of its frames. */
  digest: number;
}

/** A snapshot that counts. */
export interface SnapshotFile extends StoredFile {
  readonly bytes: number;
  readonly digest: number;
}

const PARTIAL = '.partial';
const NAME = /^(log|snapshot)-(\d{16})$/;

/** Digits, so that the order of the names is the order of the revisions. */
export const pathOf = (directory: string, kind: FileKind, revision: number): string => `${directory}/${kind}-${String(revision).padStart(16, '0')}`;

export const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The name of a snapshot or manifest until it is complete. */
export const partialPathOf = (path: string): string => path + PARTIAL;

export interface StoredFiles {
  /** Oldest first. */
  readonly logs: readonly StoredFile[];
  readonly snapshots: readonly StoredFile[];
  /** Snapshots and manifests that were never completed. */
  readonly partial: readonly string[];
}

export async function listFiles(disk: Disk, directory: string): Promise<StoredFiles> {
  const names = await disk.list(directory);
  const ofKind = (kind: FileKind): StoredFile[] =>
    names
      .map((name) => ({ path: `${directory}/${name}`, match: NAME.exec(name) }))
      .filter(({ match }) => match?.[1] === kind)
      .map(({ path, match }) => ({ path, revision: Number(match?.[2]) }));
  return {
    logs: ofKind('log'),
    snapshots: ofKind('snapshot'),
    partial: names.filter((name) => name.endsWith(PARTIAL)).map((name) => `${directory}/${name}`),
  };
}

/** Whether the disk was full: the administrator can free space. */
export function isFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** The error for the caller of a write that the disk refused. */
export function writeRefusal(error: unknown, directory: string): StoreError {
  if (isFull(error)) return new StoreError('full', `the disk of ${directory} is full`, { cause: error });
  return new StoreError('failed', `the disk of ${directory} failed, nothing more is written: ${reasonOf(error)}`, { cause: error });
}

/** Why a store cannot be opened. */
export function openRefusal(error: unknown, directory: string): StoreError {
  if (error instanceof StoreError) return error;
  if (isFull(error)) return new StoreError('full', `cannot open ${directory}: its disk is full`, { cause: error });
  return new StoreError('failed', `cannot open ${directory}: ${reasonOf(error)}`, { cause: error });
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
