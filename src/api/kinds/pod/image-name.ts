const pathComponent = '[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*';
const domainComponent = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const domain = new RegExp(`^(?:${domainComponent}(?:\\.${domainComponent})*|\\[(?:[a-fA-F0-9:]+)\\])(?::[0-9]+)?$`);
const reference = new RegExp(`^(${pathComponent}(?:/${pathComponent})*)(?::([\\w][\\w.-]{0,127}))?(?:@([^@]*))?$`);
const digest = /^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$/;
/** A bare image id is not a name. */
const identifier = /^[a-f0-9]{64}$/;
const NAME_MAX_LENGTH = 255;

/** The tag that an image's name asks for; 'latest' when it names neither tag nor digest; nothing when it is no valid name. */
export function imageTag(image: string): string | undefined {
  if (identifier.test(image)) return undefined;
  const { host, rest } = splitHost(image);
  if (host !== undefined && !domain.test(host)) return undefined;
  const match = reference.exec(rest);
  if (match === null) return undefined;
  const [, path = '', tag, contentDigest] = match;
  if (path.length + (host?.length ?? 0) > NAME_MAX_LENGTH) return undefined;
  if (contentDigest !== undefined && !digest.test(contentDigest)) return undefined;
  return tag ?? (contentDigest === undefined ? 'latest' : undefined);
}

/** What stands before the first slash is a host if it looks like one: it has a dot, a port or a capital, or is localhost. */
function splitHost(image: string): { host: string | undefined; rest: string } {
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(slash, 0));
  const isHost = slash >= 0 && (/[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first);
  return isHost ? { host: first, rest: image.slice(slash + 1) } : { host: undefined, rest: image };
}

/** What an image is pulled by when nothing is said: one that may change under its name is pulled always. */
export const defaultPullPolicy = (image: string): string => (imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent');
