import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { HttpAccess } from './http-transport.ts';

/** A kubeconfig that cannot be used; the message is for its author. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

export interface KubeconfigOptions {
  /** Absent: the file's current-context. */
  readonly context?: string;
}

/** How to reach the cluster that a kubeconfig names, and as whom. @throws KubeconfigError */
export function loadKubeconfig(file: string, options: KubeconfigOptions = {}): HttpAccess & { readonly namespace: string } {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new KubeconfigError(code === 'ENOENT' ? 'there is no such kubeconfig' : `cannot read the kubeconfig: ${message}`);
  }
  return parseKubeconfig(text, { ...options, readFile: (name) => readFileSync(path.resolve(path.dirname(file), name), 'utf8') });
}

export function parseKubeconfig(
  text: string,
  options: KubeconfigOptions & { readonly readFile: (name: string) => string },
): HttpAccess & { readonly namespace: string } {
  const config = parseYaml(text);
  const contextName = options.context ?? textOf(config['current-context']);
  if (contextName === undefined || contextName === '') throw new KubeconfigError('the kubeconfig has no current-context');
  const context = named(config['contexts'], 'context', contextName);
  const cluster = named(config['clusters'], 'cluster', textOf(context['cluster']) ?? '');
  const userName = textOf(context['user']) ?? '';
  const user = userName === '' ? {} : named(config['users'], 'user', userName);
  return { ...serverOf(cluster, options.readFile), ...credentialsOf(user, userName, options.readFile), namespace: textOf(context['namespace']) ?? 'default' };
}

type Section = Readonly<Record<string, unknown>>;

const isSection = (value: unknown): value is Section => typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function parseYaml(text: string): Section {
  let config: unknown;
  try {
    config = parse(text);
  } catch (error) {
    throw new KubeconfigError(`the kubeconfig is no YAML: ${(error as Error).message}`);
  }
  if (!isSection(config)) throw new KubeconfigError('the kubeconfig is empty');
  return config;
}

/** The entry of that name in a list of `{ name, <type>: { … } }`. */
function named(list: unknown, type: 'context' | 'cluster' | 'user', name: string): Section {
  const entry = Array.isArray(list) ? (list as unknown[]).find((e) => isSection(e) && e['name'] === name) : undefined;
  const section = isSection(entry) ? entry[type] : undefined;
  if (!isSection(section)) throw new KubeconfigError(`the kubeconfig has no ${type} named ${JSON.stringify(name)}`);
  return section;
}

function serverOf(cluster: Section, readFile: (name: string) => string): Pick<HttpAccess, 'url' | 'ca' | 'insecure' | 'serverName'> {
  const server = textOf(cluster['server']) ?? '';
  if (!/^https?:\/\//.test(server) || !URL.canParse(server)) throw new KubeconfigError(`the cluster's server is no URL: ${JSON.stringify(server)}`);
  if (cluster['proxy-url'] !== undefined) throw new KubeconfigError('proxy-url is not supported');
  const ca = dataOrFile(cluster, 'certificate-authority', readFile);
  const serverName = textOf(cluster['tls-server-name']);
  return {
    url: server,
    insecure: cluster['insecure-skip-tls-verify'] === true,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

function credentialsOf(user: Section, name: string, readFile: (name: string) => string): Pick<HttpAccess, 'cert' | 'key' | 'token'> {
  for (const plugin of ['exec', 'auth-provider', 'as', 'username']) {
    if (user[plugin] !== undefined)
      throw new KubeconfigError(`user ${JSON.stringify(name)} uses ${plugin}, which is not supported: use a client certificate or a token`);
  }
  const cert = dataOrFile(user, 'client-certificate', readFile);
  const key = dataOrFile(user, 'client-key', readFile);
  if ((cert === undefined) !== (key === undefined))
    throw new KubeconfigError(`user ${JSON.stringify(name)} has a client certificate without its key, or a key without its certificate`);
  const tokenFile = textOf(user['tokenFile']);
  const token = textOf(user['token']) ?? (tokenFile === undefined ? undefined : mustRead(readFile, tokenFile).trim());
  return { ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }), ...(token === undefined ? {} : { token }) };
}

/** `<field>-data` in base64, which wins, or `<field>`: the name of a file. */
function dataOrFile(section: Section, field: string, readFile: (name: string) => string): string | undefined {
  const data = textOf(section[`${field}-data`]);
  if (data !== undefined && data !== '') return Buffer.from(data, 'base64').toString('utf8');
  const file = textOf(section[field]);
  return file === undefined || file === '' ? undefined : mustRead(readFile, file);
}

function mustRead(readFile: (name: string) => string, file: string): string {
  try {
    return readFile(file);
  } catch (error) {
    throw new KubeconfigError(`cannot read what the kubeconfig names: ${(error as Error).message}`);
  }
}
