/**
 * The disk of the embedded store: append-only files. Synced bytes survive a crash; of an append that was not synced, any prefix may.
 * The simulated disk does exactly that.
 */
export interface Disk {
  /** Creates the directory and its parents if absent. */
  makeDirectory(path: string): Promise<void>;
  /** Names of the files in a directory, sorted. */
  list(path: string): Promise<readonly string[]>;
  size(path: string): Promise<number>;
  /** Opens for appending; creates the file if absent. */
  openAppend(path: string): Promise<AppendFile>;
  /**
   * The same, with `ahead` preallocated bytes beyond the last append, which read as zeros. A sync that does not extend the file is several
   * times faster, above all in the worst case. After a crash the zeros may remain; `close` truncates them.
   */
  openPreallocated(path: string, ahead: number): Promise<AppendFile>;
  /** Reads [offset, offset + length), less at the end of the file. */
  read(path: string, offset: number, length: number): Promise<Uint8Array>;
  /** Truncates a file to `size` bytes, durably. */
  truncate(path: string, size: number): Promise<void>;
  /** Replaces `to` atomically. Durable only after `syncDirectory`. */
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  syncDirectory(path: string): Promise<void>;
  /** Bytes that can still be written to the file system of a directory. */
  free(path: string): number;
  /** An exclusive lock on the directory; undefined if another process holds it. It ends with the process, however that dies. */
  lock(path: string): Promise<DiskLock | undefined>;
}

export interface AppendFile {
  /** Appends all bytes, or rejects (`code` 'ENOSPC': the disk is full). A rejected append may have written part of them. */
  append(chunks: readonly Uint8Array[]): Promise<void>;
  /** Resolves once all appends so far are durable (fdatasync). */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface DiskLock {
  release(): Promise<void>;
}
