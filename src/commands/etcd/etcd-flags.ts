import { readFileSync } from 'node:fs';
import type { StoreKind } from '../../cluster/data-directory/data-manifest.ts';
import type { EtcdOptions } from '../../cluster/data-directory/open-data.ts';
import { type Flag, type FlagValues, UsageError } from '../command.ts';
import { privatePath } from '../private-path.ts';

const defaultPrefix = '/mooring';

/** kube-apiserver's names. */
export const etcdFlags: readonly Flag[] = [
  { name: 'etcd-servers', value: 'URL,URL', about: 'the members of the etcd cluster: https://10.0.0.1:2379,https://10.0.0.2:2379' },
  { name: 'etcd-cafile', value: 'FILE', about: "the authority of the etcd servers' certificates", default: 'those that Node.js knows' },
  { name: 'etcd-certfile', value: 'FILE', about: 'the certificate with which etcd knows this server', default: 'none' },
  { name: 'etcd-keyfile', value: 'FILE', about: 'its key' },
  {
    name: 'etcd-prefix',
    value: 'PREFIX',
    about: "the beginning of all keys of this cluster: one etcd may hold several clusters, and other programs' data",
    default: defaultPrefix,
  },
];

/** @throws UsageError */
export function etcdOptions(flags: FlagValues, store: StoreKind): EtcdOptions | undefined {
  const given = etcdFlags.filter(({ name }) => flags.text(name) !== undefined && flags.text(name) !== defaultPrefix);
  if (store !== 'etcd') {
    if (given[0] !== undefined) throw new UsageError(`--${given[0].name} needs --store etcd and --etcd-servers`);
    return undefined;
  }
  const servers = (flags.text('etcd-servers') ?? '').split(',').filter((server) => server !== '');
  if (servers.length === 0) throw new UsageError('--etcd-servers is missing: the URLs of the members of the etcd cluster, with commas');
  for (const server of servers) checkServer(server);
  const [ca, cert, key] = ['etcd-cafile', 'etcd-certfile', 'etcd-keyfile'].map((name) => contentOf(flags, name));
  if ((cert === undefined) !== (key === undefined)) throw new UsageError('--etcd-certfile and --etcd-keyfile belong together');
  const clear = servers.find((server) => server.startsWith('http:'));
  if (clear !== undefined && (ca ?? cert) !== undefined) throw new UsageError(`${clear} is not encrypted, so certificates have no use: https://… would be`);
  const prefix = flags.text('etcd-prefix') ?? defaultPrefix;
  if (!/^(\/[^/]+)+$/.test(prefix)) throw new UsageError(`--etcd-prefix has to be like ${defaultPrefix}: ${prefix}`);
  return { servers, prefix, tls: { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) } };
}

function checkServer(server: string): void {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.hostname === '' || url.pathname !== '/')
    throw new UsageError(`--etcd-servers has ${JSON.stringify(server)}, which is no URL of a server: https://10.0.0.1:2379 would be`);
}

function contentOf(flags: FlagValues, name: string): string | undefined {
  const file = flags.text(name);
  if (file === undefined) return undefined;
  try {
    return readFileSync(name === 'etcd-keyfile' ? privatePath(name, file) : file, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`--${name} cannot be read: ${(error as Error).message}`);
  }
}
