import { availableParallelism } from 'node:os';
import { type Command, type FlagValues, UsageError } from './command.ts';

/** `moor sim`: random worlds, each from one integer. */
export const fuzzCommand: Command = {
  name: 'sim',
  summary: 'run random clusters, faults included, from seeds, and check that nothing breaks',
  about: `Every seed is a whole cluster in one process on virtual time: API server, controllers, scheduler, nodes and a storage
backend, people who use it, and faults: crashes between any two steps, lost requests, stale caches, wrong clocks, two
leaders, failing backends, full disks, lost machines. After each change it is checked that no volume has two owners, two
writers or is deleted too soon, and at the end that everything is as it would have been without the faults.

The same seed always does the same. A failure is shortened to as few happenings as it takes, and told as a timeline.
Ends with the line "N seeds, 0 violations" and exit code 0, or with the seeds that failed and exit code 1.`,
  flags: [
    { name: 'seeds', value: 'A..B', about: 'the seeds to run', default: '1..100' },
    { name: 'seed', value: 'N', about: 'one seed, with its timeline' },
    { name: 'jobs', value: 'N', about: 'so many processes at a time', default: 'one for each core' },
    { name: 'no-shrink', about: 'tell failures as they were found, which is faster' },
    { name: 'exhaustive', about: 'no random worlds: every order of effects and every place to die, in small ones' },
    { name: 'minutes', value: 'N', about: 'with --exhaustive: for each story, so many at most', default: '1' },
  ],
  examples: [
    { line: 'moor sim --seeds 1..1000', about: 'a thousand worlds' },
    { line: 'moor sim --seed 42', about: 'one of them, step by step' },
    { line: 'moor sim --exhaustive --minutes 5', about: 'small worlds, as far as five minutes go for each' },
  ],
  run: async (flags) => {
    if (flags.on('exhaustive')) {
      const minutes = minutesOf(flags);
      const { runExhaustive } = await import('./run-fuzz.ts');
      return runExhaustive(minutes);
    }
    const asked = rangeOf(flags);
    // Loaded here, so that other commands do not wait for it.
    const { runFuzz: runSim } = await import('./run-fuzz.ts');
    return runSim(asked);
  },
};

function minutesOf(flags: FlagValues): number {
  const text = flags.text('minutes') ?? '1';
  const minutes = Number(text);
  if (!(minutes > 0 && minutes <= 600)) throw new UsageError(`"${text}" is no number of minutes between 0 and 600`);
  if (flags.text('seed') !== undefined || flags.text('seeds') !== undefined) throw new UsageError('--exhaustive has no seeds');
  if (flags.text('jobs') !== undefined) throw new UsageError('--exhaustive runs in one process');
  return minutes;
}

export interface FuzzOptions {
  readonly from: number;
  readonly to: number;
  /** The whole timeline, also of a world in which nothing broke. */
  readonly isOne: boolean;
  readonly shrinks: boolean;
  /** How many processes; one: this one. */
  readonly jobs: number;
}

function rangeOf(flags: FlagValues): FuzzOptions {
  const [one, range] = [flags.text('seed'), flags.text('seeds')];
  if (one !== undefined && range !== undefined) throw new UsageError('--seed is one and --seeds are many: give either');
  const shrinks = !flags.on('no-shrink');
  if (one !== undefined) {
    const seed = seedOf(one);
    if (flags.text('jobs') !== undefined) throw new UsageError('--seed is one: it has no --jobs');
    return { from: seed, to: seed, isOne: true, shrinks, jobs: 1 };
  }
  const [from, to] = (range ?? '1..100').split('..').map(seedOf);
  if (from === undefined || to === undefined || to < from) throw new UsageError(`"${range}" is no range of seeds; one is 1..100`);
  return { from, to, isOne: false, shrinks, jobs: jobsOf(flags.text('jobs')) };
}

function jobsOf(text: string | undefined): number {
  if (text === undefined) return availableParallelism();
  const jobs = Number(text);
  if (!/^\d+$/.test(text) || jobs < 1 || jobs > 256) throw new UsageError(`"${text}" is no number of processes between 1 and 256`);
  return jobs;
}

function seedOf(text: string): number {
  const seed = Number(text);
  if (!/^\d+$/.test(text) || seed >= 2 ** 32) throw new UsageError(`"${text}" is no seed: a whole number below ${2 ** 32}`);
  return seed;
}
