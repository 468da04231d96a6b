import type { FileStat, HostFiles, MountEntry, MountRequest, Mounts, OpenedPath, TreeEntry, TreeSize, Usage } from '../../world/mounts.ts';
import { type Directory, type Inode, newDirectory, partsOf, systemError } from './file-tree.ts';

/** A call that a simulated host is about to carry out. */
export interface HostCall {
  readonly name: keyof Mounts | keyof HostFiles;
  readonly path: string;
}

export interface SimulatedHostOptions {
  /** Awaited before each call takes effect: delays it, fails it by throwing, or never returns (the process is gone). */
  readonly before?: (call: HostCall) => Promise<void> | void;
  /** Awaited after the call took effect, before it returns. */
  readonly after?: (call: HostCall) => Promise<void> | void;
}

interface Mounted {
  readonly id: number;
  /** The mount in which `at` lies. */
  readonly parent: Mounted | undefined;
  /** The inode that it hides. */
  readonly at: Inode;
  readonly root: Inode;
  readonly target: string;
  readonly fileSystem: string;
  readonly source: string;
  readonly device: string;
  /** Where in its file system `root` lies. */
  readonly within: string;
  options: readonly string[];
}

interface Found {
  readonly mount: Mounted;
  readonly inode: Inode;
  /** Without links. */
  readonly path: string;
}

/** The files and mounts of a machine, which outlive its processes. */
export class Machine {
  readonly root: Mounted;
  readonly mounts: Mounted[] = [];
  readonly #images = new Map<Inode, { readonly root: Inode; readonly device: number }>();
  #ids = 1;

  constructor() {
    const inode = newDirectory();
    const place = { parent: undefined, at: inode, root: inode, target: '/', within: '/', device: '8:1' };
    this.root = { id: this.nextId(), ...place, fileSystem: 'ext4', source: '/dev/root', options: ['rw'] };
    this.mounts.push(this.root);
  }

  nextId(): number {
    return this.#ids++;
  }

  /** The file system in an image file: the same for every mount. */
  image(file: Inode): { readonly root: Inode; readonly device: number } {
    const known = this.#images.get(file) ?? { root: newDirectory(0o755), device: this.nextId() };
    this.#images.set(file, known);
    return known;
  }
}

/**
 * A machine's files and mounts, as one of its processes uses them. Mounts hide what is below them, cannot be removed while in use,
 * and stay when the process is killed: the next one sees the same `Machine`.
 */
export class SimulatedHost implements Mounts, HostFiles {
  readonly machine: Machine;
  readonly #options: SimulatedHostOptions;

  constructor(machine: Machine = new Machine(), options: SimulatedHostOptions = {}) {
    this.machine = machine;
    this.#options = options;
  }

  table(): Promise<readonly MountEntry[]> {
    return this.#call('table', '/', () => this.machine.mounts.map(entryOf));
  }

