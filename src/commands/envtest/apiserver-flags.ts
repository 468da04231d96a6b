import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ClusterOptions } from '../../cluster/cluster.ts';
import { UsageError } from '../command.ts';

/** The flags of kube-apiserver that envtest sets, as far as they mean something here. */
export interface ApiServerArguments extends Pick<ClusterOptions, 'disabledPlugins'> {
  readonly listen: { readonly host: string; readonly port: number };
  readonly tls: NonNullable<ClusterOptions['tls']>;
  /** Flags that change nothing here, without their values. */
  readonly unused: readonly string[];
}

/** They are met anyway, or are about what is not there: objects are kept in memory, and the keys of service accounts are the cluster's own. */
const silent = new Set([
  'allow-privileged',
  'authorization-mode',
  'etcd-servers',
  'service-account-issuer',
  'service-account-key-file',
  'service-account-signing-key-file',
  'v',
]);
const used = new Set(['bind-address', 'secure-port', 'cert-dir', 'client-ca-file', 'tls-cert-file', 'tls-private-key-file', 'disable-admission-plugins']);

/** @throws UsageError if an argument cannot be honoured and the suite would not notice, or a file cannot be read */
export function readArguments(args: readonly string[]): ApiServerArguments {
  const values = flagsOf(args);
  const modes = values.get('authorization-mode')?.split(',') ?? ['RBAC'];
  if (!modes.includes('RBAC')) throw new UsageError(`--authorization-mode=${modes.join(',')} is not supported: Mooring authorizes by RBAC`);
  const port = Number(values.get('secure-port') ?? 6443);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new UsageError(`--secure-port must be a port, not "${values.get('secure-port') ?? ''}"`);
  const directory = values.get('cert-dir') ?? '/var/run/kubernetes';
  const certificate = values.get('tls-cert-file') ?? path.join(directory, 'apiserver.crt');
  const key = values.get('tls-private-key-file') ?? path.join(directory, 'apiserver.key');
  const clientCa = values.get('client-ca-file');
  const disabled = values.get('disable-admission-plugins')?.split(',');
  return {
    listen: { host: values.get('bind-address') ?? '127.0.0.1', port },
    tls: { serving: { certificate: read(certificate), key: read(key) }, clientAuthority: clientCa === undefined ? undefined : read(clientCa) },
    ...(disabled === undefined ? {} : { disabledPlugins: disabled }),
    unused: [...values.keys()].filter((name) => !silent.has(name) && !used.has(name)),
  };
}

/** --name=value, --name value, and --name. The last one counts. */
function flagsOf(args: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const [i, arg] of args.entries()) {
    const [, name, , value] = /^--?([a-z][a-z0-9-]*)(=([\s\S]*))?$/.exec(arg) ?? [];
    const next = args[i + 1];
    if (name !== undefined) values.set(name, value ?? (next === undefined || next.startsWith('-') ? 'true' : next));
  }
  return values;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
