/**
 * Blobs by their digests, as in an OCI image layout: `blobs/sha256/…`. A blob is written to `ingest/`, its digest is computed meanwhile, and only what matches
 * gets its name: no blob is half there or wrong. Several processes may write at once.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, statfs, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ImageError, mostDocumentBytes } from './manifest.ts';

export interface Expected {
  /** 'sha256:…'; undefined: whatever it is. */
  readonly digest?: string | undefined;
  /** In bytes; undefined: at most `most`. */
  readonly size?: number | undefined;
}

export interface StoredBlob {
  readonly digest: string;
  readonly size: number;
}

/** A blob that is being written. */
export interface Ingest {
  write(chunk: Uint8Array): Promise<void>;
  /** Gives it its name. */
  commit(): Promise<StoredBlob>;
  abandon(): Promise<void>;
}

export interface ContentStoreOptions {
  readonly directory: string;
  /** Bytes that blobs and layers may take together. */
  readonly limit: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Bytes that the disk of the store keeps free, for everything else. */
const leastFree = 256 * 1024 * 1024;
/** Left by processes that were killed. */
const ingestMs = 6 * 3600_000;

export class ContentStore {
  readonly directory: string;
  readonly #limit: number;
  readonly #now: () => number;
  #used: number | undefined;
  /** Bytes of the blobs that are being written, and those of them that are on the disk already: many small claims must not fill it together. */
  #reserved = 0;
  #written = 0;

