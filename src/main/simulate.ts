import { readFileSync } from 'node:fs';
import path from 'node:path';
import { FileError } from '../sim/simulate/located.ts';
import { readScenario } from '../sim/simulate/read-scenario.ts';
import { renderReport, reportAsJson } from '../sim/simulate/render.ts';
import { runScenario } from '../sim/simulate/run.ts';

export interface SimulateOptions {
  readonly file: string;
  readonly seed: number | undefined;
  readonly output: 'text' | 'json';
}

/** Answers on standard output. Resolves with the exit code. */
export async function runSimulate({ file, seed, output }: SimulateOptions): Promise<number> {
  try {
    const open = (name: string) => readText(path.resolve(path.dirname(file), name));
    const scenario = readScenario({ file, text: readText(file), open });
    const report = await runScenario(scenario, { seed: seed ?? scenario.seed });
    process.stdout.write(output === 'json' ? reportAsJson(report) : renderReport(report, terminal()));
    return report.verdicts.every(({ held }) => held) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof FileError) && !(error instanceof UnreadableError)) throw error;
    process.stderr.write(`moor simulate: ${error.message}\n`);
    return 2;
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

/** Colours only where somebody sees them, and has not asked for none (https://no-color.org). */
function terminal() {
  const { isTTY, columns } = process.stdout;
  const colour = isTTY && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb';
  return { colour, width: isTTY ? columns : 140 };
}
