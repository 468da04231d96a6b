/** Images of a machine: names, their manifests in the content store, and their layers, unpacked once. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ContentStore } from './content-store.ts';
import {
  choosePlatform,
  type Descriptor,
  type ImageConfig,
  ImageError,
  type ImageManifest,
  parseConfig,
  parseDocument,
  type Platform,
  platformText,
} from './manifest.ts';
import { PullRecords } from './pull-records.ts';
import type { LayerUnpacker, UnpackedLayer } from './unpacker.ts';

/** A name, and the index or manifest that it stands for. */
export interface NamedImage {
  /** In full: 'docker.io/library/busybox:1.36' */
  readonly name: string;
  readonly digest: string;
}

/** An image whose layers are unpacked. */
export interface ReadyImage {
  /** The digest of its manifest for this machine. */
  readonly digest: string;
  readonly config: ImageConfig;
  /** Directories, the uppermost first. */
  readonly layers: readonly string[];
  /** Its lists of users and groups. */
  readonly passwd: string;
  readonly group: string;
  /** Bytes of its blobs. */
  readonly size: number;
}

export interface ImageStoreOptions {
  readonly content: ContentStore;
  readonly unpacker: LayerUnpacker;
  readonly platform: Platform;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

interface ResolvedImage {
  readonly digest: string;
  readonly manifest: ImageManifest;
  readonly config: ImageConfig;
}

/** More files make an image slow for no use; a million empty ones would take all of the disk's inodes. */
const mostEntries = 1_000_000;
/** What was written or asked for within this time is kept by a collection: an image of another process may be about to use it. */
const graceMs = 3600_000;

export class ImageStore {
  readonly content: ContentStore;
  readonly pullRecords: PullRecords;
  readonly #options: ImageStoreOptions;
  /** Layers that are being unpacked, by chain id. */
  readonly #unpacking = new Map<string, Promise<void>>();
  /** By the digest of the index or manifest. `documents`: the blobs that say what it is. */
  readonly #ready = new Map<string, { readonly image: ReadyImage; readonly documents: readonly string[] }>();

  constructor(options: ImageStoreOptions) {
    this.#options = options;
    this.content = options.content;
    this.pullRecords = new PullRecords(options.content);
  }

