import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { type Flag, type FlagValues, UsageError } from './command.ts';
import type { HttpAccess } from '../client/http-transport.ts';
import { defaultDataDir } from './up.ts';

/** How commands that look at a cluster are told which one. */
export const accessFlags: readonly Flag[] = [
  {
    name: 'kubeconfig',
    value: 'FILE',
    about: 'which cluster, and as whom',
    default: '$KUBECONFIG, ~/.kube/config, or the one that moor up wrote',
  },
  { name: 'context', value: 'NAME', about: 'the context of the kubeconfig', default: 'its current-context' },
  {
    name: 'server',
    value: 'URL',
    about: 'a server that asks for no credentials, in place of a kubeconfig: kubectl proxy is one, whichever way you log in',
  },
];

/** @throws UsageError */
export async function accessOf(flags: FlagValues): Promise<HttpAccess & { readonly namespace: string }> {
  const server = flags.text('server');
  if (server !== undefined) {
    if (!/^https?:\/\//.test(server) || !URL.canParse(server)) throw new UsageError(`--server wants a URL, such as http://127.0.0.1:8001, not "${server}"`);
    return { url: server, namespace: 'default' };
  }
  const { KubeconfigError, loadKubeconfig } = await import('../client/http-transport-kubeconfig.ts');
  const file = flags.text('kubeconfig') ?? defaultKubeconfig();
  const context = flags.text('context');
  try {
    return loadKubeconfig(file, context === undefined ? {} : { context });
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new UsageError(`${error.message} (${file}). Say which with --kubeconfig FILE, or go through "kubectl proxy" with --server URL.`);
  }
}

/** The first that exists, as kubectl looks for it; then the one of `moor up`. */
function defaultKubeconfig(): string {
  const given = (process.env['KUBECONFIG'] ?? '').split(path.delimiter).filter((file) => file !== '');
  const usual = [path.join(homedir(), '.kube', 'config'), path.join(defaultDataDir(homedir()), 'kubeconfig')];
  const candidates = given.length > 0 ? given : usual;
  const found = candidates.find((file) => existsSync(file));
  if (found !== undefined) return found;
  throw new UsageError(`no kubeconfig: there is none at ${candidates.join(' or ')}. Start a cluster with "moor up", or say which with --kubeconfig FILE.`);
}
