import { availableParallelism } from 'node:os';
import { explorationCases } from '../sim/exhaustive/cases.ts';
import { coverageHead, coverageLine, failureText } from '../sim/exhaustive/coverage-report.ts';
import { explore } from '../sim/exhaustive/explore.ts';
import { failureReport } from '../sim/fuzz/failure-report.ts';
import { drawPlan } from '../sim/fuzz/plan/draw-plan.ts';
import { runPlan } from '../sim/fuzz/run-plan.ts';
import { runSeeds } from '../sim/fuzz/run-seeds.ts';
import { shrink } from '../sim/fuzz/shrink.ts';
import { type Command, type FlagValues, UsageError } from './command.ts';
import { runSeedsInProcesses, WorkerDied } from './fuzz-jobs.ts';

/** `moor fuzz`: random clusters with random faults, each from one integer. */
export const fuzzCommand: Command = {
  about: `Every seed is a whole cluster in one process on virtual time: API server, controllers, scheduler, nodes and a storage
backend, users, and faults: crashes between any two steps, lost requests, stale caches, wrong clocks, two leaders, failing
backends, full disks, lost machines. After each change the invariants are checked: no volume has two owners or two writers,
and none is deleted too soon. At the end the cluster must be in the state that it would have without the faults.

The same seed always gives the same run. A failure is shrunk to as few events as possible, and printed as a timeline.
The last line is "N seeds, 0 violations" with exit code 0, or the seeds that failed with exit code 1.`,
  flags: [
    { name: 'seeds', value: 'A..B', about: 'the seeds to run', default: '1..100' },
    { name: 'seed', value: 'N', about: 'one seed, with its timeline' },
    { name: 'jobs', value: 'N', about: 'how many processes run seeds at the same time', default: 'one for each core' },
    { name: 'no-shrink', about: 'print failures as they were found, which is faster' },
    { name: 'exhaustive', about: 'small cases instead of random ones: every order of effects and every point to crash' },
    { name: 'minutes', value: 'N', about: 'with --exhaustive: the time limit of each case', default: '1' },
  ],
  examples: [
    { line: 'moor fuzz --seeds 1..1000', about: 'a thousand random clusters' },
    { line: 'moor fuzz --seed 42', about: 'one of them, step by step' },
    { line: 'moor fuzz --exhaustive --minutes 5', about: 'the small cases, five minutes each' },
  ],
  run: (flags) => (flags.on('exhaustive') ? runExhaustive(minutesOf(flags)) : runFuzz(fuzzOptions(flags))),
};

function minutesOf(flags: FlagValues): number {
  const text = flags.text('minutes') ?? '1';
  const minutes = Number(text);
  if (!(minutes > 0 && minutes <= 600)) throw new UsageError(`--minutes must be a number up to 600, not "${text}"`);
  if (flags.text('seed') !== undefined || flags.text('seeds') !== undefined) throw new UsageError('--exhaustive has no seeds');
  if (flags.text('jobs') !== undefined) throw new UsageError('--exhaustive runs in one process');
  return minutes;
}

interface FuzzOptions {
  readonly from: number;
  readonly to: number;
  /** Print the whole timeline, also of a run without violation. */
  readonly isOne: boolean;
  readonly shrinks: boolean;
  /** How many processes; one: this one. */
  readonly jobs: number;
}

function fuzzOptions(flags: FlagValues): FuzzOptions {
  const [one, range] = [flags.text('seed'), flags.text('seeds')];
  if (one !== undefined && range !== undefined) throw new UsageError('--seed is one seed and --seeds are many: give only one of them');
  const shrinks = !flags.on('no-shrink');
  if (one !== undefined) {
    const seed = seedOf(one);
    if (flags.text('jobs') !== undefined) throw new UsageError('--seed is one seed: it has no --jobs');
    return { from: seed, to: seed, isOne: true, shrinks, jobs: 1 };
  }
  const [from, to] = (range ?? '1..100').split('..').map(seedOf);
  if (from === undefined || to === undefined || to < from) throw new UsageError(`--seeds must be a range such as 1..100, not "${range}"`);
  return { from, to, isOne: false, shrinks, jobs: jobsOf(flags.text('jobs')) };
}

function jobsOf(text: string | undefined): number {
  if (text === undefined) return availableParallelism();
  const jobs = Number(text);
  if (!/^\d+$/.test(text) || jobs < 1 || jobs > 256) throw new UsageError(`--jobs must be a whole number from 1 to 256, not "${text}"`);
  return jobs;
}

function seedOf(text: string): number {
  const seed = Number(text);
  if (!/^\d+$/.test(text) || seed >= 2 ** 32) throw new UsageError(`a seed must be a whole number below ${2 ** 32}, not "${text}"`);
  return seed;
}

function runFuzz(options: FuzzOptions): Promise<number> {
  return options.isOne ? showOne(options) : runMany(options);
}

async function runMany({ from, to, shrinks, jobs }: FuzzOptions): Promise<number> {
  const count = to - from + 1;
  const bar = process.stderr.isTTY ? progressBar(count) : progressLines(count);
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
    process.stderr.write(`moor fuzz: ${error.message}\n`);
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

const progressBar = (count: number): Progress => ({
  show: ({ done, failed }) => void process.stderr.write(`\r\x1b[K${progress(done, count, failed)}`),
  clear: () => void process.stderr.write('\r\x1b[K'),
});

/** For log files: a line from time to time shows the progress of an hour-long run. */
function progressLines(count: number): Progress {
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

/** Far more than fit into memory within any time limit. */
const mostStates = 5_000_000;

/** All cases, one after the other, each up to its time limit. */
async function runExhaustive(minutes: number): Promise<number> {
  process.stdout.write(`${coverageHead}\n`);
  let [broken, states, histories] = [0, 0, 0];
  for (const each of explorationCases) {
    const coverage = await explore(each, { crashes: 1, mostStates, mostMs: minutes * 60_000, now: () => performance.now() });
    process.stdout.write(`${coverageLine(coverage)}\n${failureText(coverage)}`);
    [states, histories] = [states + coverage.states, histories + coverage.histories];
    if (coverage.failure !== undefined) broken++;
  }
  process.stdout.write(`${explorationCases.length} cases, ${states} states, ${histories} histories, ${broken} violations\n`);
  return broken === 0 ? 0 : 1;
}
