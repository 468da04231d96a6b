import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ClusterError } from '../cli/cluster-reader.ts';
import { createClient } from '../machinery/client.ts';
import { type HttpAccess, HttpTransport } from '../machinery/http-transport.ts';
import { type ClusterCopy, copyCluster } from '../sim/simulate/copy.ts';
import { FileError } from '../sim/simulate/located.ts';
import { readScenario } from '../sim/simulate/read-scenario.ts';
import { renderReport, reportAsJson } from '../sim/simulate/render.ts';
import { runScenario } from '../sim/simulate/run.ts';
import { createRealWorld } from './real-world.ts';
import { terminal } from './terminal.ts';
import { version } from './version.ts';

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
    if (!(error instanceof FileError) && !(error instanceof UnreadableError) && !(error instanceof ClusterError)) throw error;
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
