import type { HostFiles } from '../../world/mounts.ts';
import { directoryOf } from '../mount/node-host.ts';
import type { Payload } from './payload.ts';

/**
 * The kubelet's AtomicWriter: replaces all files of a volume at once. Readers see all old files or all new ones.
 *
 *     config            → ..data/config            the path in the container; never changes
 *     ..data            → ..2026_01_31_12_00_00.7  replaced by one rename
 *     ..2026_01_31_12_00_00.7/config               the file
 *
 * After a crash the next call removes what is left: unreferenced directories, or a link that was not renamed yet.
 */
export class AtomicWriter {
  readonly #files: HostFiles;
  readonly #root: string;

  constructor(files: HostFiles, root: string) {
    this.#files = files;
    this.#root = root;
  }

  /** `version`: unique among all writes. `prepare`: runs on the new files before they become visible. */
  async write(payload: Payload, version: string, prepare: () => Promise<void>): Promise<'written' | 'unchanged'> {
    for (const path of payload.keys()) refuseOutside(path);
    const current = await this.#current();
    const isSame = current !== undefined && (await this.#holds(current, payload));
    const fresh = `..${version}`;
    const next = isSame ? current : fresh === current ? `${fresh}1` : fresh;
    if (!isSame) {
      await this.#writeAll(next, payload);
      await prepare();
      await this.#swap(next);
    }
    await this.#showOnly(payload);
    await this.#removeOthers(next);
    return isSame ? 'unchanged' : 'written';
  }

  async #current(): Promise<string | undefined> {
    const link = await this.#files.stat(this.#at(dataLink));
    if (link?.type !== 'link') return undefined;
    const name = await this.#files.readLink(this.#at(dataLink));
    return (await this.#files.stat(this.#at(name)))?.type === 'directory' ? name : undefined;
  }

  async #holds(directory: string, payload: Payload): Promise<boolean> {
    const there = await this.#filesIn(this.#at(directory), '');
    if (there.length !== payload.size) return false;
    for (const [path, { bytes, mode }] of payload) {
      const file = `${this.#at(directory)}/${path}`;
      const stat = await this.#files.stat(file);
      // fsGroup may have added permissions.
      if (stat?.type !== 'file' || (stat.mode & mode) !== mode || stat.size !== bytes.byteLength) return false;
      if (!isEqual(await this.#files.read(file), bytes)) return false;
    }
    return true;
  }

  async #filesIn(directory: string, prefix: string): Promise<readonly string[]> {
    const found: string[] = [];
    for (const name of await this.#files.list(directory)) {
      const stat = await this.#files.stat(`${directory}/${name}`);
      if (stat?.type === 'directory') found.push(...(await this.#filesIn(`${directory}/${name}`, `${prefix}${name}/`)));
      else found.push(prefix + name);
    }
    return found;
  }

  async #writeAll(directory: string, payload: Payload): Promise<void> {
    const root = this.#at(directory);
    await this.#files.removeTree(root);
    await this.#files.makeDirectory(root, 0o755);
    for (const [path, { bytes, mode, uid }] of payload) {
      const file = `${root}/${path}`;
      if (path.includes('/')) await this.#files.makeDirectory(directoryOf(file), 0o755);
      await this.#files.write(file, bytes, mode);
      if (uid !== undefined) await this.#files.setOwner(file, { uid, gid: 0 });
    }
  }

  async #swap(directory: string): Promise<void> {
    const waiting = this.#at(waitingLink);
    if ((await this.#files.stat(waiting)) !== undefined) await this.#files.removeFile(waiting);
    await this.#files.makeLink(waiting, directory);
    await this.#files.rename(waiting, this.#at(dataLink));
  }

  /** Keeps exactly the links to the first component of each path. Directories are mount points of other volumes. */
  async #showOnly(payload: Payload): Promise<void> {
    const shown = new Set([...payload.keys()].map((path) => path.split('/')[0] ?? ''));
    for (const name of await this.#files.list(this.#root)) {
      const isLink = !name.startsWith('..') && (await this.#files.stat(this.#at(name)))?.type === 'link';
      if (isLink && !shown.delete(name)) await this.#files.removeFile(this.#at(name));
    }
    for (const name of shown) await this.#files.makeLink(this.#at(name), `${dataLink}/${name}`);
  }

  async #removeOthers(current: string): Promise<void> {
    for (const name of await this.#files.list(this.#root)) {
      if (name.startsWith('..2') && name !== current) await this.#files.removeTree(this.#at(name));
    }
  }

  #at(name: string): string {
    return `${this.#root}/${name}`;
  }
}

const dataLink = '..data';
const waitingLink = '..data_tmp';

function refuseOutside(path: string): void {
  const parts = path.split('/');
  if (path === '' || path.startsWith('/') || path.startsWith('..') || parts.includes('..') || path.length > 4096) {
    throw new Error(`invalid path: ${JSON.stringify(path)} is not below the volume`);
  }
}

const isEqual = (a: Uint8Array, b: Uint8Array): boolean => a.byteLength === b.byteLength && a.every((byte, index) => byte === b[index]);
