/** Files of this machine that are volumes, by name. Errors have the `code` of the system call that failed. */
export interface Images {
  /** Where the file is, or would be. */
  readonly path: (name: string) => string;
  /** Of so many bytes, with an empty file system, unless it is to have nothing in it; one that exists stays as it is. It is there only when it is complete. */
  create(name: string, bytes: bigint, content?: 'file system' | 'nothing'): Promise<void>;
  /** In bytes; undefined: there is none. */
  size(name: string): Promise<bigint | undefined>;
  /** The file, to so many bytes. What is larger stays so. */
  grow(name: string, bytes: bigint): Promise<void>;
  /** What is not there is removed. One that is mounted is gone once it is not. */
  remove(name: string): Promise<void>;
  list(): Promise<readonly string[]>;
}

/** What the kernel of this machine has of images that are mounted or bound. `image`: the file's path. */
export interface ImageDevices {
  /** Who has it sees all that the file has by now; one that nobody has grows when it is mounted. EBUSY: not while it is mounted, and it grows when it is mounted next. */
  grow(image: string): Promise<void>;
  /** Nobody needs its device any more, unless it is mounted or bound somewhere. */
  release(image: string): Promise<void>;
}