  constructor({ directory, limit, now }: ContentStoreOptions) {
    this.#now = now;
    this.directory = directory;
    this.#limit = limit;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Only root may look: images have programs with set-id bits. */
  async open(): Promise<void> {
    for (const each of ['', 'blobs', 'blobs/sha256', 'ingest', 'references', 'pulled', 'snapshots'])
      await mkdir(path.join(this.directory, each), { recursive: true, mode: 0o700 });
  }

  /** A small file of the store, whole or as before, also after a loss of power. */
  async replaceFile(file: string, text: string): Promise<void> {
    const temporary = path.join(this.directory, 'ingest', randomUUID());
    await writeFile(temporary, text, { mode: 0o600, flush: true });
    await rename(temporary, file);
    const directory = await open(path.dirname(file));
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  path(digest: string): string {
    return path.join(this.directory, 'blobs', digest.replace(':', '/'));
  }

  /** Undefined: it is not there. One that is asked for is not collected for a while. */
  async has(digest: string): Promise<StoredBlob | undefined> {
    const file = this.path(digest);
    const facts = await stat(file).catch(() => undefined);
    if (facts === undefined) return undefined;
    const now = this.#now() / 1000;
    await utimes(file, now, now).catch(() => undefined);
    return { digest, size: facts.size };
  }

  /** A small document. @throws ImageError if its content is not that of its name: the disk has damaged it */
  async read(digest: string): Promise<string> {
    const facts = await stat(this.path(digest));
    if (facts.size > mostDocumentBytes) throw new ImageError(`${digest} has ${facts.size} bytes (at most ${mostDocumentBytes})`);
    const bytes = await readFile(this.path(digest));
    if (`sha256:${createHash('sha256').update(bytes).digest('hex')}` !== digest)
      throw new ImageError(`${this.path(digest)} is damaged: remove it, and load or pull the image again`);
    return bytes.toString('utf8');
  }

  /** @throws ImageError if it is not what was expected, or the store would be too large */
  async write(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, expected: Expected = {}): Promise<StoredBlob> {
    const ingest = await this.ingest(expected);
    try {
      for await (const chunk of content) await ingest.write(chunk);
      return await ingest.commit();
    } finally {
      await ingest.abandon();
    }
  }

  /** A blob that comes piece by piece. The caller abandons it in any case. @throws ImageError if there is no room for it */
  async ingest({ digest, size }: Expected = {}): Promise<Ingest> {
    if (size !== undefined) await this.#reserve(size);
    const most = size ?? Math.max(0, await this.room());
    const temporary = path.join(this.directory, 'ingest', randomUUID());
    const file = await open(temporary, 'wx', 0o600).catch((error: unknown) => {
      this.#reserved -= size ?? 0;
      throw error;
    });
    const hash = createHash('sha256');
    let written = 0;
    let isOpen = true;
    const what = digest ?? 'a blob';
    return {
      write: async (chunk) => {
        const sum = written + chunk.length;
        if (sum > most) throw new ImageError(size === undefined ? this.#full(sum) : `${what} is longer than the ${size} bytes that it should have`);
        written = sum;
        hash.update(chunk);
        if (size !== undefined) this.#written += chunk.length;
        await file.write(chunk);
      },
      commit: async () => {
        const found = `sha256:${hash.digest('hex')}`;
        if (size !== undefined && written !== size) throw new ImageError(`${what} has ${written} bytes, not ${size}`);
        if (digest !== undefined && found !== digest) throw new ImageError(`content has the digest ${found}, not ${digest}`);
        await file.sync();
        await rename(temporary, this.path(found));
        if (this.#used !== undefined) this.#used += written;
        return { digest: found, size: written };
      },
      abandon: async () => {
        if (!isOpen) return;
        isOpen = false;
        this.#reserved -= size ?? 0;
        if (size !== undefined) this.#written -= written;
        await file.close();
        await rm(temporary, { force: true });
      },
    };
  }

  /** Bytes that may still be written. */
  async room(): Promise<number> {
    const { bavail, bsize } = await statfs(this.directory);
    return Math.min(this.#limit - (await this.used()) - this.#reserved, bavail * bsize - leastFree - (this.#reserved - this.#written));
  }

  /** At once, so that no other blob takes the same room. @throws ImageError if there is none for so many bytes */
  async #reserve(bytes: number): Promise<void> {
    this.#reserved += bytes;
    try {
      if ((await this.room()) < 0) throw new ImageError(this.#full(bytes));
    } catch (error) {
      this.#reserved -= bytes;
      throw error;
    }
  }

  #full(bytes: number): string {
    return `no space left for images: ${bytes} bytes are needed; the limit is ${this.#limit} bytes, of which ${this.#used ?? 0} are used, and the disk keeps ${leastFree} bytes free`;
  }

  /** Bytes of blobs and layers. */
  async used(): Promise<number> {
    this.#used ??= await this.#count();
    return this.#used;
  }

  /** What was written or removed elsewhere counts from now on. */
  recount(): void {
    this.#used = undefined;
  }

  async #count(): Promise<number> {
    const blobs = path.join(this.directory, 'blobs/sha256');
    const sizes = await Promise.all(
      (await readdir(blobs)).map((name) =>
        stat(path.join(blobs, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    return sizes.reduce((sum, size) => sum + size, 0) + (await this.#snapshotBytes());
  }

  async #snapshotBytes(): Promise<number> {
    const snapshots = path.join(this.directory, 'snapshots');
    const sizes = await Promise.all((await readdir(snapshots)).map((name) => readFile(path.join(snapshots, name, 'bytes'), 'utf8').then(Number, () => 0)));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Removes blobs that no image uses and that nothing asked for lately, and what killed processes left. Returns the bytes. */
  async collect(used: ReadonlySet<string>, before: number): Promise<number> {
    const blobs = path.join(this.directory, 'blobs/sha256');
    let removed = 0;
    for (const name of await readdir(blobs)) {
      const facts = await stat(path.join(blobs, name)).catch(() => undefined);
      if (facts === undefined || used.has(`sha256:${name}`) || facts.mtimeMs > before) continue;
      await rm(path.join(blobs, name), { force: true });
      removed += facts.size;
    }
    const ingest = path.join(this.directory, 'ingest');
    for (const name of await readdir(ingest)) {
      const facts = await stat(path.join(ingest, name)).catch(() => undefined);
      if (facts !== undefined && facts.mtimeMs < before - ingestMs) await rm(path.join(ingest, name), { recursive: true, force: true });
    }
    this.recount();
    return removed;
  }
}
