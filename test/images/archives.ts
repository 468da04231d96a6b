/** Archives of images for tests, made of tar headers and programs of the host. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

export interface TarItem {
  readonly name: string;
  /** '0' file, '1' hard link, '2' link, '3' character device, '5' directory, '6' pipe. */
  readonly type?: string;
  readonly content?: Buffer | string;
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly modified?: number;
  readonly linkName?: string;
  readonly pax?: Readonly<Record<string, string | Buffer>>;
}

/** A tar archive, with its end. */
export const tarOf = (items: readonly TarItem[]): Buffer => Buffer.concat([...items.flatMap(entryBytes), Buffer.alloc(1024)]);

function entryBytes(item: TarItem): readonly Buffer[] {
  const { pax } = item;
  const content = Buffer.from(item.content ?? '');
  const own = [headerOf(item, content.length), padded(content)];
  if (pax === undefined) return own;
  const records = Buffer.concat(Object.entries(pax).map(([key, value]) => paxRecord(key, Buffer.from(value))));
  return [headerOf({ name: 'PaxHeaders/0', type: 'x' }, records.length), padded(records), ...own];
}

function headerOf({ name, type = '0', mode, uid = 0, gid = 0, modified = 1_700_000_000, linkName = '' }: TarItem, size: number): Buffer {
  const header = Buffer.alloc(512);
  const octal = (value: number, at: number, length: number) => header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  header.write(name.slice(0, 100), 0);
  octal(mode ?? (type === '5' ? 0o755 : 0o644), 100, 8);
  octal(uid, 108, 8);
  octal(gid, 116, 8);
  octal(size, 124, 12);
  octal(modified, 136, 12);
  header.write(type, 156);
  header.write(linkName.slice(0, 100), 157);
  header.write('ustar\x0000', 257, 'latin1');
  header.write('        ', 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

const padded = (content: Buffer): Buffer => Buffer.concat([content, Buffer.alloc((512 - (content.length % 512)) % 512)]);

function paxRecord(key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')]);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

export const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

export interface ImageParts {
  readonly name: string;
  /** Plain archives, the lowest first. */
  readonly layers: readonly Buffer[];
  /** Of the image's config: Entrypoint, Cmd, Env … */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly architecture?: string;
  readonly isCompressed?: boolean;
  /** A config that says something else. */
  readonly diffIds?: readonly string[];
}

const machine = process.arch === 'x64' ? 'amd64' : process.arch;

export interface ImageBlobs {
  /** By digest. */
  readonly blobs: ReadonlyMap<string, Buffer>;
  readonly manifest: Buffer;
  readonly config: Buffer;
}

export function imageBlobs({ layers, config = {}, architecture = machine, isCompressed = false, diffIds }: ImageParts): ImageBlobs {
  const stored = layers.map((layer) => (isCompressed ? gzipSync(layer) : layer));
  const document = Buffer.from(JSON.stringify({ os: 'linux', architecture, config, rootfs: { type: 'layers', diff_ids: diffIds ?? layers.map(digestOf) } }));
  const describe = (mediaType: string, bytes: Buffer) => ({ mediaType, digest: digestOf(bytes), size: bytes.length });
  const layerType = `application/vnd.oci.image.layer.v1.tar${isCompressed ? '+gzip' : ''}`;
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: describe('application/vnd.oci.image.config.v1+json', document),
      layers: stored.map((layer) => describe(layerType, layer)),
    }),
  );
  return { manifest, config: document, blobs: new Map([document, manifest, ...stored].map((bytes) => [digestOf(bytes), bytes])) };
}

const blobItems = (blobs: ReadonlyMap<string, Buffer>): readonly TarItem[] =>
  [...blobs].map(([digest, content]) => ({ name: `blobs/${digest.replace(':', '/')}`, content }));

/** An OCI image layout with one or more images of one name, for several platforms. */
export function ociArchive(...images: readonly ImageParts[]): Buffer {
  const all = images.map((parts) => ({ parts, ...imageBlobs(parts) }));
  const manifests = all.map(({ parts, manifest }) => ({
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    digest: digestOf(manifest),
    size: manifest.length,
    platform: { os: 'linux', architecture: parts.architecture ?? machine },
    ...(images.length > 1 ? {} : { annotations: { 'io.containerd.image.name': parts.name } }),
  }));
  const blobs = new Map(all.flatMap((each) => [...each.blobs]));
  const index = Buffer.from(JSON.stringify({ schemaVersion: 2, manifests }));
  const outer = {
    schemaVersion: 2,
    manifests: [
      {
        mediaType: 'application/vnd.oci.image.index.v1+json',
        digest: digestOf(index),
        size: index.length,
        annotations: { 'org.opencontainers.image.ref.name': images[0]?.name ?? '' },
      },
    ],
  };
  if (images.length > 1) blobs.set(digestOf(index), index);
  const top = images.length > 1 ? Buffer.from(JSON.stringify(outer)) : index;
  return tarOf([{ name: 'oci-layout', content: '{"imageLayoutVersion":"1.0.0"}' }, { name: 'index.json', content: top }, ...blobItems(blobs)]);
}

/** As `docker save` wrote it before version 25. */
export function savedArchive(parts: ImageParts): Buffer {
  const { config } = imageBlobs(parts);
  const configName = `${digestOf(config).slice('sha256:'.length)}.json`;
  const layers = parts.layers.map((content, number) => ({ name: `layer-${number}/layer.tar`, content }));
  const manifest = JSON.stringify([{ Config: configName, RepoTags: [parts.name], Layers: layers.map(({ name }) => name) }]);
  return tarOf([...layers, { name: configName, content: config }, { name: 'manifest.json', content: manifest }]);
}

const programs = ['sh', 'cat', 'echo', 'id', 'ls', 'pwd', 'env', 'sleep', 'readlink', 'touch', 'head', 'grep'];

/** A layer with a few programs of the host and the libraries that they need, two users, and the usual directories. */
export function programsLayer(more: readonly TarItem[] = []): Buffer {
  const found = programs.map((name) =>
    realpathSync(execFileSync('sh', ['-c', `command -v ${name === 'echo' || name === 'pwd' ? `/bin/${name}` : name}`], { encoding: 'utf8' }).trim()),
  );
  const listed = execFileSync('ldd', found, { encoding: 'utf8' });
  const libraries = new Set(Array.from(listed.matchAll(/(?:=> |^\s+)(\/\S+) \(/gm), ([, file = '']) => file));
  const copy = (source: string, name: string): TarItem => ({ name, content: readFileSync(source), mode: 0o755 });
  return tarOf([
    { name: 'bin/', type: '5' },
    ...programs.map((name, at) => copy(found[at] ?? '', `bin/${name}`)),
    ...Array.from(libraries, (file) => copy(file, file.slice(1))),
    { name: 'etc/', type: '5' },
    { name: 'etc/passwd', content: 'root:x:0:0:root:/root:/bin/sh\napp:x:1000:1001:App:/home/app:/bin/sh\n' },
    { name: 'etc/group', content: 'root:x:0:\napp:x:1001:\nextra:x:2000:app\n' },
    { name: 'home/app/', type: '5', uid: 1000, gid: 1001 },
    { name: 'tmp/', type: '5', mode: 0o1777 },
    ...more,
  ]);
}