  /** The name stands for this image from now on, also after a loss of power. */
  async tag({ name, digest }: NamedImage): Promise<void> {
    await this.content.replaceFile(this.#referenceFile(name), JSON.stringify({ name, digest } satisfies NamedImage));
  }

  async find(name: string): Promise<NamedImage | undefined> {
    return readNamed(this.#referenceFile(name));
  }

  async untag(name: string): Promise<boolean> {
    const isThere = (await this.find(name)) !== undefined;
    await rm(this.#referenceFile(name), { force: true });
    return isThere;
  }

  async names(): Promise<readonly NamedImage[]> {
    const directory = path.join(this.content.directory, 'references');
    const found = await Promise.all((await readdir(directory)).map((file) => readNamed(path.join(directory, file))));
    return found.flatMap((each) => each ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Manifest and config for this machine, of an index or manifest of the store. @throws ImageError */
  async resolve(digest: string, what = digest): Promise<ResolvedImage> {
    const document = parseDocument(await this.#read(digest, what), what);
    if ('index' in document) return this.resolve(choosePlatform(document.index.manifests, this.#options.platform, what).digest, what);
    const { manifest } = document;
    const config = parseConfig(await this.#read(manifest.config.digest, what), what);
    const { platform } = this.#options;
    if (config.platform.os !== platform.os || config.platform.architecture !== platform.architecture)
      throw new ImageError(`${what} is for ${platformText(config.platform)}, and this machine is ${platformText(platform)}`);
    if (config.diffIds.length !== manifest.layers.length)
      throw new ImageError(`${what} has ${manifest.layers.length} layers, and its config says ${config.diffIds.length}`);
    return { digest, manifest, config };
  }

  async #read(digest: string, what: string): Promise<string> {
    if ((await this.content.has(digest)) === undefined) throw new ImageError(`${what} is not whole: ${digest} is missing`);
    return this.content.read(digest);
  }

  /** With its layers unpacked: those that are not yet, are now. @throws ImageError, or an error of the machine */
  async prepare(digest: string, what = digest): Promise<ReadyImage> {
    const known = this.#ready.get(digest);
    if (known !== undefined && (await this.#isWhole(known))) return known.image;
    const { manifest, config, digest: own } = await this.resolve(digest, what);
    const snapshots: string[] = [];
    let chain: string | undefined;
    for (const [number, layer] of manifest.layers.entries()) {
      chain = chainId(chain, config.diffIds[number] ?? '');
      await this.#unpackOnce(chain, { layer, diffId: config.diffIds[number] ?? '', parents: snapshots, what: `layer ${number + 1} of ${what}` });
      snapshots.unshift(this.#snapshot(chain));
    }
    const [top] = snapshots;
    const listOf = (name: string) => (top === undefined ? '' : readFile(path.join(top, name), 'utf8').catch(() => ''));
    const size = manifest.config.size + manifest.layers.reduce((sum, layer) => sum + layer.size, 0);
    const layers = snapshots.map(filesOf);
    const image: ReadyImage = { digest: own, config, layers, passwd: await listOf('passwd'), group: await listOf('group'), size };
    this.#ready.set(digest, { image, documents: [digest, own, manifest.config.digest] });
    return image;
  }

  /** Removes layers and blobs that neither a name nor a running container uses. `inUse`: digests of manifests. Returns the bytes of blobs. */
  async collect(inUse: ReadonlySet<string>): Promise<number> {
    const before = this.#options.now() - graceMs;
    const [blobs, chains] = [new Set<string>(), new Set<string>()];
    for (const digest of [...(await this.names()).map((each) => each.digest), ...inUse]) {
      blobs.add(digest);
      const resolved = await this.resolve(digest).catch(() => undefined);
      // Which layers a container uses is not known: all stay.
      if (resolved === undefined && inUse.has(digest)) return 0;
      if (resolved === undefined) continue;
      for (const each of [resolved.digest, resolved.manifest.config.digest, ...resolved.manifest.layers.map((layer) => layer.digest)]) blobs.add(each);
      let chain: string | undefined;
      for (const diffId of resolved.config.diffIds) chains.add(shortId((chain = chainId(chain, diffId))));
    }
    const snapshots = path.join(this.content.directory, 'snapshots');
    for (const name of await readdir(snapshots)) {
      const facts = await stat(path.join(snapshots, name)).catch(() => undefined);
      if (chains.has(name) || facts === undefined || facts.mtimeMs > before) continue;
      // First out of sight: a layer is whole or not there.
      const removed = path.join(this.content.directory, 'ingest', randomUUID());
      await rename(path.join(snapshots, name), removed);
      await rm(removed, { recursive: true, force: true });
    }
    this.#ready.clear();
    const removed = await this.content.collect(blobs, before);
    await this.pullRecords.collect();
    return removed;
  }

  #referenceFile(name: string): string {
    return path.join(this.content.directory, 'references', createHash('sha256').update(name).digest('hex'));
  }

  #snapshot(chain: string): string {
    return path.join(this.content.directory, 'snapshots', shortId(chain));
  }

  async #unpackOnce(chain: string, layer: WantedLayer): Promise<void> {
    if (await this.#touchAll([this.#snapshot(chain)])) return;
    const running = this.#unpacking.get(chain) ?? this.#unpack(chain, layer).finally(() => this.#unpacking.delete(chain));
    this.#unpacking.set(chain, running);
    await running;
  }

  /** It is not collected for a while. */
  async #isWhole({ image, documents }: { readonly image: ReadyImage; readonly documents: readonly string[] }): Promise<boolean> {
    const found = await Promise.all(documents.map((each) => this.content.has(each)));
    return !found.includes(undefined) && (await this.#touchAll(image.layers.map((layer) => path.dirname(layer))));
  }

  /** False: one is not there. A snapshot that is asked for is not collected for a while. */
  async #touchAll(snapshots: readonly string[]): Promise<boolean> {
    const now = this.#options.now() / 1000;
    const touch = (snapshot: string): Promise<boolean> =>
      utimes(snapshot, now, now).then(
        () => true,
        () => false,
      );
    return (await Promise.all(snapshots.map(touch))).every(Boolean);
  }

  /** In a directory that no image has; it gets its name when it is whole, and on the disk: a snapshot that has a name is never unpacked again. */
  async #unpack(chain: string, { layer, diffId, parents, what }: WantedLayer): Promise<void> {
    const { content } = this.#options;
    if ((await content.has(layer.digest)) === undefined) throw new ImageError(`${what} (${layer.digest}) is missing`);
    const directory = path.join(content.directory, 'ingest', randomUUID());
    await mkdir(directory, { mode: 0o700 });
    try {
      const limits = { bytes: Math.max(0, await content.room()), entries: mostEntries };
      const unpacked = await this.#unpacked(what, { blob: content.path(layer.digest), directory, parents: parents.map(filesOf), limits });
      if (unpacked.diffId !== diffId) throw new ImageError(`${what} has the content ${unpacked.diffId}, and its config says ${diffId}`);
      await rm(path.join(directory, 'work'), { recursive: true, force: true });
      await writeFile(path.join(directory, 'passwd'), unpacked.passwd);
      await writeFile(path.join(directory, 'group'), unpacked.group);
      await writeFile(path.join(directory, 'bytes'), String(unpacked.bytes));
      await this.#options.unpacker.sync(directory);
      await rename(directory, this.#snapshot(chain)).catch(async (error: NodeJS.ErrnoException) => {
        // Another process was faster.
        if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      });
    } finally {
      await rm(directory, { recursive: true, force: true });
      content.recount();
    }
  }

  async #unpacked(what: string, request: Parameters<LayerUnpacker['unpack']>[0]): Promise<UnpackedLayer> {
    try {
      return await this.#options.unpacker.unpack(request);
    } catch (error) {
      const { message } = error as Error;
      throw error instanceof ImageError
        ? new ImageError(`${what} is refused: ${message}`)
        : new Error(`${what} cannot be unpacked: ${message}`, { cause: error });
    }
  }
}

interface WantedLayer {
  readonly layer: Descriptor;
  readonly diffId: string;
  /** Snapshots, the uppermost first. */
  readonly parents: readonly string[];
  /** For messages. */
  readonly what: string;
}

const filesOf = (snapshot: string): string => path.join(snapshot, 'fs');

/** The layer with all below it, as OCI defines it. */
const chainId = (below: string | undefined, diffId: string): string =>
  below === undefined ? diffId : `sha256:${createHash('sha256').update(`${below} ${diffId}`).digest('hex')}`;

/** Mounts have little room for paths. */
const shortId = (chain: string): string => chain.slice('sha256:'.length, 'sha256:'.length + 32);

async function readNamed(file: string): Promise<NamedImage | undefined> {
  try {
    const { name, digest } = JSON.parse(await readFile(file, 'utf8')) as Partial<NamedImage>;
    return typeof name === 'string' && typeof digest === 'string' ? { name, digest } : undefined;
  } catch {
    return undefined;
  }
}
