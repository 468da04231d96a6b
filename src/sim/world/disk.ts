import type { AppendFile, Disk, DiskLock } from '../../world/disk.ts';
import type { Random } from '../../world/world.ts';

export interface SimulatedDiskOptions {
  /** All files together never exceed it; an append beyond it is cut short with ENOSPC. */
  readonly capacity?: number;
  /** Awaited before each operation: delays it, fails it by throwing, or never returns. */
  readonly before?: (operation: DiskOperation) => Promise<void> | void;
}

export interface DiskOperation {
  readonly name: keyof Disk | keyof AppendFile;
  readonly path: string;
}

/** The content of a file, independent of its name. Bytes before `synced` survive a crash. */
interface Content {
  bytes: Uint8Array;
  size: number;
  synced: number;
  /** Up to `zerosUntil` there are zeros behind what was written (`openAhead`); a crash leaves those up to `zerosSynced`. */
  zerosUntil: number;
  zerosSynced: number;
}

/** A change of names that a crash may undo until the directory is synced. */
type NameChange =
  | { readonly type: 'create'; readonly path: string; readonly content: Content }
  | { readonly type: 'rename'; readonly from: string; readonly to: string }
  | { readonly type: 'remove'; readonly path: string };

/**
 * A disk in memory that forgets what a real one may forget. `crash` and `kill` give the disk that the next process finds.
 * After a power failure, any prefix of the unsynced bytes remains, possibly with sectors that read as zeros, and any subset of the unsynced
 * names. After a kill everything remains, but it is no more synced than before.
 */
export class SimulatedDisk implements Disk {
  capacity: number;
  readonly #before: (operation: DiskOperation) => Promise<void> | void;
  #files = new Map<string, Content>();
  /** The names as of the last sync of their directory. */
  #durable = new Map<string, Content>();
  #unsynced: NameChange[] = [];
  readonly #directories = new Set<string>();
  readonly #locks = new Set<string>();
  readonly #underWay = new Set<DiskOperation>();
  /** The process that used this disk is dead: none of its operations completes. */
  #dead = false;

  constructor(options: SimulatedDiskOptions = {}) {
    this.capacity = options.capacity ?? Number.POSITIVE_INFINITY;
    this.#before = options.before ?? (() => {});
  }

