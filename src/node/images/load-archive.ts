/** Loads the images of an archive: an OCI image layout, or what `docker save` writes (which may be both). */
import path from 'node:path';
import { openArchive } from '../../archive/decompress.ts';
import { shownName, type TarEntry, TarReader } from '../../archive/tar.ts';
import type { ContentStore, Ingest, StoredBlob } from './content-store.ts';
import type { ImageStore, NamedImage, ReadyImage } from './image-store.ts';
import { ImageError, mediaTypes, parseDocument } from './manifest.ts';
import { isReference, parseReference, referenceText } from './reference.ts';

export interface LoadedImage extends NamedImage, Pick<ReadyImage, 'size'> {}

/**
 * Names exist once all of the archive's images are whole and unpacked: a broken archive changes nothing that is seen. `name`: of the archive's one image,
 * instead of its own. @throws ImageError, or what is wrong with the archive
 */
export async function loadArchive(file: string, images: ImageStore, name?: string): Promise<readonly LoadedImage[]> {
  const blobs = await readBlobs(file, images.content);
  const found = await namedImages(blobs, images.content);
  if (found.length === 0) throw new ImageError('it has neither an index.json (OCI image layout) nor a manifest.json (docker save)');
  const wanted = name === undefined ? found : renamed(found, name);
  if (wanted.some((image) => image.name === '')) throw new ImageError('it has an image without a name: give it one with --tag');
  const ready: LoadedImage[] = [];
  for (const image of wanted) ready.push({ ...image, size: (await images.prepare(image.digest, image.name)).size });
  for (const image of ready) {
    await images.tag(image);
    await images.pullRecords.forget(image.digest);
  }
  return ready;
}

function renamed(found: readonly NamedImage[], name: string): readonly NamedImage[] {
  const digests = new Set(found.map(({ digest }) => digest));
  const [digest] = digests;
  if (digest === undefined || digests.size > 1) throw new ImageError(`it has ${digests.size} images: one name is not enough`);
  return [{ name: fullName(name), digest }];
}

/** @throws ImageError */
export function fullName(name: string): string {
  const parsed = parseReference(name);
  if (!isReference(parsed)) throw new ImageError(`"${name}" is not the name of an image: ${parsed.error}`);
  return referenceText(parsed);
}

/** By their names in the archive. */
type Blobs = ReadonlyMap<string, StoredBlob>;

const mostNames = 100_000;

/** Every file becomes a blob, whatever its name: only what a manifest refers to is used, the rest is collected. */
async function readBlobs(file: string, content: ContentStore): Promise<Blobs> {
  const [blobs, links] = [new Map<string, StoredBlob>(), new Map<string, string>()];
  const events: (TarEntry | Uint8Array | 'end')[] = [];
  const reader = new TarReader({ onEntry: (entry) => events.push(entry), onData: (chunk) => events.push(chunk), onEntryEnd: () => events.push('end') });
  let current: { readonly entry: TarEntry; readonly ingest: Ingest } | undefined;
  const take = async (event: TarEntry | Uint8Array | 'end'): Promise<void> => {
    if (event === 'end') {
      if (current !== undefined) blobs.set(nameOf(current.entry.name), await current.ingest.commit());
      await current?.ingest.abandon();
      current = undefined;
    } else if (event instanceof Uint8Array) await current?.ingest.write(event);
    else if (event.type === 'file') current = { entry: event, ingest: await content.ingest({ size: event.size }) };
    // Old versions of Docker link to a layer that was written before.
    else if (event.type === 'link' || event.type === 'hard-link') links.set(nameOf(event.name), linkedName(event));
    if (blobs.size + links.size > mostNames) throw new ImageError(`it has more than ${mostNames} files`);
  };
  const stream = openArchive(file);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      reader.write(chunk);
      for (const event of events.splice(0)) await take(event);
    }
    reader.end();
  } finally {
    stream.destroy();
    await current?.ingest.abandon();
  }
  for (const [name, target] of links) {
    const blob = blobs.get(target);
    if (blob !== undefined) blobs.set(name, blob);
  }
  return blobs;
}

const nameOf = (name: string): string => path.posix.normalize(shownName(name)).replace(/^\/+/, '');

const linkedName = ({ name, type, linkName }: TarEntry): string =>
  nameOf(type === 'link' ? path.posix.join(path.posix.dirname(`/${name}`), linkName) : linkName);

async function namedImages(blobs: Blobs, content: ContentStore): Promise<readonly NamedImage[]> {
  const [index, saved] = [blobs.get('index.json'), blobs.get('manifest.json')];
  const inSaved = saved === undefined ? [] : await savedImages(await content.read(saved.digest), blobs, content);
  const inIndex = index === undefined ? [] : await indexImages(await content.read(index.digest), inSaved);
  return inIndex.length > 0 ? inIndex : inSaved;
}

/** An index may leave the names to Docker's manifest.json. */
async function indexImages(text: string, saved: readonly NamedImage[]): Promise<readonly NamedImage[]> {
  const document = parseDocument(text, 'index.json');
  if (!('index' in document)) throw new ImageError('index.json is not an index');
  const images = document.index.manifests.map(({ digest, annotations = {} }) => ({
    digest,
    name: annotations['io.containerd.image.name'] ?? annotations['org.opencontainers.image.ref.name'],
  }));
  const [only] = images;
  return images.flatMap(({ digest, name }) => {
    if (name !== undefined && isReference(parseReference(name))) return [{ digest, name: fullName(name) }];
    if (images.length === 1 && only !== undefined && saved.length > 0) return saved.map((each) => ({ digest: only.digest, name: each.name }));
    return [{ digest, name: '' }];
  });
}

/** An OCI manifest is made for each: `docker save` writes none. */
async function savedImages(text: string, blobs: Blobs, content: ContentStore): Promise<readonly NamedImage[]> {
  const images: NamedImage[] = [];
  for (const { Config, RepoTags, Layers } of savedManifest(text)) {
    const blobOf = (name: string): StoredBlob => {
      const blob = blobs.get(nameOf(name));
      if (blob === undefined) throw new ImageError(`manifest.json names ${name}, which is not there`);
      return blob;
    };
    const manifest = {
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config: { mediaType: mediaTypes.config, ...blobOf(Config) },
      layers: Layers.map((layer) => ({ mediaType: mediaTypes.layer, ...blobOf(layer) })),
    };
    const { digest } = await content.write([Buffer.from(JSON.stringify(manifest))]);
    images.push(...(RepoTags.length === 0 ? [''] : RepoTags).map((name) => ({ digest, name: name === '' ? '' : fullName(name) })));
  }
  return images;
}

interface SavedImage {
  readonly Config: string;
  readonly RepoTags: readonly string[];
  readonly Layers: readonly string[];
}

function savedManifest(text: string): readonly SavedImage[] {
  const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((each) => typeof each === 'string');
  try {
    const all: unknown = JSON.parse(text);
    if (!Array.isArray(all)) throw new Error('not a list');
    return (all as readonly Partial<Record<keyof SavedImage, unknown>>[]).map(({ Config, RepoTags, Layers }) => {
      if (typeof Config !== 'string' || !isTexts(Layers)) throw new Error('no Config or Layers');
      return { Config, Layers, RepoTags: isTexts(RepoTags) ? RepoTags : [] };
    });
  } catch (error) {
    throw new ImageError(`manifest.json is malformed: ${(error as Error).message}`, { cause: error });
  }
}
