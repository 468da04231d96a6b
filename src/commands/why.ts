import type { HttpAccess } from '../client/http-transport.ts';
import { terminal } from '../host/terminal.ts';
import { explain } from '../why/explain.ts';
import { render } from '../why/explanation/render.ts';
import { ClusterError } from '../why/reading/cluster-reader.ts';
import { readObjects } from '../why/reading/read-objects.ts';
import { parseTarget, type Target, targetUsage } from '../why/explanation/target.ts';
import { accessFlags, accessOf, withClient } from './cluster-access.ts';
import { type Command, type FlagValues, UsageError } from './command.ts';
import { outputFlag } from './shared-flags.ts';

/** `moor why`: explains the state of a PVC, PV, pod or VolumeAttachment, in this cluster or any other. */
export const whyCommand: Command = {
  arguments: { usage: 'KIND/NAME', about: targetUsage, least: 1, most: 2 },
  about: `Reads the objects, decides about them as the controllers do, and prints: the state and since when, every candidate with
the rule that rejected it, what would change the answer, and which component acts next. It only reads. It works on Mooring
and on any Kubernetes cluster. Events play no part: the answer is the same without them.

Objects that you may not read are named, and the answer leaves them open. The exit code is 0 if the object exists,
whatever its state; 1 if it does not exist, or if the cluster does not answer.`,
  flags: [
    { name: 'namespace', short: 'n', value: 'NAMESPACE', about: 'the namespace of the PVC or pod', default: 'that of the context, or default' },
    ...accessFlags,
    outputFlag,
  ],
  examples: [
    { line: 'moor why pvc/data -n shop', about: 'why is this PVC Pending?' },
    { line: 'moor why pod/db-0 -n shop', about: 'why does this pod wait for its volumes?' },
    { line: 'moor why pv/pv1', about: 'why is this PV not bound?' },
    { line: 'moor why va/csi-5f3c…', about: 'why is the volume still attached? (names: kubectl get volumeattachments)' },
    { line: "moor why pvc/data -o json | jq '.candidates[] | {name, refusals}'", about: 'every candidate with the rules that rejected it' },
    { line: 'kubectl proxy --port 8001 & moor why pvc/data --server http://127.0.0.1:8001', about: 'a cluster whose kubeconfig uses an exec plugin' },
  ],
  run: (flags) => runWhy(whyOptions(flags)),
};

interface WhyOptions {
  readonly target: Target;
  readonly access: HttpAccess;
  readonly output: 'text' | 'json';
}

function whyOptions(flags: FlagValues): WhyOptions {
  const access = accessOf(flags);
  const target = parseTarget(flags.arguments, flags.text('namespace') ?? access.namespace);
  if (typeof target === 'string') throw new UsageError(target);
  return { target, access, output: flags.text('output') === 'json' ? 'json' : 'text' };
}

/** Prints the explanation. Resolves with the exit code. */
async function runWhy({ target, access, output }: WhyOptions): Promise<number> {
  try {
    const explanation = await withClient(access, 'why', async (client, { clock }) => explain(target, await readObjects(client, target), clock.now()));
    process.stdout.write(output === 'json' ? `${JSON.stringify(explanation, null, 2)}\n` : render(explanation, terminal(100)));
    return explanation.verdict === 'absent' ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    process.stderr.write(`moor why: ${error.message} (${access.url})\n`);
    return 1;
  }
}
