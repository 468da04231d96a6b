import { availableParallelism } from 'node:os';
import { explorationCases } from '../sim/exhaustive/cases.ts';
import { coverageHead, coverageLine, failureText } from '../sim/exhaustive/coverage-report.ts';
import { type Coverage, explore } from '../sim/exhaustive/explore.ts';
import { failureReport } from '../sim/fuzz/failure-report.ts';
import { drawPlan } from '../sim/fuzz/plan/draw-plan.ts';
import { runPlan } from '../sim/fuzz/run-plan.ts';
import { runSeeds, worldKinds, type Worlds } from '../sim/fuzz/run-seeds.ts';
import { shrink } from '../sim/fuzz/shrink.ts';
import { type Command, type FlagValues, UsageError } from './command.ts';
import { runSeedsInProcesses, WorkerDied } from './fuzz-jobs.ts';
import { jsonText, type Output, outputFlag, outputOf, printData } from './result/output.ts';
import { type ExitCode, exitCodes } from './result/exit-codes.ts';
import { type Progress, withProgress } from './result/progress.ts';

/** `moor fuzz`: random clusters with random faults, each from one integer. */
export const fuzzCommand: Command = {
  about: `Every seed is a whole cluster in one process on virtual time: API server, controllers, scheduler, nodes and a storage
backend, users, and faults: crashes between any two steps, lost requests, stale caches, wrong clocks, two leaders, failing
backends, full disks, lost machines. After each change the invariants are checked: no volume has two owners or two writers,
and none is deleted too soon. At the end the cluster must be in the state that it would have without the faults.

The same seed always gives the same run. A failure is shrunk to as few events as possible, and printed as a timeline.
The last line is "N seeds, 0 violations", or the seeds that failed.`,
  flags: [
    { name: 'seeds', value: 'A..B', about: 'the seeds to run', default: '1..100' },
    { name: 'seed', value: 'N', about: 'one seed, with its timeline' },
    {
      name: 'worlds',
      value: 'KIND',
      about:
        'clusters; or servers: two API servers on an etcd that misbehaves, with clients whose histories have to be linearizable; or clouds: a cloud that misbehaves, and the autoscaler',
      oneOf: worldKinds,
      default: 'clusters',
    },
    { name: 'jobs', value: 'N', about: 'how many processes run seeds at the same time', default: 'one for each core' },
    { name: 'no-shrink', about: 'print failures as they were found, which is faster' },
    { name: 'exhaustive', about: 'small cases instead of random ones: every order of effects and every point to crash' },
    { name: 'minutes', value: 'N', about: 'with --exhaustive: the time limit of each case', default: '1' },
    outputFlag,
  ],
  examples: [
    { line: 'moor fuzz --seeds 1..1000', about: 'a thousand random clusters' },
    { line: 'moor fuzz --seed 42', about: 'one of them, step by step' },
    { line: 'moor fuzz --worlds servers --seeds 1..500', about: 'two API servers on an etcd that misbehaves' },
    { line: 'moor fuzz --worlds clouds --seeds 1..500', about: 'nodes that are launched and removed, in a cloud that misbehaves' },
    { line: 'moor fuzz --exhaustive --minutes 5', about: 'the small cases, five minutes each' },
    { line: "moor fuzz --seeds 1..1000 -o json | jq '.violations[].seed'", about: 'the seeds that failed' },
  ],
  run: (flags) => (flags.on('exhaustive') ? runExhaustive(minutesOf(flags), outputOf(flags)) : runFuzz(fuzzOptions(flags))),
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
  readonly worlds: Worlds;
  /** How many processes; one: this one. */
  readonly jobs: number;
  readonly output: Output;
}

