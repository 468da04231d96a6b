import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { HttpAccess } from '../client/http-transport.ts';
import { terminal } from '../host/terminal.ts';
import { copyCluster } from '../sim/scenario/cluster-copy.ts';
import { ScenarioFileError } from '../sim/scenario/language/located-yaml.ts';
import { readScenario } from '../sim/scenario/language/read-scenario.ts';
import { renderReport, reportAsJson } from '../sim/scenario/render-report.ts';
import { runScenario } from '../sim/scenario/run-scenario.ts';
import { ClusterError } from '../why/reading/cluster-reader.ts';
import { accessFlags, accessOf, readingText, withClient } from './cluster-access.ts';
import { type Command, UsageError } from './command.ts';
import { type Output, outputFlag, outputOf } from './result/output.ts';
import { type ExitCode, exitCodes } from './result/exit-codes.ts';
import { withProgress } from './result/progress.ts';

/** `moor simulate`: what would happen? */
export const simulateCommand: Command = {
  arguments: { usage: 'FILE', about: 'a scenario in YAML: cluster, objects, script, expect (docs/SIMULATE.md)', least: 1, most: 1 },
  about: `Runs a whole cluster (API server, every controller, scheduler, nodes and storage backends: the same code as in "moor up")
on virtual time, carries out the script, and prints what happened, the state at the end, and which expectations held.
Nothing real is touched, hours take seconds, and the same file and seed give the same output, byte for byte.

With --from-cluster it begins with a copy of a live cluster, Mooring or any other Kubernetes: nodes with their labels,
capacity and taints, PVs, PVCs, VolumeAttachments and pods. That cluster is only read: lists, and no Secrets.`,
  flags: [
    { name: 'seed', value: 'N', about: 'decides the order of concurrent events', default: "the file's seed, or 1" },
    { name: 'from-cluster', about: 'begin with a copy of the cluster of the kubeconfig' },
    ...accessFlags,
    outputFlag,
  ],
  examples: [
    { line: 'moor simulate examples/simulate/multi-attach.yaml', about: 'a node is lost: why does its database not start elsewhere?' },
    { line: 'moor simulate incident.yaml --seed 7', about: 'the same, in another order of events' },
    { line: 'moor simulate zone-lost.yaml --from-cluster --kubeconfig prod.kubeconfig', about: 'what would this do to my cluster?' },
    { line: "moor simulate incident.yaml -o json | jq '.expectations[] | select(.held | not)'", about: 'the expectations that did not hold' },
  ],
  run: async (flags) => {
    const [file = ''] = flags.arguments;
    const seed = flags.text('seed');
    if (seed !== undefined && (!/^\d{1,10}$/.test(seed) || Number(seed) >= 2 ** 32))
      throw new UsageError(`--seed must be a whole number below ${2 ** 32}, not "${seed}"`);
    const named = accessFlags.find(({ name }) => flags.text(name) !== undefined);
    if (named !== undefined && !flags.on('from-cluster')) throw new UsageError(`--${named.name} names the cluster to copy: it needs --from-cluster`);
    return runSimulate({
      file,
      seed: seed === undefined ? undefined : Number(seed),
      output: outputOf(flags),
      from: flags.on('from-cluster') ? accessOf(flags) : undefined,
    });
  },
};

interface SimulateOptions {
  readonly file: string;
  readonly seed: number | undefined;
  readonly output: Output;
  /** The cluster to copy. */
  readonly from: HttpAccess | undefined;
}

/** Prints the report. Resolves with the exit code. */
async function runSimulate({ file, seed, output, from }: SimulateOptions): Promise<ExitCode> {
  try {
    const open = (name: string) => readText(path.resolve(path.dirname(file), name));
    const scenario = readScenario({ file, text: readText(file), open, fromCluster: from !== undefined });
    const copied = (access: HttpAccess) =>
      withProgress(readingText(access), () => withClient(access, 'simulate', (client, { world }) => copyCluster(client, world.clock.now())));
    const copy = from === undefined ? undefined : await copied(from);
    for (const { what, because } of copy?.unseen ?? []) process.stderr.write(`moor simulate: the copy is without ${what}: ${because}\n`);
    const report = await withProgress(`Simulating ${file}`, () => runScenario(scenario, { seed: seed ?? scenario.seed, copy }));
    process.stdout.write(output === 'json' ? reportAsJson(report) : renderReport(report, terminal(140)));
    return report.verdicts.every(({ held }) => held) ? exitCodes.success : exitCodes.failure;
  } catch (error) {
    if (!(error instanceof ScenarioFileError) && !(error instanceof UnreadableError) && !(error instanceof ClusterError)) throw error;
    process.stderr.write(`moor simulate: ${error.message}\n`);
    return exitCodes.wrongUsage;
  }
}

class UnreadableError extends Error {}

/** @throws UnreadableError */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UnreadableError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
