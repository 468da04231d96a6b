/**
 * Applies the entries of a layer to the root of this thread, which is the image's: the thread has changed its root, so no name, link or hard link of an
 * archive leads out of it. Only synchronous calls: others run on threads that have the host's root.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  futimesSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { shownName, type TarEntry, type TarHandler } from '../../archive/tar.ts';
import { makeNode } from '../mount-calls.ts';
import { setXattr } from './xattrs.ts';

/** What a layer may become at most. */
export interface LayerLimits {
  readonly bytes: number;
  /** Files, directories and links. */
  readonly entries: number;
}

/** A layer that is refused. */
export class LayerError extends Error {}

const whiteout = '.wh.';
const opaque = '.wh..wh..opq';
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export class LayerFiles implements TarHandler {
  readonly #limits: LayerLimits;
  /** Bits that new files do not get. */
  readonly #umask: number;
  /** What this layer has brought: whiteouts concern the layers below only. */
  readonly #own = new Set<string>();
  /** Directories get their times last: each file in them changes these. */
  readonly #directories: { readonly path: string; readonly modified: number }[] = [];
  #file: { readonly descriptor: number; readonly entry: TarEntry } | undefined;
  #bytes = 0;
  #entries = 0;
  /** Names that whiteouts had looked at. */
  #lookedAt = 0;

  constructor(limits: LayerLimits) {
    this.#limits = limits;
    this.#umask = process.umask();
  }

  get bytes(): number {
    return this.#bytes;
  }

  onEntry(entry: TarEntry): void {
    if (++this.#entries > this.#limits.entries) throw new LayerError(`it has more than ${this.#limits.entries} files`);
    this.#bytes += bytesOf(entry);
    if (this.#bytes > this.#limits.bytes) throw new LayerError(`it would take more than ${this.#limits.bytes} bytes`);
    const path = pathIn(entry.name);
    const slash = path.lastIndexOf('/');
    const [directory, name] = [path.slice(0, slash), path.slice(slash + 1)];
    if (name.startsWith(whiteout)) return this.#hide(directory, name);
    try {
      this.#make(entry, path);
    } catch (error) {
      if (error instanceof LayerError) throw error;
      throw explained(entry, error);
    }
    this.#own.add(path);
  }

  onData(chunk: Uint8Array): void {
    if (this.#file === undefined) return;
    for (let at = 0; at < chunk.length; ) at += writeSync(this.#file.descriptor, chunk, at);
  }

  onEntryEnd(): void {
    if (this.#file === undefined) return;
    const { descriptor, entry } = this.#file;
    this.#file = undefined;
    try {
      const { uid, gid, mode, modified } = entry;
      if (uid !== 0 || gid !== 0) fchownSync(descriptor, uid, gid);
      // After the owner, whose change clears set-id bits.
      if ((mode & (this.#umask | 0o7000)) !== 0) fchmodSync(descriptor, mode);
      futimesSync(descriptor, modified, modified);
    } finally {
      closeSync(descriptor);
    }
    this.#setXattrs(entry, pathIn(entry.name));
  }

  /** After the last entry. */
  finish(): void {
    for (const { path, modified } of this.#directories.toReversed()) {
      try {
        lutimesSync(bytes(path), modified, modified);
      } catch {
        // A later entry has taken its place.
      }
    }
  }

  /** After an error. */
  abandon(): void {
    if (this.#file !== undefined) closeSync(this.#file.descriptor);
    this.#file = undefined;
  }

  #make(entry: TarEntry, path: string): void {
    switch (entry.type) {
      case 'file':
        this.#file = { descriptor: this.#placed(path, () => openSync(bytes(path), newFile, entry.mode & 0o777)), entry };
        return;
      case 'directory':
        return this.#makeDirectory(entry, path);
      case 'link':
        this.#placed(path, () => symlinkSync(bytes(entry.linkName), bytes(path)));
        lchownSync(bytes(path), entry.uid, entry.gid);
        lutimesSync(bytes(path), entry.modified, entry.modified);
        return;
      case 'hard-link': {
        const target = pathIn(entry.linkName);
        // Linked to itself, it would be removed first.
        if (target !== path) this.#placed(path, () => linkSync(bytes(target), bytes(path)));
        return;
      }
      case 'pipe':
        this.#placed(path, () => makeNode(shownName(path), { mode: 0o10_000 | (entry.mode & 0o777), rdev: 0 }));
        lchownSync(bytes(path), entry.uid, entry.gid);
        return chmodSync(bytes(path), entry.mode);
      case 'character-device':
      case 'block-device':
        // Every container has a /dev of its own, which covers the image's.
        if (path.startsWith('/dev/')) return;
        throw new LayerError(`"${shownName(entry.name)}" is a device node`);
    }
  }

  /** A directory of a layer below, or one that a file before it needed, gets the layer's mode and owner. */
  #makeDirectory(entry: TarEntry, path: string): void {
    const isThere = path === '/' || lstatSync(bytes(path), { throwIfNoEntry: false })?.isDirectory() === true;
    if (!isThere) this.#placed(path, () => mkdirSync(bytes(path), entry.mode & 0o777));
    if (isThere || entry.uid !== 0 || entry.gid !== 0) chownSync(bytes(path), entry.uid, entry.gid);
    if (isThere || (entry.mode & (this.#umask | 0o7000)) !== 0) chmodSync(bytes(path), entry.mode);
    this.#setXattrs(entry, path);
    this.#directories.push({ path, modified: entry.modified });
  }

  /** Makes room for it: directories above are made, and what a layer below has in its place is removed. */
  #placed<T>(path: string, make: () => T): T {
    if (path === '/') throw new LayerError('its root is not a directory');
    try {
      return make();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') this.#makeParents(path);
      else if (code === 'EEXIST' || code === 'ELOOP') rmSync(bytes(path), { recursive: true, force: true });
      else throw error;
    }
    return make();
  }

  #makeParents(path: string): void {
    const parent = path.slice(0, path.lastIndexOf('/'));
    if (parent === '') return;
    try {
      mkdirSync(bytes(parent), 0o755);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') return;
      if (code !== 'ENOENT') throw error;
      this.#makeParents(parent);
      mkdirSync(bytes(parent), 0o755);
    }
    if (++this.#entries > this.#limits.entries) throw new LayerError(`it has more than ${this.#limits.entries} files`);
  }

  /** Removes what layers below have there, and nothing of this one. */
  #hide(directory: string, name: string): void {
    if (name === opaque) return this.#removeBelow(directory);
    const hidden = name.slice(whiteout.length);
    // Names such as '.wh.' and '.wh...': they would remove the directory itself, or the one above.
    if (hidden === '' || hidden === '.' || hidden === '..') throw new LayerError(`"${shownName(`${directory}/${name}`)}" is a whiteout of no file`);
    // Those that aufs kept for itself.
    if (hidden.startsWith(whiteout)) return;
    this.#remove(`${directory}/${hidden}`);
  }

  #remove(path: string): void {
    if (!this.#own.has(path)) rmSync(bytes(path), { recursive: true, force: true });
    else if (lstatSync(bytes(path)).isDirectory()) this.#removeBelow(path);
  }

  #removeBelow(directory: string): void {
    if (lstatSync(bytes(directory || '/'), { throwIfNoEntry: false })?.isDirectory() !== true) return;
    const names = readdirSync(bytes(directory || '/'), { encoding: 'latin1' });
    // Many whiteouts of one large directory would take days.
    this.#lookedAt += names.length;
    if (this.#lookedAt > this.#limits.entries) throw new LayerError(`its whiteouts concern more than ${this.#limits.entries} files`);
    for (const name of names) this.#remove(`${directory}/${name}`);
  }

  /** Capabilities, access lists and what users note; labels of SELinux mean nothing here. */
  #setXattrs({ name, xattrs }: TarEntry, path: string): void {
    if (xattrs.size === 0) return;
    for (const [key, value] of xattrs) {
      if (key === 'security.selinux') continue;
      if (!isPermitted(key)) throw new LayerError(`"${shownName(name)}" has the extended attribute ${shownName(key)}`);
      setXattr(bytes(path), key, Buffer.from(value, 'latin1'));
    }
  }
}

/** Others could change how overlays and the kernel see the file. */
const isPermitted = (key: string): boolean =>
  ['security.capability', 'system.posix_acl_access', 'system.posix_acl_default'].includes(key) || (key.startsWith('user.') && !key.startsWith('user.overlay.'));

/** Of its content, and of what the file system keeps beside it. */
const bytesOf = ({ size, linkName, xattrs }: TarEntry): number =>
  xattrs.size === 0 ? size + linkName.length : [...xattrs].reduce((sum, [key, value]) => sum + key.length + value.length, size + linkName.length);

/** An absolute path in the new root. @throws LayerError if it leads out of it */
function pathIn(name: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw new LayerError(`"${shownName(name)}" leads out of the image`);
  return `/${parts.join('/')}`;
}

const bytes = (path: string): Buffer => Buffer.from(path, 'latin1');

function explained({ name, type, linkName }: TarEntry, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return error as Error;
  const target = type === 'hard-link' ? ` (another name of "${shownName(linkName)}")` : '';
  return new LayerError(`"${shownName(name)}"${target} cannot be made: ${message}`, { cause: error });
}
