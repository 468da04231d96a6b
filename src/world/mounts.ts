/**
 * The mounts of this machine. A failed call rejects with an error that has the `code` of the system call (`EBUSY`, `ENOENT` …). Mounts
 * outlive the process that made them, in the simulation too.
 */
export interface Mounts {
  /** The mount table of this process, in the order of /proc/self/mountinfo: of several mounts on one target, the last is visible. */
  table(): Promise<readonly MountEntry[]>;
  mount(request: MountRequest): Promise<void>;
  /** Unmounts the topmost mount on the target. EBUSY: it is in use, or has mounts below it. */
  unmount(target: string, how?: 'plain' | 'force' | 'lazy'): Promise<void>;
}

export type MountRequest =
  /** `recursive`: with the mounts below the source (rbind). */
  | { readonly type: 'bind'; readonly source: string; readonly target: string; readonly recursive: boolean }
  /** Changes the options of a mount (bind,remount): 'ro', 'noexec' … */
  | { readonly type: 'options'; readonly target: string; readonly options: readonly string[] }
  /** `options`: of mount -o. */
  | { readonly type: 'file-system'; readonly fileSystem: string; readonly source: string; readonly target: string; readonly options: readonly string[] }
  /**
   * Mounts the file system in an image file, grown to the file's size. All mounts of one image share one loop device. The kernel removes the
   * device with the last mount, even if the process is killed.
   */
  | { readonly type: 'image'; readonly fileSystem: string; readonly image: string; readonly target: string; readonly options: readonly string[] }
  /** Binds a loop device of the image to `target`, a file. The device stays until it is released. */
  | { readonly type: 'device'; readonly image: string; readonly target: string };

export interface MountEntry {
  readonly id: number;
  readonly parent: number;
  /** 'major:minor' */
  readonly device: string;
  /** The directory of the file system that is mounted; '/': all of it. */
  readonly root: string;
  readonly target: string;
  /** Per mount: 'rw', 'relatime' … */
  readonly options: readonly string[];
  readonly fileSystem: string;
  readonly source: string;
  /** Of the file system. */
  readonly superOptions: readonly string[];
}

export interface HostFiles {
  /** With its parents; existing directories stay as they are. `mode` applies to new ones, whatever the umask. */
  makeDirectory(path: string, mode: number): Promise<void>;
  /** Names, sorted. */
  list(path: string): Promise<readonly string[]>;
  /** Undefined: the path does not exist. `follow`: stat instead of lstat. */
  stat(path: string, how?: 'follow'): Promise<FileStat | undefined>;
  read(path: string): Promise<Uint8Array>;
  /** Replaces the content, or creates the file. `mode` applies in both cases, whatever the umask. */
  write(path: string, bytes: Uint8Array, mode: number): Promise<void>;
  makeLink(path: string, leadsTo: string): Promise<void>;
  readLink(path: string): Promise<string>;
  /** Replaces a file or link at `to`. */
  rename(from: string, to: string): Promise<void>;
  removeFile(path: string): Promise<void>;
  /** Only if it is empty. */
  removeDirectory(path: string): Promise<void>;
  /**
   * Recursively; a missing path is no error. Follows no link, and never enters a mount: rejects with EBUSY, before anything is removed, if
   * the path or anything below it is a mount point.
   */
  removeTree(path: string): Promise<void>;
  /** Does not follow links (lchown). */
  setOwner(path: string, owner: { readonly uid: number; readonly gid: number }): Promise<void>;
  /** Calls with every file of a tree, with a directory after its content. Follows no link, even if the tree changes concurrently. */
  walkTree(path: string, visit: (entry: TreeEntry) => Promise<void>): Promise<void>;
  /** Of the path's file system (statfs). Of a block device: the capacity only. */
  usage(path: string): Promise<Usage>;
  /** The disk usage of a directory (du -x): hard links count once, other file systems and links are not entered. */
  treeSize(path: string): Promise<TreeSize>;
  /**
   * Opens the path `relative` below `base`, creating missing directories. Never follows a symbolic link to outside of `base`, even if the tree
   * changes concurrently. The result refers to the same file until it is closed.
   */
  openBelow(base: string, relative: string, mode: number): Promise<OpenedPath>;
}

/** A file of a tree, whatever has its name meanwhile. */
export interface TreeEntry {
  readonly stat: FileStat;
  readonly setGroup: (gid: number) => Promise<void>;
  /** Not of links. */
  readonly setMode: (mode: number) => Promise<void>;
}

/** An open file: a concurrent rename cannot replace it. */
export interface OpenedPath {
  /** A source for a bind mount, while it is open. */
  readonly path: string;
  readonly stat: FileStat;
  close(): Promise<void>;
}

export interface FileStat {
  readonly type: 'directory' | 'file' | 'link' | 'socket' | 'pipe' | 'character-device' | 'block-device';
  /** Permissions with set-id and sticky bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
}

export interface TreeSize {
  /** Allocated on the disk. */
  readonly bytes: number;
  readonly inodes: number;
}

/** Sizes in bytes. */
export interface Usage {
  readonly capacity: number;
  readonly available: number;
  readonly used: number;
  readonly inodes: number;
  readonly inodesFree: number;
  /** Absent: inodes - inodesFree. */
  readonly inodesUsed?: number;
}
