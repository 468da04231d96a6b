import fs from 'node:fs/promises';
import { close, constants, fdatasync, ftruncate, open, statfsSync, write } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AppendFile, Disk, DiskLock } from '../world/disk.ts';

/** The file system of this machine. Data may hold Secrets: only its owner can read it. */
export const realDisk: Disk = {
  async makeDirectory(path) {
    const first = await fs.mkdir(path, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    // A new directory is durable once its parent is synced.
    for (let made = path; ; made = dirname(made)) {
      await this.syncDirectory(dirname(made));
      if (made === first || made === dirname(made)) return;
    }
  },

  async list(path) {
    const entries = await fs.readdir(path, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
      .sort();
  },

  async size(path) {
    return (await fs.stat(path)).size;
  },

  openAppend(path) {
    return new Promise((resolve, reject) => {
      const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
      open(path, flags, 0o600, (error, fd) => (error === null ? resolve(new RealAppendFile(fd)) : reject(error)));
    });
  },

  async openPreallocated(path, ahead) {
    const fd = await new Promise<number>((resolve, reject) => {
      open(path, constants.O_WRONLY | constants.O_CREAT, 0o600, (error, opened) => (error === null ? resolve(opened) : reject(error)));
    });
    return new RealAheadFile(fd, (await fs.stat(path)).size, ahead);
  },

  async read(path, offset, length) {
    const file = await fs.open(path, 'r');
    try {
      const bytes = Buffer.allocUnsafeSlow(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    } finally {
      await file.close();
    }
  },

  async truncate(path, size) {
    const file = await fs.open(path, 'r+');
    try {
      await file.truncate(size);
      await file.sync();
    } finally {
      await file.close();
    }
  },

  rename: (from, to) => fs.rename(from, to),

  remove: (path) => fs.unlink(path),

  async syncDirectory(path) {
    const directory = await fs.open(path, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  },

  free(path) {
    const { bsize, bfree, bavail } = statfsSync(path);
    return bsize * (process.getuid?.() === 0 ? bfree : bavail);
  },

  async lock(path) {
    const file = await fs.open(join(path, 'lock'), constants.O_RDWR | constants.O_CREAT, 0o600);
    if (!(await tryLock(file.fd))) {
      await file.close();
      return undefined;
    }
    // The pid is for error messages; the lock itself is on the open file and ends with this process.
    await file.truncate(0);
    await file.write(`${process.pid}\n`, 0);
    return { release: () => file.close() } satisfies DiskLock;
  },
};

/** Callbacks on the descriptor rather than a FileHandle: a commit is one write and one sync, and each microsecond counts. */
class RealAppendFile implements AppendFile {
  protected readonly fd: number;

  constructor(fd: number) {
    this.fd = fd;
  }

  async append(chunks: readonly Uint8Array[]): Promise<void> {
    for (const chunk of chunks) await this.write(chunk);
  }

  /** At the end of the file, or at an offset. */
  protected async write(chunk: Uint8Array, at?: number): Promise<void> {
    for (let done = 0; done < chunk.byteLength; ) {
      done += await new Promise<number>((resolve, reject) => {
        const position = at === undefined ? null : at + done;
        write(this.fd, chunk, done, chunk.byteLength - done, position, (error, written) => (error === null ? resolve(written) : reject(error)));
      });
    }
  }

  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.fd, (error) => (error === null ? resolve() : reject(error)));
    });
  }

  close(): Promise<void> {
    return new Promise((resolve, reject) => {
      close(this.fd, (error) => (error ? reject(error) : resolve()));
    });
  }
}

/** Appends into a range of zeros written before. The next append overwrites one that failed. */
class RealAheadFile extends RealAppendFile {
  /** Where the next append goes. */
  #end: number;
  #zerosUntil: number;
  #zeros: Uint8Array;

  constructor(fd: number, size: number, ahead: number) {
    super(fd);
    this.#end = size;
    this.#zerosUntil = size;
    this.#zeros = new Uint8Array(ahead);
  }

  override async append(chunks: readonly Uint8Array[]): Promise<void> {
    let end = this.#end;
    for (const chunk of chunks) end += chunk.byteLength;
    if (end > this.#zerosUntil) await this.#grow(end);
    let at = this.#end;
    for (const chunk of chunks) {
      await this.write(chunk, at);
      at += chunk.byteLength;
    }
    this.#end = end;
  }

  /** On a full disk the file continues without zeros ahead. */
  async #grow(end: number): Promise<void> {
    try {
      await this.write(this.#zeros, end);
      this.#zerosUntil = end + this.#zeros.byteLength;
    } catch {
      this.#zeros = new Uint8Array(0);
      this.#zerosUntil = Number.POSITIVE_INFINITY;
      await this.#cut();
    }
  }

  #cut(): Promise<void> {
    return new Promise((resolve) => {
      // If it fails the zeros stay: readers of the file skip them.
      ftruncate(this.fd, this.#end, () => resolve());
    });
  }

  override async close(): Promise<void> {
    await this.#cut();
    await super.close();
  }
}

/**
 * flock(2): the kernel drops the lock when the last descriptor is closed, however the process dies. Node.js has no call
 * for it, so libc is called; koffi is loaded only here, since the memory store needs no lock.
 */
async function tryLock(fd: number): Promise<boolean> {
  const { default: koffi } = await import('koffi');
  const libc = koffi.load(process.platform === 'darwin' ? 'libSystem.B.dylib' : null);
  const flock = libc.func('int flock(int fd, int operation)');
  if (flock(fd, LOCK_EXCLUSIVE | LOCK_NO_WAIT) === 0) return true;
  const errno = koffi.errno();
  if (errno === koffi.os.errno['EAGAIN'] || errno === koffi.os.errno['EWOULDBLOCK']) return false;
  throw new Error(`flock failed with errno ${errno}`);
}

const LOCK_EXCLUSIVE = 2;
const LOCK_NO_WAIT = 4;
