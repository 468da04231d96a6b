/**
 * What is mounted where on this machine, and its files as those who mount things see them. Every call may fail with an error
 * that has the `code` of the system call (`EBUSY`, `ENOENT` …). Nothing here is undone when the process ends: mounts outlive whoever made
 * them, and the simulated twin's do too.
 */
export interface Mounts {
  /** All that is mounted, as this process sees it, in the order of /proc/self/mountinfo: of several at one place the last is seen. */
  table(): Promise<readonly MountEntry[]>;
  mount(request: MountRequest): Promise<void>;
  /** The topmost mount at this place; fails with EBUSY while anything is mounted below it or somebody uses it. */
  unmount(target: string, how?: 'plain' | 'force' | 'lazy'): Promise<void>;
}

export type MountRequest =
  /** What is at `source` appears at `target` as well. `recursive`: with all that is mounted below it. */
  | { readonly type: 'bind'; readonly source: string; readonly target: string; readonly recursive: boolean }
  /** Changes what may be done through a mount, and nothing else: 'ro', 'noexec' … */
  | { readonly type: 'options'; readonly target: string; readonly options: readonly string[] }
  /** `options`: as in mount -o. */
  | { readonly type: 'file-system'; readonly fileSystem: string; readonly source: string; readonly target: string; readonly options: readonly string[] }
  /**
   * A file system that is in a file, and grows to that file's size. Mounted at several places it is the same everywhere. What the kernel
   * needs for it goes with the last mount, also when the process is killed meanwhile.
   */
  | { readonly type: 'image'; readonly fileSystem: string; readonly image: string; readonly target: string; readonly options: readonly string[] }
  /** A block device that shows what is in a file appears at `target`, a file. The device stays until somebody takes it away. */
  | { readonly type: 'device'; readonly image: string; readonly target: string };

export interface MountEntry {
  readonly id: number;
  readonly parent: number;
  /** 'major:minor' */
  readonly device: string;
  /** What of the file system is seen there: '/' is all of it. */
  readonly root: string;
  readonly target: string;
  /** Of the mount: 'rw', 'relatime' … */
  readonly options: readonly string[];
  readonly fileSystem: string;
  readonly source: string;
  /** Of the file system. */
  readonly superOptions: readonly string[];
}

export interface HostFiles {
  /** With all directories above it; what exists stays as it is. `mode` is what the new ones get, whatever the umask. */
  makeDirectory(path: string, mode: number): Promise<void>;
  /** Names, sorted. */
  list(path: string): Promise<readonly string[]>;
  /** Undefined: there is nothing. `follow`: what a symbolic link at the end of the path leads to. */
  stat(path: string, how?: 'follow'): Promise<FileStat | undefined>;
  read(path: string): Promise<Uint8Array>;
  /** Replaces what is in the file, or makes it. `mode` is what it has afterwards, whatever the umask. */
  write(path: string, bytes: Uint8Array, mode: number): Promise<void>;
  makeLink(path: string, leadsTo: string): Promise<void>;
  readLink(path: string): Promise<string>;
  /** Replaces a file or link at `to`. */
  rename(from: string, to: string): Promise<void>;
  removeFile(path: string): Promise<void>;
  /** Only if it is empty. */
  removeDirectory(path: string): Promise<void>;
  /**
   * With all that is in it. What is not there is removed. Never enters what is mounted: rejects with EBUSY, before anything is removed, if
   * anything is mounted at it or below it. Follows no link.
   */
  removeTree(path: string): Promise<void>;
  /** Of a link: its own. */
  setOwner(path: string, owner: { readonly uid: number; readonly gid: number }): Promise<void>;
  setMode(path: string, mode: number): Promise<void>;
  /** Of the file system that the path is on. Of a block device: its capacity, and nothing else. */
  usage(path: string): Promise<Usage>;
  /** What a directory with all that is in it takes, a file of several names once, without other file systems in it. Follows no link. */
  treeSize(path: string): Promise<TreeSize>;
  /**
   * Opens what lies at `relative` below `base`, making what is missing as directories. No symbolic link on the way is ever followed
   * to outside `base`, whatever others do to the tree meanwhile. The place stays what it is until it is closed.
   */
  openBelow(base: string, relative: string, mode: number): Promise<OpenedPath>;
}

/** Something that was opened so that nobody can swap it for something else. */
export interface OpenedPath {
  /** By which it can be bound while it is open. */
  readonly path: string;
  readonly stat: FileStat;
  close(): Promise<void>;
}

export interface FileStat {
  readonly type: 'directory' | 'file' | 'link' | 'socket' | 'pipe' | 'character-device' | 'block-device';
  /** Permissions, with the set-id and sticky bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
}

export interface TreeSize {
  /** Of the disk. */
  readonly bytes: number;
  readonly inodes: number;
}

/** Of a file system; bytes. */
export interface Usage {
  readonly capacity: number;
  readonly available: number;
  readonly used: number;
  readonly inodes: number;
  readonly inodesFree: number;
  /** Absent: all that are not free. */
  readonly inodesUsed?: number;
}
