import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SeedRun } from '../sim/fuzz/run-seeds.ts';

/** To a process that runs worlds, one at a time. */
export interface SeedRequest {
  readonly seed: number;
  readonly shrinks: boolean;
}

/** What it answers. */
export interface SeedResult {
  readonly failure?: string | undefined;
}

export interface ParallelSeedRun extends SeedRun {
  /** How many processes. */
  readonly jobs: number;
  /** What each of them runs. */
  readonly program?: string;
}

/** A process ended in the middle of a world, or never began. */
export class WorkerDied extends Error {}

const defaultProgram = (): string => fileURLToPath(new URL('../commands/fuzz-worker.js', import.meta.url));

/** As `runSeeds`, in several processes: whoever is done gets the next seed. Rejects, and ends all, if one of them dies. */
export async function runSeedsInProcesses({
  from,
  to,
  jobs,
  shrinks = true,
  onProgress,
  onFailure,
  program = defaultProgram(),
}: ParallelSeedRun): Promise<readonly number[]> {
  const failed: number[] = [];
  let [next, done] = [from, 0];
  const workers: ChildProcess[] = [];
  const work = async (worker: ChildProcess) => {
    while (next <= to) {
      const seed = next++;
      const { failure } = await ask(worker, { seed, shrinks });
      if (failure !== undefined) {
        failed.push(seed);
        onFailure(failure);
      }
      onProgress?.({ done: ++done, failed: failed.length });
    }
  };
  try {
    while (workers.length < Math.min(jobs, to - from + 1)) workers.push(fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
    await Promise.all(workers.map(work));
  } finally {
    await Promise.all(workers.map(end));
  }
  return failed.sort((a, b) => a - b);
}

function ask(worker: ChildProcess, asked: SeedRequest): Promise<SeedResult> {
  return new Promise((resolve, reject) => {
    // The system has too many processes, or open files. What it said comes as an event.
    if (worker.pid === undefined)
      return worker.once('error', ({ message }) => reject(new WorkerDied(`cannot start a process (${message}); --jobs asks for fewer`)));
    const died = (how: string) => reject(new WorkerDied(`the process that ran seed ${asked.seed} ended (${how}). Again: moor sim --seed ${asked.seed}`));
    const exited = (code: number | null, signal: NodeJS.Signals | null) => died(signal ?? `exit code ${code}`);
    if (worker.exitCode !== null || worker.signalCode !== null) return exited(worker.exitCode, worker.signalCode);
    worker.once('exit', exited);
    worker.once('message', (told: SeedResult) => {
      worker.removeListener('exit', exited);
      resolve(told);
    });
    worker.send(asked, (error) => {
      if (error !== null) died(error.message);
    });
    return undefined;
  });
}

/** Also one that is in the middle of a world. */
async function end(worker: ChildProcess): Promise<void> {
  if (worker.pid === undefined || worker.exitCode !== null || worker.signalCode !== null) return;
  worker.kill('SIGKILL');
  await once(worker, 'exit');
}
