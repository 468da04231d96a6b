/** User names and passwords for registries, from the secrets that a pod names. */
import type { Secret } from '../../../api/generated/types.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

interface AuthEntry {
  readonly username?: unknown;
  readonly password?: unknown;
  readonly auth?: unknown;
}

/** Those for a repository ('docker.io/library/busybox'), the most particular first. */
export function credentialsFor(repository: string, secrets: readonly Secret[]): Credentials | undefined {
  const entries = secrets.flatMap(entriesOf).filter(([host]) => repository === host || repository.startsWith(`${host}/`));
  const [best] = entries.toSorted(([a], [b]) => b.length - a.length);
  return best === undefined ? undefined : credentialsOf(best[1]);
}

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
