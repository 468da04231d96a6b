import { type Command, type FlagValues, UsageError } from './command.ts';
import type { HttpAccess } from '../client/http-transport.ts';
import type { Target } from '../why/explanation/target.ts';
import { parseTarget, targetUsage } from '../why/explanation/target.ts';
import { accessFlags, accessOf } from './cluster-access.ts';

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
    { name: 'namespace', short: 'n', value: 'NAMESPACE', about: 'where the claim or pod is', default: "the context's own, or default" },
    ...accessFlags,
    { name: 'output', short: 'o', value: 'FORMAT', about: 'text, or json: the same as data, for programs', oneOf: ['text', 'json'], default: 'text' },
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
    const asked = await whyOptions(flags);
    // Loaded here, so that other commands do not wait for it.
    const { runWhy } = await import('./run-why.ts');
    return runWhy(asked);
  },
};

export interface WhyOptions {
  readonly target: Target;
  readonly access: HttpAccess;
  readonly output: 'text' | 'json';
}

async function whyOptions(flags: FlagValues): Promise<WhyOptions> {
  const access = await accessOf(flags);
  const target = parseTarget(flags.arguments, flags.text('namespace') ?? access.namespace);
  if (typeof target === 'string') throw new UsageError(target);
  return { target, access, output: flags.text('output') === 'json' ? 'json' : 'text' };
}
