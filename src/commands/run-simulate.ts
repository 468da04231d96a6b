import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ClusterError } from '../why/reading/cluster-reader.ts';
import { createClient } from '../client/client.ts';
import { type HttpAccess, HttpTransport } from '../client/http-transport.ts';
import { type ClusterCopy, copyCluster } from '../sim/scenario/cluster-copy.ts';
import { ScenarioFileError } from '../sim/scenario/language/located-yaml.ts';
import { readScenario } from '../sim/scenario/language/read-scenario.ts';
import { renderReport, reportAsJson } from '../sim/scenario/render-report.ts';
import { runScenario } from '../sim/scenario/run-scenario.ts';
import { createRealWorld } from '../host/world.ts';
import { terminal } from '../host/terminal.ts';
import { version } from '../cluster/version.ts';

export interface SimulateOptions {
  readonly file: string;
  readonly seed: number | undefined;
  readonly output: 'text' | 'json';
  /** The cluster to begin with a copy of. */
  readonly from: HttpAccess | undefined;
}

/** Answers on standard output. Resolves with the exit code. */
export async function runSimulate({ file, seed, output, from }: SimulateOptions): Promise<number> {
  try {
    const open = (name: string) => readText(path.resolve(path.dirname(file), name));
    const scenario = readScenario({ file, text: readText(file), open, fromCluster: from !== undefined });
    const copy = from === undefined ? undefined : await copyOf(from);
    for (const { what, because } of copy?.unseen ?? []) process.stderr.write(`moor simulate: the copy is without ${what}: ${because}\n`);
    const report = await runScenario(scenario, { seed: seed ?? scenario.seed, copy });
    process.stdout.write(output === 'json' ? reportAsJson(report) : renderReport(report, terminal(140)));
    return report.verdicts.every(({ held }) => held) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof ScenarioFileError) && !(error instanceof UnreadableError) && !(error instanceof ClusterError)) throw error;
    process.stderr.write(`moor simulate: ${error.message}\n`);
    return 2;
  }
}

const timeoutMs = 30_000;

async function copyOf(access: HttpAccess): Promise<ClusterCopy> {
  const world = createRealWorld({ logLevel: 'silent' });
  const transport = new HttpTransport({ access, world, userAgent: `moor/${version} (simulate)`, timeoutMs });
  try {
    return await copyCluster(createClient({ transport }), world.clock.now());
  } finally {
    transport.close();
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
