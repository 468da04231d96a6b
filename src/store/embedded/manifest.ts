import { crc32 } from 'node:zlib';
import type { Disk } from '../../world/disk.ts';
import { StoreDamage } from './damage.ts';
import { fileName, partialPathOf, type Segment, type SnapshotFile } from './files.ts';
import { FORMAT, newerFormat } from './format.ts';

/** The files that make up a store. */
export interface Layout {
  readonly snapshot: SnapshotFile | undefined;
  /** Oldest first. Only the last one grows. Empty: the store is being created, and no write was accepted yet. */
  readonly segments: readonly Segment[];
}

/** A file as the manifest describes it: all of it, or for the last segment what was durable when the manifest was written. */
export interface ListedFile {
  readonly file: string;
  /** A segment: the revision before its first. A snapshot: its revision. */
  readonly after: number;
  readonly revision: number;
  readonly bytes: number;
  readonly digest: string;
}

export interface ManifestContent {
  readonly clusterId: string;
  readonly snapshot: ListedFile | undefined;
  readonly segments: readonly ListedFile[];
}

export const MANIFEST = 'manifest.json';

/**
 * The manifest on disk names every file that counts. A crash leaves the old one or the new one.
 *
 * - A segment is listed before its first frame is acknowledged; one that is not listed holds no frames, or was replaced by a snapshot.
 * - A file is removed only after a manifest without it is durable.
 */
export class Manifest {
  readonly clusterId: string;
  readonly #disk: Disk;
  readonly #directory: string;
  #layout: Layout;
  #last: Promise<void> = Promise.resolve();
  /** The newest write got as far as its name, but it is unknown whether that is durable. */
  #uncertain = false;
  #leftover = false;
  /** The bytes of the newest segment as the durable manifest has them. */
  #savedBytes = -1;

  constructor(options: { readonly disk: Disk; readonly directory: string; readonly clusterId: string }, layout: Layout) {
    this.#disk = options.disk;
    this.#directory = options.directory;
    this.clusterId = options.clusterId;
    this.#layout = layout;
  }

  get layout(): Layout {
    return this.#layout;
  }

  get isUncertain(): boolean {
    return this.#uncertain;
  }

  /** Writes the changed layout; it counts once it is durable. Changes are made one after the other. */
  update(change: (layout: Layout) => Layout): Promise<void> {
    const done = this.#last.then(() => this.#write(change(this.#layout)));
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Writes how far the newest segment has got, unless that is known already. */
  async saveProgress(): Promise<void> {
    if (this.#layout.segments.at(-1)?.bytes !== this.#savedBytes) await this.update((layout) => layout);
  }

  async #write(layout: Layout): Promise<void> {
    const path = `${this.#directory}/${MANIFEST}`;
    const partial = partialPathOf(path);
    const leftover = this.#leftover;
    this.#leftover = true;
    const content = contentOf(this.clusterId, layout);
    const file = await this.#disk.openAppend(partial);
    try {
      if (leftover) await this.#disk.truncate(partial, 0);
      await file.append([Buffer.from(manifestText(content))]);
      await file.sync();
    } catch (error) {
      // A full disk needs the room. If it cannot be freed now, the next write does.
      await this.#disk.truncate(partial, 0).catch(() => undefined);
      throw error;
    } finally {
      await file.close();
    }
    await this.#disk.rename(partial, path);
    this.#leftover = false;
    this.#uncertain = true;
    await this.#disk.syncDirectory(this.#directory);
    this.#uncertain = false;
    this.#layout = layout;
    this.#savedBytes = content.segments.at(-1)?.bytes ?? -1;
  }
}

function contentOf(clusterId: string, { snapshot, segments }: Layout): ManifestContent {
  return {
    clusterId,
    snapshot: snapshot && { ...fileOf(snapshot), after: snapshot.revision, revision: snapshot.revision },
    segments: segments.map((segment) => ({ ...fileOf(segment), after: segment.base, revision: segment.last })),
  };
}

const fileOf = ({ path, bytes, digest }: { path: string; bytes: number; digest: number }) => ({ file: fileName(path), bytes, digest: digestText(digest) });

export const digestText = (digest: number): string => digest.toString(16).padStart(8, '0');

/** The same text for the same content: what differs from it in any byte is damaged. */
export function manifestText({ clusterId, snapshot, segments }: ManifestContent): string {
  const files = (snapshot === undefined ? segments : [snapshot, ...segments]).map(({ file, after, revision, bytes, digest }) =>
    JSON.stringify({ file, after, revision, bytes, digest }),
  );
  const body = `{"format":${FORMAT},"clusterId":${JSON.stringify(clusterId)},"files":[${files.map((line) => `\n${line}`).join(',')}\n]`;
  return `${body},"checksum":"${digestText(crc32(body))}"}\n`;
}

/**
 * undefined: there is none.
 * @throws StoreError `corrupt` or `newer-version`
 */
export async function readManifest(disk: Disk, directory: string): Promise<ManifestContent | undefined> {
  if (!(await disk.list(directory)).includes(MANIFEST)) return undefined;
  const path = `${directory}/${MANIFEST}`;
  const text = Buffer.from(await disk.read(path, 0, await disk.size(path))).toString('utf8');
  const parsed = parse(text);
  if (parsed !== undefined && typeof parsed.format === 'number' && parsed.format > FORMAT) throw newerFormat(path, parsed.format);
  const content = parsed === undefined ? undefined : contentIn(parsed);
  if (content === undefined || manifestText(content) !== text) {
    const found = text === '' ? 'an empty file' : `${text.length} bytes that ${content === undefined ? 'are none' : 'fail their checksum'}`;
    throw new StoreDamage({ file: path, expected: `a manifest of format ${FORMAT} as this store writes it`, found });
  }
  return content;
}

interface ManifestJson {
  readonly format?: unknown;
  readonly clusterId?: unknown;
  readonly files?: unknown;
}

function parse(text: string): ManifestJson | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function contentIn({ clusterId, files }: ManifestJson): ManifestContent | undefined {
  if (typeof clusterId !== 'string' || !Array.isArray(files) || !files.every(isListedFile)) return undefined;
  const [first] = files;
  const snapshot = first?.file.startsWith('snapshot-') === true ? first : undefined;
  return { clusterId, snapshot, segments: snapshot === undefined ? files : files.slice(1) };
}

function isListedFile(value: unknown): value is ListedFile {
  if (typeof value !== 'object' || value === null) return false;
  const { file, after, revision, bytes, digest } = value as Partial<Record<keyof ListedFile, unknown>>;
  return typeof file === 'string' && [after, revision, bytes].every(Number.isSafeInteger) && typeof digest === 'string';
}