  mount(request: MountRequest): Promise<void> {
    return this.#call('mount', request.target, () => {
      switch (request.type) {
        case 'bind': {
          const { mount, inode, path } = this.#find(request.source);
          const { fileSystem, source, device } = mount;
          const within = `${mount.within}/${path.slice(mount.target.length)}`.replace(/\/+/g, '/');
          return this.#attach(request.target, inode, { fileSystem, source, device, within, options: ['rw'] });
        }
        case 'file-system': {
          const device = `0:${this.machine.nextId()}`;
          return this.#attach(request.target, newDirectory(0o1777), { ...request, device, within: '/', options: ['rw', ...request.options] });
        }
        case 'image': {
          const { inode } = this.#find(request.image);
          if (inode.type !== 'file') throw systemError('EINVAL', `${request.image} is no image`);
          const { root, device } = this.machine.image(inode);
          const { fileSystem, options } = request;
          return this.#attach(request.target, root, {
            fileSystem,
            source: `/dev/loop${device}`,
            device: `7:${device}`,
            within: '/',
            options: ['rw', ...options],
          });
        }
        case 'device': {
          const { inode } = this.#find(request.image);
          if (inode.type !== 'file') throw systemError('EINVAL', `${request.image} is no image`);
          const { device } = this.machine.image(inode);
          return this.#attach(request.target, inode, { fileSystem: 'devtmpfs', source: 'devtmpfs', device: '0:5', within: `/loop${device}`, options: ['rw'] });
        }
        case 'options': {
          const { mount, inode } = this.#find(request.target);
          if (mount.root !== inode) throw systemError('EINVAL', `${request.target} is no mount point`);
          mount.options = request.options.includes('ro') ? request.options : ['rw', ...request.options];
          return undefined;
        }
      }
    });
  }

  unmount(target: string, how: 'plain' | 'force' | 'lazy' = 'plain'): Promise<void> {
    return this.#call('unmount', target, () => {
      const { mount, inode } = this.#find(target);
      if (mount.root !== inode || mount.parent === undefined) throw systemError('EINVAL', `${target} is no mount point`);
      const below = this.machine.mounts.filter(({ parent }) => parent === mount);
      if (below.length > 0 && how !== 'lazy') throw systemError('EBUSY', `${target} has mounts below it`);
      for (const gone of [mount, ...below]) this.machine.mounts.splice(this.machine.mounts.indexOf(gone), 1);
    });
  }

  makeDirectory(path: string, mode: number): Promise<void> {
    return this.#call('makeDirectory', path, () => void this.#makeDirectory(path, mode));
  }

  list(path: string): Promise<readonly string[]> {
    return this.#call('list', path, () => [...this.#directory(path).entries.keys()].sort());
  }

  stat(path: string, how?: 'follow'): Promise<FileStat | undefined> {
    return this.#call('stat', path, () => {
      const found = this.#tryFind(path, how === 'follow');
      return found === undefined ? undefined : factsOf(found.inode);
    });
  }

  read(path: string): Promise<Uint8Array> {
    return this.#call('read', path, () => {
      const { inode } = this.#find(path);
      if (inode.type !== 'file') throw systemError('EISDIR', path);
      return inode.bytes;
    });
  }

  write(path: string, bytes: Uint8Array, mode: number): Promise<void> {
    return this.#call('write', path, () => {
      const { directory, name, mount } = this.#place(path);
      refuseIfReadOnly(mount, path);
      const there = directory.entries.get(name);
      if (there !== undefined && there.type !== 'file') throw systemError('EISDIR', path);
      if (there === undefined) directory.entries.set(name, { type: 'file', bytes, mode, uid: 0, gid: 0 });
      else Object.assign(there, { bytes, mode });
    });
  }

  makeLink(path: string, leadsTo: string): Promise<void> {
    return this.#call('makeLink', path, () => {
      const { directory, name } = this.#place(path);
      if (directory.entries.has(name)) throw systemError('EEXIST', path);
      directory.entries.set(name, { type: 'link', leadsTo, mode: 0o777, uid: 0, gid: 0 });
    });
  }

  readLink(path: string): Promise<string> {
    return this.#call('readLink', path, () => {
      const { inode } = this.#find(path, false);
      if (inode.type !== 'link') throw systemError('EINVAL', path);
      return inode.leadsTo;
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.#call('rename', from, () => {
      const [source, target] = [this.#place(from), this.#place(to)];
      const moved = source.directory.entries.get(source.name);
      if (moved === undefined) throw systemError('ENOENT', from);
      const replaced = target.directory.entries.get(target.name);
      if (replaced?.type === 'directory' && replaced.entries.size > 0) throw systemError('ENOTEMPTY', to);
      source.directory.entries.delete(source.name);
      target.directory.entries.set(target.name, moved);
    });
  }

  removeFile(path: string): Promise<void> {
    return this.#call('removeFile', path, () => {
      const { directory, name } = this.#place(path);
      const there = directory.entries.get(name);
      if (there === undefined) throw systemError('ENOENT', path);
      if (there.type === 'directory') throw systemError('EISDIR', path);
      this.#refuseIfMounted(there, path);
      directory.entries.delete(name);
    });
  }

  removeDirectory(path: string): Promise<void> {
    return this.#call('removeDirectory', path, () => {
      const { directory, name } = this.#place(path);
      const there = directory.entries.get(name);
      if (there === undefined) throw systemError('ENOENT', path);
      if (there.type !== 'directory') throw systemError('ENOTDIR', path);
      this.#refuseIfMounted(there, path);
      if (there.entries.size > 0) throw systemError('ENOTEMPTY', path);
      directory.entries.delete(name);
    });
  }

  removeTree(path: string): Promise<void> {
    return this.#call('removeTree', path, () => {
      const found = this.#tryFind(path, false);
      if (found === undefined) return;
      const mounted = this.machine.mounts.find(({ target }) => target === found.path || target.startsWith(`${found.path}/`));
      if (mounted !== undefined) throw systemError('EBUSY', `remove ${path}: ${mounted.target} is mounted`);
      const { directory, name } = this.#place(path);
      directory.entries.delete(name);
    });
  }

  setOwner(path: string, owner: { readonly uid: number; readonly gid: number }): Promise<void> {
    return this.#call('setOwner', path, () => void Object.assign(this.#find(path, false).inode, owner));
  }

  async walkTree(path: string, visit: (entry: TreeEntry) => Promise<void>): Promise<void> {
    const stat = await this.stat(path);
    if (stat === undefined) return;
    if (stat.type === 'directory') for (const name of await this.list(path)) await this.walkTree(`${path}/${name}`, visit);
    await visit({
      stat,
      setGroup: (gid) => this.setOwner(path, { uid: stat.uid, gid }),
      setMode: (mode) => this.#call('walkTree', path, () => void Object.assign(this.#find(path).inode, { mode })),
    });
  }

  usage(path: string): Promise<Usage> {
    return this.#call('usage', path, () => {
      this.#find(path);
      return { capacity: 1 << 30, available: 1 << 29, used: 1 << 29, inodes: 1000, inodesFree: 900 };
    });
  }

  async treeSize(path: string): Promise<TreeSize> {
    let [bytes, inodes] = [0, 1];
    for (const name of await this.list(path)) {
      const facts = await this.stat(`${path}/${name}`);
      const inside = facts?.type === 'directory' ? await this.treeSize(`${path}/${name}`) : { bytes: facts?.size ?? 0, inodes: 1 };
      bytes += inside.bytes;
      inodes += inside.inodes;
    }
    return { bytes, inodes };
  }

  openBelow(base: string, relative: string, mode: number): Promise<OpenedPath> {
    return this.#call('openBelow', base, () => {
      const root = this.#find(base).path;
      let found = this.#find(base);
      for (const part of partsOf(relative)) {
        const next = `${found.path}/${part}`;
        found = this.#tryFind(next, true) ?? this.#makeDirectory(next, mode);
        if (found.path === root || found.path.startsWith(`${root}/`)) continue;
        throw systemError('EXDEV', `subpath ${JSON.stringify(relative)} not within volume path ${JSON.stringify(base)}`);
      }
      return { path: found.path, stat: factsOf(found.inode), close: async () => undefined };
    });
  }

  async #call<T>(name: HostCall['name'], path: string, effect: () => T): Promise<T> {
    await this.#options.before?.({ name, path });
    const value = effect();
    await this.#options.after?.({ name, path });
    return value;
  }

  #attach(target: string, root: Inode, what: Pick<Mounted, 'fileSystem' | 'source' | 'options' | 'device' | 'within'>): void {
    const { mount, inode, path } = this.#find(target);
    if ((inode.type === 'directory') !== (root.type === 'directory')) throw systemError('ENOTDIR', target);
    const { fileSystem, source, options, device, within } = what;
    this.machine.mounts.push({ id: this.machine.nextId(), parent: mount, at: inode, root, target: path, fileSystem, source, options, device, within });
  }

  #refuseIfMounted(inode: Inode, path: string): void {
    if (this.machine.mounts.some(({ at, parent }) => at === inode && parent !== undefined)) throw systemError('EBUSY', path);
  }

  #makeDirectory(path: string, mode: number): Found {
    let here = '';
    for (const part of partsOf(path)) {
      const { directory, mount } = this.#place(`${here}/${part}`);
      here = `${here}/${part}`;
      if (directory.entries.has(part)) continue;
      refuseIfReadOnly(mount, here);
      directory.entries.set(part, newDirectory(mode));
    }
    const found = this.#find(path);
    if (found.inode.type !== 'directory') throw systemError('EEXIST', path);
    return found;
  }

  #directory(path: string): Directory {
    const { inode } = this.#find(path);
    if (inode.type !== 'directory') throw systemError('ENOTDIR', path);
    return inode;
  }

  /** Where a name is or would be. */
  #place(path: string): { readonly directory: Directory; readonly name: string; readonly mount: Mounted } {
    const parts = partsOf(path);
    const above = this.#find(`/${parts.slice(0, -1).join('/')}`);
    if (above.inode.type !== 'directory') throw systemError('ENOTDIR', path);
    return { directory: above.inode, name: parts.at(-1) ?? '', mount: above.mount };
  }

  #find(path: string, follow = true): Found {
    const found = this.#tryFind(path, follow);
    if (found === undefined) throw systemError('ENOENT', path);
    return found;
  }

  #tryFind(path: string, follow: boolean, depth = 0): Found | undefined {
    if (depth > 40) throw systemError('ELOOP', path);
    const visited: Found[] = [this.#above({ mount: this.machine.root, inode: this.machine.root.root, path: '/' })];
    const parts = partsOf(path);
    for (const [index, part] of parts.entries()) {
      const here = visited.at(-1);
      if (here === undefined || here.inode.type !== 'directory') return undefined;
      if (part === '..') {
        if (visited.length > 1) visited.pop();
        continue;
      }
      const inode = here.inode.entries.get(part);
      if (inode === undefined) return undefined;
      const isLast = index === parts.length - 1;
      if (inode.type === 'link' && (follow || !isLast)) {
        const base = inode.leadsTo.startsWith('/') ? '' : here.path;
        return this.#tryFind([base, inode.leadsTo, ...parts.slice(index + 1)].join('/'), follow, depth + 1);
      }
      visited.push(this.#above({ mount: here.mount, inode, path: here.path === '/' ? `/${part}` : `${here.path}/${part}` }));
    }
    return visited.at(-1);
  }

  /** The topmost mount at that place. */
  #above(found: Found): Found {
    const over = this.machine.mounts.findLast(({ at, parent }) => parent === found.mount && at === found.inode);
    return over === undefined ? found : this.#above({ ...found, mount: over, inode: over.root });
  }
}

function refuseIfReadOnly({ options }: Mounted, path: string): void {
  if (options.includes('ro')) throw systemError('EROFS', path);
}

function factsOf(inode: Inode): FileStat {
  const { type, mode, uid, gid } = inode;
  return { type, mode, uid, gid, size: inode.type === 'file' ? inode.bytes.byteLength : 0 };
}

function entryOf({ id, parent, target, fileSystem, source, options, device, within }: Mounted): MountEntry {
  return { id, parent: parent?.id ?? 0, device, root: within, target, options, fileSystem, source, superOptions: ['rw'] };
}
