import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { podKind } from '../api/kinds/pod/pod.ts';
import { resourceRequestInfo } from '../api/request-info.ts';
import { type Client, createClient } from '../client/client.ts';
import { type HttpAccess, HttpTransport } from '../client/http-transport.ts';
import { KubeconfigError, loadKubeconfig } from '../client/http-transport-kubeconfig.ts';
import { ServerList } from '../client/server-list.ts';
import { allRecords, dataDirOf } from '../cluster/life-cycle/cluster-record.ts';
import { version } from '../cluster/version.ts';
import { createRealWorld } from '../host/world.ts';
import type { LogReader } from '../why/reading/cluster-reader.ts';
import type { PathReader } from '../why/reading/store-problem.ts';
import type { World } from '../world/world.ts';
import { type Flag, type FlagValues, UsageError } from './command.ts';

/** The flags of commands that use a cluster: which one, and as which user. */
export const accessFlags: readonly Flag[] = [
  {
    name: 'kubeconfig',
    value: 'FILE',
    about: 'the cluster and the user',
    default: '$KUBECONFIG, ~/.kube/config, or the one that moor up wrote',
  },
  { name: 'context', value: 'NAME', about: 'the context of the kubeconfig', default: 'its current-context' },
  {
    name: 'server',
    value: 'URL',
    about: 'a server that needs no credentials, instead of a kubeconfig: kubectl proxy is one, for every way to log in',
  },
];

/** For commands that run for long. */
export const serversFlag: Flag = {
  name: 'servers',
  value: 'URL,URL',
  about: 'the API servers of the cluster, with commas: requests go to the next one when theirs does not answer',
  default: "the kubeconfig's",
};

/** With all servers of `serversFlag`. @throws UsageError */
export function accessToServers(flags: FlagValues): HttpAccess & { readonly namespace: string } {
  const access = accessOf(flags);
  const [first, ...others] = (flags.text('servers') ?? '').split(',').filter((server) => server !== '');
  if (first === undefined) return access;
  for (const server of [first, ...others])
    if (!/^https?:\/\/[^/]+\/?$/.test(server) || !URL.canParse(server))
      throw new UsageError(`--servers has ${JSON.stringify(server)}, which is no URL of a server: https://10.0.0.1:6443 would be`);
  return { ...access, url: first, servers: new ServerList([first, ...others]) };
}

/** @throws UsageError */
export function accessOf(flags: FlagValues): HttpAccess & { readonly namespace: string } {
  const server = flags.text('server');
  if (server !== undefined) {
    if (!/^https?:\/\//.test(server) || !URL.canParse(server)) throw new UsageError(`--server must be a URL, such as http://127.0.0.1:8001, not "${server}"`);
    return { url: server, namespace: 'default' };
  }
  const file = flags.text('kubeconfig') ?? defaultKubeconfig();
  const context = flags.text('context');
  try {
    return loadKubeconfig(file, context === undefined ? {} : { context });
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new UsageError(`${error.message} (${file}). Name another one with --kubeconfig FILE, or use "kubectl proxy" with --server URL.`);
  }
}

/** The first that exists, in kubectl's order; then the one of `moor up`. */
function defaultKubeconfig(): string {
  const given = (process.env['KUBECONFIG'] ?? '').split(path.delimiter).filter((file) => file !== '');
  const usual = [path.join(homedir(), '.kube', 'config'), path.join(dataDirOf(), 'kubeconfig')];
  const candidates = given.length > 0 ? given : usual;
  const found = candidates.find((file) => existsSync(file));
  if (found !== undefined) return found;
  const [named] = allRecords().flatMap(({ name }) => name ?? []);
  const remedy =
    named === undefined
      ? 'Start a cluster with "moor up", or name one with --kubeconfig FILE.'
      : `For the cluster "${named}": export KUBECONFIG=$(moor kubeconfig ${named} --path). Others are named with --kubeconfig FILE.`;
  throw new UsageError(`no kubeconfig at ${candidates.join(' or ')}. ${remedy}`);
}

/** Long enough for a list in a large cluster, short enough for a user at a terminal. */
const timeoutMs = 30_000;

export interface CommandContext {
  readonly world: World;
  readonly logs: LogReader;
  readonly paths: PathReader;
}

const logReader = (transport: HttpTransport): LogReader => ({
  tail({ container, previous, lines, ...pod }) {
    const query = new URLSearchParams({ container, tailLines: `${lines}`, ...(previous ? { previous: 'true' } : {}) });
    return transport.readText({ info: resourceRequestInfo('get', podKind, { ...pod, subresource: 'log' }), query });
  },
});

/** On a terminal, while a command reads the cluster. */
export const readingText = ({ url }: HttpAccess): string => `Reading the cluster at ${url}`;

/** Calls with a client of the cluster, and closes its connections afterwards. `command`: for the user agent. */
export async function withClient<T>(access: HttpAccess, command: string, task: (client: Client, context: CommandContext) => Promise<T>): Promise<T> {
  const world = createRealWorld({ logLevel: 'silent' });
  const transport = new HttpTransport({ access, world, userAgent: `moor/${version} (${command})`, timeoutMs });
  try {
    return await task(createClient({ transport }), { world, logs: logReader(transport), paths: { read: (each) => transport.readPath(each) } });
  } finally {
    transport.close();
  }
}