  /** Bytes of all files. */
  get used(): number {
    let used = 0;
    for (const content of new Set(this.#files.values())) used += lengthOf(content);
    return used;
  }

  /** The power fails: what the next process finds. This disk is not to be used any more. */
  crash(random: Random, options: SimulatedDiskOptions = {}): SimulatedDisk {
    this.#dead = true;
    const after = new SimulatedDisk(options);
    for (const change of this.#unsynced) if (random.float() < 0.5) applyTo(this.#durable, change);
    for (const [path, content] of this.#durable) after.#files.set(path, survive(content, random));
    after.#durable = new Map(after.#files);
    for (const directory of this.#directories) after.#directories.add(directory);
    return after;
  }

  /** The process is killed: what the next one finds. This disk is not to be used any more. */
  kill(options: SimulatedDiskOptions = {}): SimulatedDisk {
    this.#dead = true;
    const after = new SimulatedDisk(options);
    // The next process finds a file as long as it is, and does not know which of its zeros were written.
    for (const content of this.#files.values()) content.size = lengthOf(content);
    after.#files = this.#files;
    after.#durable = this.#durable;
    after.#unsynced = this.#unsynced;
    for (const directory of this.#directories) after.#directories.add(directory);
    return after;
  }

  /** What a power failure at this moment would certainly leave of a file. */
  synced(path: string): Uint8Array {
    const content = this.#durable.get(path);
    return content?.bytes.subarray(0, content.synced) ?? new Uint8Array();
  }

  /** Alters stored bytes, as a failing disk does. */
  damage(path: string, offset: number, bytes: Uint8Array): void {
    this.#content(path).bytes.set(bytes, offset);
  }

  async makeDirectory(path: string): Promise<void> {
    await this.#step({ name: 'makeDirectory', path });
    this.#directories.add(path);
  }

  async list(path: string): Promise<readonly string[]> {
    await this.#step({ name: 'list', path });
    if (!this.#directories.has(path)) throw failure('ENOENT', path);
    const names = [...this.#files.keys()].filter((file) => directoryOf(file) === path);
    return names.map((file) => file.slice(path.length + 1)).sort();
  }

  async size(path: string): Promise<number> {
    await this.#step({ name: 'size', path });
    return lengthOf(this.#content(path));
  }

  async openAppend(path: string): Promise<AppendFile> {
    await this.#step({ name: 'openAppend', path });
    const content = this.#opened(path);
    return {
      append: (chunks) => this.#append(path, content, chunks),
      sync: () => this.#sync(path, content),
      close: () => this.#step({ name: 'close', path }),
    };
  }

  async openPreallocated(path: string, ahead: number): Promise<AppendFile> {
    await this.#step({ name: 'openPreallocated', path });
    const content = this.#opened(path);
    let end = lengthOf(content);
    return {
      append: async (chunks) => {
        const appended = end + chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
        if (!this.#dead) this.#makeRoom(content, appended, ahead);
        // Overwrites what a failed append left.
        content.size = end;
        await this.#append(path, content, chunks);
        end = appended;
      },
      sync: () => this.#sync(path, content),
      close: async () => {
        await this.#step({ name: 'close', path });
        content.zerosUntil = 0;
      },
    };
  }

  /** As far as there is room on the disk. */
  #makeRoom(content: Content, end: number, ahead: number): void {
    if (end <= content.zerosUntil) return;
    const longer = end + ahead - lengthOf(content);
    if (longer <= this.capacity - this.used) content.zerosUntil = end + ahead;
  }

  #opened(path: string): Content {
    if (!this.#directories.has(directoryOf(path))) throw failure('ENOENT', path);
    if (!this.#files.has(path)) {
      this.#change({ type: 'create', path, content: { bytes: new Uint8Array(256), size: 0, synced: 0, zerosUntil: 0, zerosSynced: 0 } });
    }
    return this.#content(path);
  }

  async read(path: string, offset: number, length: number): Promise<Uint8Array> {
    await this.#step({ name: 'read', path });
    const content = this.#content(path);
    const end = Math.min(lengthOf(content), offset + length);
    const bytes = new Uint8Array(Math.max(0, end - offset));
    bytes.set(content.bytes.subarray(offset, Math.min(content.size, end)));
    return bytes;
  }

  async truncate(path: string, size: number): Promise<void> {
    await this.#step({ name: 'truncate', path });
    const content = this.#content(path);
    content.bytes.fill(0, size);
    content.size = size;
    content.synced = size;
    content.zerosUntil = 0;
    content.zerosSynced = 0;
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#step({ name: 'rename', path: from });
    this.#content(from);
    this.#change({ type: 'rename', from, to });
  }

  async remove(path: string): Promise<void> {
    await this.#step({ name: 'remove', path });
    this.#content(path);
    this.#change({ type: 'remove', path });
  }

  async syncDirectory(path: string): Promise<void> {
    await this.#step({ name: 'syncDirectory', path });
    for (const change of this.#unsynced) applyTo(this.#durable, change);
    this.#unsynced = [];
  }

  free(): number {
    return Math.max(0, this.capacity - this.used);
  }

  async lock(path: string): Promise<DiskLock | undefined> {
    await this.#step({ name: 'lock', path });
    if (this.#locks.has(path)) return undefined;
    this.#locks.add(path);
    return {
      release: async () => {
        this.#locks.delete(path);
      },
    };
  }

  async #append(path: string, content: Content, chunks: readonly Uint8Array[]): Promise<void> {
    if (this.#dead) await new Promise<never>(() => {});
    // The bytes may be written although the call never returns.
    for (const chunk of chunks) {
      const room = Math.max(0, Math.floor(this.capacity - this.used)) + (lengthOf(content) - content.size);
      addTo(content, chunk.subarray(0, room));
      if (room < chunk.byteLength) {
        await this.#step({ name: 'append', path });
        throw failure('ENOSPC', path);
      }
    }
    await this.#step({ name: 'append', path });
  }

  async #sync(path: string, content: Content): Promise<void> {
    const { size, zerosUntil } = content;
    await this.#step({ name: 'sync', path });
    content.synced = Math.max(content.synced, Math.min(size, content.size));
    content.zerosSynced = Math.min(zerosUntil, content.zerosUntil);
  }

  async #step(operation: DiskOperation): Promise<void> {
    const order = ordered.has(operation.name) ? operation : undefined;
    if (order !== undefined) this.#begin(order);
    try {
      await this.#before(operation);
    } finally {
      if (order !== undefined) this.#underWay.delete(order);
    }
    if (this.#dead) await new Promise<never>(() => {});
  }

  /** @throws if another operation on the same file is not finished: its caller does not know what a crash leaves */
  #begin(operation: DiskOperation): void {
    const other = Array.from(this.#underWay).find(({ path }) => path === operation.path);
    if (other !== undefined) throw failure('EBUSY', `${operation.path}: ${operation.name} was asked for, and ${other.name} of ${other.path} is not finished`);
    this.#underWay.add(operation);
  }

  #content(path: string): Content {
    const content = this.#files.get(path);
    if (content === undefined) throw failure('ENOENT', path);
    return content;
  }

  #change(change: NameChange): void {
    this.#unsynced.push(change);
    applyTo(this.#files, change);
  }
}

/** Operations whose order decides what a crash leaves. */
const ordered: ReadonlySet<DiskOperation['name']> = new Set(['append', 'sync', 'rename', 'remove', 'truncate']);

const SECTOR = 512;

const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

const lengthOf = ({ size, zerosUntil }: Content): number => Math.max(size, zerosUntil);

function addTo(content: Content, chunk: Uint8Array): void {
  const size = content.size + chunk.byteLength;
  if (size > content.bytes.byteLength) {
    const larger = new Uint8Array(size * 2);
    larger.set(content.bytes);
    content.bytes = larger;
  }
  content.bytes.set(chunk, content.size);
  content.size = size;
}

function applyTo(files: Map<string, Content>, change: NameChange): void {
  switch (change.type) {
    case 'create':
      files.set(change.path, change.content);
      break;
    case 'remove':
      files.delete(change.path);
      break;
    case 'rename': {
      const content = files.get(change.from);
      if (content === undefined) break;
      files.delete(change.from);
      files.set(change.to, content);
      break;
    }
  }
}

function survive(content: Content, random: Random): Content {
  const loose = content.size - content.synced;
  // All, nothing and a part are each likely: each finds other bugs.
  const kept = Math.floor(Math.min(1, Math.max(0, random.float() * 2 - 0.5)) * loose);
  const written = kept < loose && content.zerosUntil > 0 ? wholeSectors(content.synced, content.synced + kept) : content.synced + kept;
  const size = Math.max(written, content.zerosSynced, random.float() < 0.5 ? content.zerosUntil : 0);
  const bytes = new Uint8Array(size);
  bytes.set(content.bytes.subarray(0, written));
  if (random.float() < 0.25) zeroSomeSectors(bytes.subarray(0, written), { from: content.synced, random });
  return { bytes, size, synced: size, zerosUntil: 0, zerosSynced: 0 };
}

/** A sector is either old or new, never mixed. */
const wholeSectors = (from: number, to: number): number => Math.max(from, to - (to % SECTOR));

/** The size of a file may reach the disk before its data does. */
function zeroSomeSectors(bytes: Uint8Array, { from, random }: { from: number; random: Random }): void {
  for (let start = from; start < bytes.byteLength; ) {
    const end = Math.min(bytes.byteLength, (Math.floor(start / SECTOR) + 1) * SECTOR);
    if (random.float() < 0.5) bytes.fill(0, start, end);
    start = end;
  }
}
