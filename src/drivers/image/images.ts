/** Files of this machine with file systems in them, by name. Errors have the `code` of the system call that failed. */
export interface Images {
  /** Where the file is, or would be. */
  readonly path: (name: string) => string;
  /** With an empty file system of so many bytes; one that exists stays as it is. It is there only when it is complete. */
  make(name: string, bytes: bigint): Promise<void>;
  /** In bytes; undefined: there is none. */
  size(name: string): Promise<bigint | undefined>;
  /** To so many bytes, also while it is mounted where that is permitted (else EBUSY, and it grows when it is mounted next). What is larger stays so. */
  grow(name: string, bytes: bigint): Promise<void>;
  /** What is not there is removed. One that is mounted is gone once it is not. */
  remove(name: string): Promise<void>;
  list(): Promise<readonly string[]>;
}
