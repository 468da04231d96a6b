/** User names and passwords for registries, from the secrets that a pod names. */
import type { Secret } from '../../api/generated/types.ts';
import { credentialHash, type ImagePullSecret } from './pull-records.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

interface AuthEntry {
  readonly username?: unknown;
  readonly password?: unknown;
  readonly auth?: unknown;
}

/** Credentials, and the secret that has them. */
export interface TrackedCredentials {
  readonly credentials: Credentials;
  readonly source: ImagePullSecret;
}

/** Those for a repository ('docker.io/library/busybox'), the most particular first; each may be the right one. */
export function credentialsFor(repository: string, secrets: readonly Secret[]): readonly TrackedCredentials[] {
  const found = secrets.flatMap((secret) =>
    entriesOf(secret)
      .filter(([pattern]) => matches(pattern, repository))
      .flatMap(([pattern, entry]) => {
        const credentials = credentialsOf(entry);
        const { uid = '', namespace = '', name = '' } = secret.metadata;
        return credentials === undefined ? [] : [{ pattern, credentials, source: { uid, namespace, name, credentialHash: credentialHash(credentials) } }];
      }),
  );
  return found.toSorted((a, b) => b.pattern.length - a.pattern.length).map(({ credentials, source }) => ({ credentials, source }));
}

/** As the kubelet: `*` stands for a part of the registry's name, and a path for all repositories below it. */
function matches(pattern: string, repository: string): boolean {
  const [[host = '', ...path], [registry = '', ...below]] = [pattern.split('/'), repository.split('/')];
  const [parts, own] = [host.split('.'), registry.split('.')];
  if (parts.length !== own.length || !parts.every((part, index) => isGlob(part, own[index] ?? ''))) return false;
  return path.every((part, index) => part === below[index]);
}

const isGlob = (pattern: string, text: string): boolean => {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === text;
  const last = rest.pop() ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    at = text.indexOf(part, at);
    if (at < 0) return false;
    at += part.length;
  }
  return at <= text.length - last.length;
};

function entriesOf({ type, data = {} }: Secret): readonly (readonly [string, AuthEntry])[] {
  const isNew = type === 'kubernetes.io/dockerconfigjson';
  if (!isNew && type !== 'kubernetes.io/dockercfg') return [];
  try {
    const document = JSON.parse(Buffer.from(data[isNew ? '.dockerconfigjson' : '.dockercfg'] ?? '', 'base64').toString()) as Record<string, unknown>;
    const auths = (isNew ? document['auths'] : document) as Record<string, AuthEntry>;
    return Object.entries(auths).map(([host, entry]) => [hostOf(host), entry] as const);
  } catch {
    return [];
  }
}

/** 'https://index.docker.io/v1/' is docker.io. */
function hostOf(text: string): string {
  const host = text.replace(/^https?:\/\//, '').replace(/\/(v[12]\/?)?$/, '');
  return ['index.docker.io', 'registry-1.docker.io'].includes(host) ? 'docker.io' : host;
}

function credentialsOf({ username, password, auth }: AuthEntry): Credentials | undefined {
  if (typeof username === 'string' && typeof password === 'string') return { username, password };
  const decoded = typeof auth === 'string' ? Buffer.from(auth, 'base64').toString() : '';
  const colon = decoded.indexOf(':');
  return colon < 0 ? undefined : { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}
