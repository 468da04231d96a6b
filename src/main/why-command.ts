import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { type Command, type FlagValues, UsageError } from '../cli/command.ts';
import type { HttpAccess } from '../machinery/http-transport.ts';
import type { Target } from '../why/target.ts';
import { parseTarget, targetUsage } from '../why/target.ts';
import { defaultDataDir } from './up-command.ts';

/** `moor why`: explains the state of a claim, volume, pod or attachment, in this cluster or any other. */
export const whyCommand: Command = {
  name: 'why',
  summary: 'explain why a claim, volume, pod or attachment is as it is, and what would change that',
  arguments: { usage: 'KIND/NAME', about: targetUsage, least: 1, most: 2 },
  about: `Looks at the objects, decides about them as the controllers do, and says: which state and since when, every
candidate with the rule that refused it, what would change the answer, and whose move it is. It only reads, and
it works on Mooring and on any Kubernetes cluster. Events play no part: the answer is the same without them.

What you may not look at is named, and the answer leaves it open. The exit code is 0 if the object exists,
whatever its state; 1 if it does not, or if the cluster gives no answer.`,
  flags: [
    { name: 'namespace', short: 'n', value: 'NAMESPACE', about: 'where the claim or pod is', otherwise: "the context's own, or default" },
    {
      name: 'kubeconfig',
      value: 'FILE',
      about: 'which cluster, and as whom',
      otherwise: '$KUBECONFIG, ~/.kube/config, or the one that moor up wrote',
    },
    { name: 'context', value: 'NAME', about: 'the context of the kubeconfig', otherwise: 'its current-context' },
    {
      name: 'server',
      value: 'URL',
      about: 'a server that asks for no credentials, in place of a kubeconfig: kubectl proxy is one, whichever way you log in',
    },
    { name: 'output', short: 'o', value: 'FORMAT', about: 'text, or json: the same as data, for programs', oneOf: ['text', 'json'], otherwise: 'text' },
  ],
  examples: [
    { line: 'moor why pvc/data -n shop', about: 'why is this claim Pending?' },
    { line: 'moor why pod/db-0 -n shop', about: 'what keeps this pod from its volumes?' },
    { line: 'moor why pv/pv1', about: 'why does nobody get this volume?' },
    { line: 'moor why va/csi-5f3c…', about: 'why is the volume still attached? (names: kubectl get volumeattachments)' },
    { line: "moor why pvc/data -o json | jq '.candidates[] | {name, refusals}'", about: 'every candidate, with the rules that refused it' },
    { line: 'kubectl proxy --port 8001 & moor why pvc/data --server http://127.0.0.1:8001', about: 'a cluster with its own way to log in (exec plugins)' },
  ],
  run: async (flags) => {
    const asked = await questionOf(flags);
    // Loaded here, so that other commands do not wait for it.
    const { runWhy } = await import('./why.ts');
    return runWhy(asked);
  },
};

export interface Question {
  readonly target: Target;
  readonly access: HttpAccess;
  readonly output: 'text' | 'json';
}

async function questionOf(flags: FlagValues): Promise<Question> {
  const access = await accessOf(flags);
  const target = parseTarget(flags.arguments, flags.text('namespace') ?? access.namespace);
  if (typeof target === 'string') throw new UsageError(target);
  return { target, access, output: flags.text('output') === 'json' ? 'json' : 'text' };
}

async function accessOf(flags: FlagValues): Promise<HttpAccess & { readonly namespace: string }> {
  const server = flags.text('server');
  if (server !== undefined) {
    if (!/^https?:\/\//.test(server) || !URL.canParse(server)) throw new UsageError(`--server wants a URL, such as http://127.0.0.1:8001, not "${server}"`);
    return { url: server, namespace: 'default' };
  }
  const { KubeconfigError, loadKubeconfig } = await import('../machinery/http-transport-kubeconfig.ts');
  const file = flags.text('kubeconfig') ?? usualKubeconfig();
  const context = flags.text('context');
  try {
    return loadKubeconfig(file, context === undefined ? {} : { context });
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new UsageError(`${error.message} (${file}). Say which with --kubeconfig FILE, or go through "kubectl proxy" with --server URL.`);
  }
}

/** The first that exists, as kubectl looks for it; then the one of `moor up`. */
function usualKubeconfig(): string {
  const given = (process.env['KUBECONFIG'] ?? '').split(path.delimiter).filter((file) => file !== '');
  const usual = [path.join(homedir(), '.kube', 'config'), path.join(defaultDataDir(homedir()), 'kubeconfig')];
  const candidates = given.length > 0 ? given : usual;
  const found = candidates.find((file) => existsSync(file));
  if (found !== undefined) return found;
  throw new UsageError(`no kubeconfig: there is none at ${candidates.join(' or ')}. Start a cluster with "moor up", or say which with --kubeconfig FILE.`);
}
