/** The inodes of a simulated file system. */
export type Inode = Directory | PlainFile | Link | Special;

interface Owned {
  mode: number;
  uid: number;
  gid: number;
}

export interface Directory extends Owned {
  readonly type: 'directory';
  readonly entries: Map<string, Inode>;
}

export interface PlainFile extends Owned {
  readonly type: 'file';
  bytes: Uint8Array;
}

export interface Link extends Owned {
  readonly type: 'link';
  readonly leadsTo: string;
}

export interface Special extends Owned {
  readonly type: 'socket' | 'pipe' | 'character-device' | 'block-device';
}

export const newDirectory = (mode = 0o755): Directory => ({ type: 'directory', entries: new Map(), mode, uid: 0, gid: 0 });

/** An error as of a system call. */
export const systemError = (code: string, what: string): Error => Object.assign(new Error(`${code}: ${what}`), { code });

export const partsOf = (path: string): readonly string[] => path.split('/').filter((part) => part !== '' && part !== '.');