function fuzzOptions(flags: FlagValues): FuzzOptions {
  const [one, range] = [flags.text('seed'), flags.text('seeds')];
  if (one !== undefined && range !== undefined) throw new UsageError('--seed is one seed and --seeds are many: give only one of them');
  const [shrinks, output] = [!flags.on('no-shrink'), outputOf(flags)];
  const worlds = worldKinds.find((kind) => kind === flags.text('worlds')) ?? 'clusters';
  if (one !== undefined) {
    const seed = seedOf(one);
    if (flags.text('jobs') !== undefined) throw new UsageError('--seed is one seed: it has no --jobs');
    return { from: seed, to: seed, isOne: true, shrinks, worlds, jobs: 1, output };
  }
  const [from, to] = (range ?? '1..100').split('..').map(seedOf);
  if (from === undefined || to === undefined || to < from) throw new UsageError(`--seeds must be a range such as 1..100, not "${range}"`);
  return { from, to, isOne: false, shrinks, worlds, jobs: jobsOf(flags.text('jobs')), output };
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

function runFuzz(options: FuzzOptions): Promise<ExitCode> {
  // Only clusters have a timeline without a violation: another one is run as many are.
  return options.isOne && options.worlds === 'clusters' ? showOne(options) : runMany(options);
}

const runMany = (options: FuzzOptions): Promise<ExitCode> => withProgress('Starting', (progress) => runManySaying(progress, options));

async function runManySaying(progress: Progress, { from, to, shrinks, worlds, jobs, output }: FuzzOptions): Promise<ExitCode> {
  const count = to - from + 1;
  const showLine = progressLines(count);
  const violations: SeedViolation[] = [];
  const run = {
    from,
    to,
    shrinks,
    worlds,
    onProgress: (so: SeedsDone) => {
      progress.say(progressText(count, so));
      showLine(so);
    },
    onFailure: (report: string, seed: number) => {
      violations.push({ seed, report });
      if (output === 'json') return;
      progress.clear();
      process.stdout.write(`${report}\n`);
    },
  };
  let failed: readonly number[];
  try {
    failed = await (jobs === 1 || count === 1 ? runSeeds(run) : runSeedsInProcesses({ ...run, jobs }));
  } catch (error) {
    if (!(error instanceof WorkerDied)) throw error;
    progress.clear();
    process.stderr.write(`moor fuzz: ${error.message}\n`);
    return exitCodes.failure;
  }
  progress.clear();
  violations.sort((a, b) => a.seed - b.seed);
  printData(
    output,
    { from, to, seeds: count, violations },
    () => `${count} seeds, ${failed.length} violations${failed.length === 0 ? '' : `: ${failed.join(', ')}`}\n`,
  );
  return failed.length === 0 ? exitCodes.success : exitCodes.failure;
}

/** For programs: a seed that broke an invariant, with its timeline. */
interface SeedViolation {
  readonly seed: number;
  readonly report: string;
}

interface SeedsDone {
  readonly done: number;
  readonly failed: number;
}

/** For log files: a line from time to time shows the progress of an hour-long run. */
function progressLines(count: number): (so: SeedsDone) => void {
  let last = performance.now();
  return ({ done, failed }) => {
    if (process.stderr.isTTY || performance.now() - last < lineEveryMs) return;
    last = performance.now();
    process.stderr.write(`${done}/${count}, ${failed} violations\n`);
  };
}

const lineEveryMs = 30_000;

/** '[########............]  40/100, 0 violations' */
function progressText(count: number, { done, failed }: SeedsDone): string {
  const width = 30;
  const filled = Math.round((done / count) * width);
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${done}/${count}, ${failed} violations`;
}

async function showOne({ from, shrinks, output }: FuzzOptions): Promise<ExitCode> {
  const plan = drawPlan(from);
  const outcome = await withProgress(`Running seed ${from}`, () => runPlan(plan));
  const of = { from, to: from, seeds: 1 };
  if (outcome.violation === undefined) {
    printData(output, { ...of, violations: [], timeline: outcome.timeline }, ({ timeline }) => `${timeline.join('\n')}\n1 seeds, 0 violations\n`);
    return exitCodes.success;
  }
  const found = { plan, outcome };
  const report = failureReport(shrinks ? await withProgress('Looking for a smaller run that fails', () => shrink(found)) : found);
  printData(output, { ...of, violations: [{ seed: from, report }] }, () => `${report}\n1 seeds, 1 violations: ${from}\n`);
  return exitCodes.failure;
}

/** Far more than fit into memory within any time limit. */
const mostStates = 5_000_000;

/** All cases, one after the other, each up to its time limit. */
async function runExhaustive(minutes: number, output: Output): Promise<ExitCode> {
  const print = (text: string): void => void (output === 'text' && process.stdout.write(text));
  const cases: Coverage[] = [];
  print(`${coverageHead}\n`);
  for (const each of explorationCases) {
    const coverage = await withProgress(`Exploring: ${each.name}`, () =>
      explore(each, { crashes: 1, mostStates, mostMs: minutes * 60_000, now: () => performance.now() }),
    );
    print(`${coverageLine(coverage)}\n${failureText(coverage)}`);
    cases.push(coverage);
  }
  const sum = (of: (coverage: Coverage) => number): number => cases.reduce((total, each) => total + of(each), 0);
  const violations = cases.filter(({ failure }) => failure !== undefined).map(({ name }) => name);
  print(`${cases.length} cases, ${sum(({ states }) => states)} states, ${sum(({ histories }) => histories)} histories, ${violations.length} violations\n`);
  if (output === 'json') process.stdout.write(jsonText({ cases, violations }));
  return violations.length === 0 ? exitCodes.success : exitCodes.failure;
}
