/** The documents of an image, as OCI's image specification and Docker's schema 2 have them: index, manifest, config. */
import { isDigest } from './reference.ts';

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: Platform;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Platform {
  readonly os: string;
  readonly architecture: string;
  readonly variant?: string;
}

export interface ImageIndex {
  readonly manifests: readonly Descriptor[];
}

export interface ImageManifest {
  readonly config: Descriptor;
  /** The lowest first. */
  readonly layers: readonly Descriptor[];
}

export interface ImageConfig {
  readonly platform: Platform;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** 'NAME=value' */
  readonly env: readonly string[];
  /** 'user', 'user:group', ids or names; '': root. */
  readonly user: string;
  readonly workingDir: string;
  /** 'SIGQUIT', '3'; '': SIGTERM. */
  readonly stopSignal: string;
  /** Of the layers' archives without their compression, the lowest first. */
  readonly diffIds: readonly string[];
}

export const mediaTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
  dockerIndex: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
} as const;

/** Of an index, manifest or config. */
export const mostDocumentBytes = 8 << 20;
const mostLayers = 500;

/** An image that is malformed, or not for this machine. No retry changes that. */
export class ImageError extends Error {}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

function fieldsOf(text: string, what: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch {
    // reported below
  }
  throw new ImageError(`${what} is not a JSON object`);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function textsOf(value: unknown, what: string): readonly string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((each) => typeof each === 'string' && !each.includes('\0'))) return value;
  throw new ImageError(`${what} is not a list of strings`);
}

function descriptorOf(value: unknown, what: string): Descriptor {
  const { mediaType, digest, size, platform, annotations } = isFields(value) ? value : {};
  if (typeof digest !== 'string' || !isDigest(digest)) throw new ImageError(`${what} has the digest ${JSON.stringify(digest)}, which is not sha256:…`);
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) throw new ImageError(`${what} has the size ${JSON.stringify(size)}`);
  return {
    mediaType: textOf(mediaType),
    digest,
    size,
    ...(isFields(platform) ? { platform: platformOf(platform) } : {}),
    ...(isFields(annotations) ? { annotations: Object.fromEntries(Object.entries(annotations).map(([key, text]) => [key, textOf(text)])) } : {}),
  };
}

const platformOf = ({ os, architecture, variant }: Fields): Platform => ({
  os: textOf(os),
  architecture: textOf(architecture),
  ...(textOf(variant) === '' ? {} : { variant: textOf(variant) }),
});

/** An index or a manifest, whichever it is. @throws ImageError */
export function parseDocument(text: string, what: string): { readonly index: ImageIndex } | { readonly manifest: ImageManifest } {
  const { manifests, config, layers, schemaVersion } = fieldsOf(text, what);
  if (Array.isArray(manifests)) return { index: { manifests: manifests.map((each, at) => descriptorOf(each, `manifests[${at}] of ${what}`)) } };
  if (schemaVersion === 1) throw new ImageError(`${what} has Docker's schema 1, which is not supported`);
  if (!Array.isArray(layers)) throw new ImageError(`${what} is neither an index nor a manifest of an image`);
  if (layers.length > mostLayers) throw new ImageError(`${what} has ${layers.length} layers (at most ${mostLayers})`);
  return {
    manifest: { config: descriptorOf(config, `the config of ${what}`), layers: layers.map((each, at) => descriptorOf(each, `layers[${at}] of ${what}`)) },
  };
}

/** @throws ImageError */
export function parseConfig(text: string, what: string): ImageConfig {
  const { os, architecture, variant, config, rootfs } = fieldsOf(text, what);
  const own = isFields(config) ? config : {};
  const diffIds = textsOf(isFields(rootfs) ? rootfs['diff_ids'] : undefined, `rootfs.diff_ids of ${what}`);
  if (!diffIds.every(isDigest)) throw new ImageError(`rootfs.diff_ids of ${what} has a digest that is not sha256:…`);
  return {
    platform: platformOf({ os, architecture, variant }),
    entrypoint: textsOf(own['Entrypoint'], `Entrypoint of ${what}`),
    command: textsOf(own['Cmd'], `Cmd of ${what}`),
    env: textsOf(own['Env'], `Env of ${what}`),
    user: textOf(own['User']),
    workingDir: textOf(own['WorkingDir']),
    stopSignal: textOf(own['StopSignal']),
    diffIds,
  };
}

/** 'linux/amd64', 'linux/arm/v7' */
export const platformText = ({ os, architecture, variant }: Platform): string => [os, architecture, ...(variant === undefined ? [] : [variant])].join('/');

/** Processors run programs of these architectures. */
export const platformOfMachine = (arch: string): Platform => ({
  os: 'linux',
  architecture: ({ x64: 'amd64', ia32: '386' } as Readonly<Record<string, string>>)[arch] ?? arch,
});

/** arm64 is arm64/v8, and amd64 is amd64/v1: a variant above needs a newer processor. */
const isPlain = ({ variant }: Platform): boolean => variant === undefined || variant === 'v8' || variant === 'v1';

/** The image for this machine, among those of an index. Attestations ('unknown/unknown') are none. @throws ImageError */
export function choosePlatform(manifests: readonly Descriptor[], machine: Platform, what: string): Descriptor {
  const isOurs = ({ platform }: Descriptor): boolean => platform?.os === machine.os && platform.architecture === machine.architecture;
  const known = manifests.filter(({ platform }) => platform !== undefined && platform.os !== 'unknown');
  const chosen = known.find((each) => isOurs(each) && isPlain(each.platform ?? machine)) ?? known.find(isOurs);
  if (chosen !== undefined) return chosen;
  // An index of a single image need not say its platform; its config does.
  const [only] = manifests;
  if (manifests.length === 1 && only !== undefined && only.platform === undefined) return only;
  const offered = known.map(({ platform }) => platformText(platform ?? machine)).join(', ');
  throw new ImageError(`no match for platform in manifest: ${what} has no image for ${platformText(machine)}, only for ${offered || 'no platform'}`);
}
