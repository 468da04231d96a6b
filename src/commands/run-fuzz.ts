import { explore } from '../sim/exhaustive/explore.ts';
import { coverageHead, coverageLine, failureText } from '../sim/exhaustive/coverage-report.ts';
import { explorationCases } from '../sim/exhaustive/cases.ts';
import { drawPlan } from '../sim/fuzz/plan/draw-plan.ts';
import { failureReport } from '../sim/fuzz/failure-report.ts';
import { runPlan } from '../sim/fuzz/run-plan.ts';
import { runSeeds } from '../sim/fuzz/run-seeds.ts';
import { shrink } from '../sim/fuzz/shrink.ts';
import type { FuzzOptions } from './fuzz.ts';
import { runSeedsInProcesses, WorkerDied } from './fuzz-jobs.ts';

export function runFuzz(options: FuzzOptions): Promise<number> {
  return options.isOne ? showOne(options) : runMany(options);
}

async function runMany({ from, to, shrinks, jobs }: FuzzOptions): Promise<number> {
  const count = to - from + 1;
  const bar = process.stderr.isTTY ? liveBar(count) : linesNowAndThen(count);
  const run = {
    from,
    to,
    shrinks,
    onProgress: bar.show,
    onFailure: (text: string) => {
      bar.clear();
      process.stdout.write(`${text}\n`);
    },
  };
  let failed: readonly number[];
  try {
    failed = await (jobs === 1 || count === 1 ? runSeeds(run) : runSeedsInProcesses({ ...run, jobs }));
  } catch (error) {
    if (!(error instanceof WorkerDied)) throw error;
    bar.clear();
    process.stderr.write(`moor sim: ${error.message}\n`);
    return 1;
  }
  bar.clear();
  if (failed.length === 0) process.stdout.write(`${count} seeds, 0 violations\n`);
  else process.stdout.write(`${count} seeds, ${failed.length} violations: ${failed.join(', ')}\n`);
  return failed.length === 0 ? 0 : 1;
}

interface Progress {
  readonly show: (so: { readonly done: number; readonly failed: number }) => void;
  readonly clear: () => void;
}

const liveBar = (count: number): Progress => ({
  show: ({ done, failed }) => void process.stderr.write(`\r\x1b[K${progress(done, count, failed)}`),
  clear: () => void process.stderr.write('\r\x1b[K'),
});

/** For logs: who looks into one after an hour wants to know how far it is. */
function linesNowAndThen(count: number): Progress {
  let last = performance.now();
  return {
    show: ({ done, failed }) => {
      if (performance.now() - last < lineEveryMs) return;
      last = performance.now();
      process.stderr.write(`${done}/${count}, ${failed} violations\n`);
    },
    clear: () => undefined,
  };
}

const lineEveryMs = 30_000;

/** '[########............]  40/100, 0 violations' */
function progress(done: number, count: number, failed: number): string {
  const width = 30;
  const filled = Math.round((done / count) * width);
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${done}/${count}, ${failed} violations`;
}

async function showOne({ from, shrinks }: FuzzOptions): Promise<number> {
  const plan = drawPlan(from);
  const outcome = await runPlan(plan);
  if (outcome.violation === undefined) {
    process.stdout.write(`${outcome.timeline.join('\n')}\n1 seeds, 0 violations\n`);
    return 0;
  }
  const found = { plan, outcome };
  process.stdout.write(`${failureReport(shrinks ? await shrink(found) : found)}\n1 seeds, 1 violations: ${from}\n`);
  return 1;
}

/** Far more than fit into memory in the time that anybody waits. */
const mostStates = 5_000_000;

/** All stories, one after the other, each as far as its time goes. */
export async function runExhaustive(minutes: number): Promise<number> {
  process.stdout.write(`${coverageHead}\n`);
  let [broken, states, histories] = [0, 0, 0];
  for (const story of explorationCases) {
    const coverage = await explore(story, { crashes: 1, mostStates, mostMs: minutes * 60_000, now: () => performance.now() });
    process.stdout.write(`${coverageLine(coverage)}\n${failureText(coverage)}`);
    [states, histories] = [states + coverage.states, histories + coverage.histories];
    if (coverage.failure !== undefined) broken++;
  }
  process.stdout.write(`${explorationCases.length} stories, ${states} states, ${histories} histories, ${broken} violations\n`);
  return broken === 0 ? 0 : 1;
}
