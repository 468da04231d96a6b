/**
 * The disk as the embedded store needs it. A file is what was appended to it; only what was synced survives a crash,
 * and of the rest any prefix of any append may. The simulated twin does exactly that.
 */
export interface Disk {
  /** Creates the directory, and its parents, if absent. */
  makeDirectory(path: string): Promise<void>;
  /** Names of the files in a directory, sorted. */
  list(path: string): Promise<readonly string[]>;
  size(path: string): Promise<number>;
  /** Opens for appending; creates the file if absent. */
  openAppend(path: string): Promise<AppendFile>;
  /**
   * The same, but the file is `ahead` bytes longer than what was appended, and they read as zeros until something is: a sync that need not
   * make a file longer takes a fraction of the time, above all in the worst case. After a crash they may be there; `close` cuts them off.
   */
  openPreallocated(path: string, ahead: number): Promise<AppendFile>;
  /** Reads [offset, offset + length), less at the end of the file. */
  read(path: string, offset: number, length: number): Promise<Uint8Array>;
  /** Cuts a file to `size` bytes, durably. */
  truncate(path: string, size: number): Promise<void>;
  /** Replaces `to` atomically. Durable only after `syncDirectory`. */
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  syncDirectory(path: string): Promise<void>;
  /** Takes the directory for this process alone; undefined if another process has it. The lock ends with its holder, however it dies. */
  lock(path: string): Promise<DiskLock | undefined>;
}

export interface AppendFile {
  /** Appends all of the bytes, or rejects (`code` 'ENOSPC': the disk is full; part of them may be there, until the file is cut). */
  append(chunks: readonly Uint8Array[]): Promise<void>;
  /** Resolves once everything appended so far is durable (fdatasync). */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface DiskLock {
  release(): Promise<void>;
}
