/** What kubectl needs to reach a server. */
export interface KubeconfigOptions {
  /** 'https://127.0.0.1:6443' */
  readonly server: string;
  /** PEM. */
  readonly authority: string;
  /** Of cluster, user and context. Absent: `defaultEntryName`. */
  readonly name?: string;
  readonly user: { readonly type: 'certificate'; readonly certificate: string; readonly key: string } | { readonly type: 'token'; readonly token: string };
}

export interface Kubeconfig {
  readonly apiVersion: 'v1';
  readonly kind: 'Config';
  readonly 'current-context': string;
  readonly clusters: readonly NamedEntry[];
  readonly users: readonly NamedEntry[];
  readonly contexts: readonly NamedEntry[];
}

export interface NamedEntry {
  readonly name: string;
  readonly [member: string]: unknown;
}

/** Of the cluster without a name of its own. */
export const defaultEntryName = 'mooring';

/** Of several clusters in one file, each has entries of its own. */
export const entryNameOf = (cluster: string | undefined): string =>
  cluster === undefined || cluster === defaultEntryName ? defaultEntryName : `${defaultEntryName}-${cluster}`;

/** Whether every entry of a kubeconfig is of one cluster of Mooring's. */
export function isOfOneCluster(text: string): boolean {
  const names = new Set([...text.matchAll(/^\s*-?\s*"?name"?:\s*"?([^"\s]*)"?\s*$/gm)].map((match) => match[1] ?? ''));
  return names.size === 1 && [...names].every((name) => name === defaultEntryName || name.startsWith(`${defaultEntryName}-`));
}

export function kubeconfig({ server, authority, user, name = defaultEntryName }: KubeconfigOptions): Kubeconfig {
  const credentials =
    user.type === 'token' ? { token: user.token } : { 'client-certificate-data': base64(user.certificate), 'client-key-data': base64(user.key) };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { 'certificate-authority-data': base64(authority), server } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
    users: [{ name, user: credentials }],
  };
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** YAML that needs no library: every scalar is written as JSON, which YAML contains. */
export function renderKubeconfig(config: Kubeconfig): string {
  return `${renderValue(config, 0).trimStart()}\n`;
}

function renderValue(value: unknown, depth: number): string {
  const indent = '  '.repeat(depth);
  if (Array.isArray(value))
    return value.length === 0 ? ' []' : value.map((item) => `\n${indent}-${renderValue(item, depth + 1).replace(/^\n\s*/, ' ')}`).join('');
  if (typeof value !== 'object' || value === null) return ` ${JSON.stringify(value)}`;
  return Object.entries(value)
    .map(([key, member]) => `\n${indent}${key}:${renderValue(member, depth + 1)}`)
    .join('');
}
