import { type Command, UsageError } from './command.ts';
import { accessFlags, accessOf } from './cluster-access.ts';

/** `moor simulate`: what would happen? */
export const simulateCommand: Command = {
  name: 'simulate',
  summary: 'play a scenario on virtual time: what happens if a node dies, a zone goes dark, a backend fails?',
  arguments: { usage: 'FILE', about: 'a scenario in YAML: cluster, objects, script, expect (docs/SIMULATE.md)', least: 1, most: 1 },
  about: `Runs a whole cluster (API server, every controller, scheduler, nodes and storage backends: the same code as in "moor up")
on virtual time, does what the script says, and prints what happened, how things stand at the end, and which
expectations held. Nothing real is touched, hours take seconds, and the same file and seed give the same
output, byte for byte.

With --from-cluster it begins with a copy of a cluster that lives, Mooring or any other Kubernetes: nodes with their labels,
capacity and taints, volumes, claims, attachments and pods as they are. That cluster is only read: lists, and no Secrets.

The exit code is 0 if everything was as expected, 1 if not, 2 if the file makes no sense.`,
  flags: [
    { name: 'seed', value: 'N', about: 'decides the order of all that may happen in any order', default: "the file's own, or 1" },
    { name: 'from-cluster', about: 'begin with a copy of the cluster that kubectl would talk to' },
    ...accessFlags,
    { name: 'output', short: 'o', value: 'FORMAT', about: 'text, or json: the same as data, for programs', oneOf: ['text', 'json'], default: 'text' },
  ],
  examples: [
    { line: 'moor simulate examples/simulate/multi-attach.yaml', about: 'a node is lost: why does its database not start elsewhere?' },
    { line: 'moor simulate incident.yaml --seed 7', about: 'the same, in another order of events' },
    { line: 'moor simulate zone-lost.yaml --from-cluster --kubeconfig prod.kubeconfig', about: 'what would this do to my cluster?' },
    { line: "moor simulate incident.yaml -o json | jq '.expectations[] | select(.held | not)'", about: 'what was not as expected' },
  ],
  run: async (flags) => {
    const [file = ''] = flags.arguments;
    const seed = flags.text('seed');
    if (seed !== undefined && (!/^\d{1,10}$/.test(seed) || Number(seed) >= 2 ** 32))
      throw new UsageError(`--seed is a whole number below ${2 ** 32}, not "${seed}"`);
    const named = accessFlags.find(({ name }) => flags.text(name) !== undefined);
    if (named !== undefined && !flags.on('from-cluster')) throw new UsageError(`--${named.name} says which cluster to copy: give --from-cluster with it`);
    // Loaded here, so that other commands do not wait for it.
    const { runSimulate } = await import('./run-simulate.ts');
    return runSimulate({
      file,
      seed: seed === undefined ? undefined : Number(seed),
      output: flags.text('output') === 'json' ? 'json' : 'text',
      from: flags.on('from-cluster') ? await accessOf(flags) : undefined,
    });
  },
};
