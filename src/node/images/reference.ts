/** Names of images, as users write them and as stores and registries know them (distribution/reference). */
export interface ImageReference {
  /** 'docker.io', 'localhost:5000' */
  readonly registry: string;
  /** 'library/busybox' */
  readonly repository: string;
  /** Undefined with a digest alone. */
  readonly tag: string | undefined;
  /** 'sha256:…' */
  readonly digest: string | undefined;
}

const component = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const host = /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/;
const tagPattern = /^\w[\w.-]{0,127}$/;
const digestPattern = /^sha256:[0-9a-f]{64}$/;

export const isDigest = (text: string): boolean => digestPattern.test(text);

const invalid = 'invalid reference format';

/** Undefined with the reason: 'busybox:1.36' is docker.io/library/busybox:1.36. */
export function parseReference(image: string): ImageReference | { readonly error: string } {
  const at = image.indexOf('@');
  const digest = at < 0 ? undefined : image.slice(at + 1);
  const named = at < 0 ? image : image.slice(0, at);
  const colon = named.lastIndexOf(':');
  const hasTag = colon > named.lastIndexOf('/');
  const name = hasTag ? named.slice(0, colon) : named;
  const tag = hasTag ? named.slice(colon + 1) : undefined;
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  const isHost = first === 'localhost' || /[.:]|[A-Z]/.test(first);
  const registry = !isHost || first === 'index.docker.io' ? 'docker.io' : first;
  const path = isHost ? name.slice(slash + 1) : name;
  const repository = registry === 'docker.io' && !path.includes('/') ? `library/${path}` : path;
  if (/[A-Z]/.test(repository)) return { error: 'repository name must be lowercase' };
  if (!host.test(registry) || !repository.split('/').every((part) => component.test(part))) return { error: invalid };
  if (`${registry}/${repository}`.length > 255) return { error: 'repository name must not be more than 255 characters' };
  if (tag !== undefined && !tagPattern.test(tag)) return { error: invalid };
  if (digest !== undefined && !digestPattern.test(digest)) return { error: digest.startsWith('sha512:') ? 'unsupported digest algorithm' : invalid };
  return { registry, repository, tag: tag ?? (digest === undefined ? 'latest' : undefined), digest };
}

export const isReference = (parsed: ImageReference | { readonly error: string }): parsed is ImageReference => !('error' in parsed);

/** 'docker.io/library/busybox' */
export const repositoryOf = ({ registry, repository }: ImageReference): string => `${registry}/${repository}`;

/** In full. A digest says which image it is, whatever the tag. */
export const referenceText = (reference: ImageReference): string =>
  reference.digest === undefined ? `${repositoryOf(reference)}:${reference.tag ?? 'latest'}` : `${repositoryOf(reference)}@${reference.digest}`;
