import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SeedRun } from '../sim/fuzz/run-seeds.ts';

/** A request to a worker process, which runs one seed at a time. */
export interface SeedRequest {
  readonly seed: number;
  readonly shrinks: boolean;
  readonly worlds?: SeedRun['worlds'];
}

/** The worker's answer. */
export interface SeedResult {
  readonly failure?: string | undefined;
}

export interface ParallelSeedRun extends SeedRun {
  /** How many processes. */
  readonly jobs: number;
  /** The script of each of them. */
  readonly program?: string;
}

/** A worker process ended in the middle of a run, or did not start. */
export class WorkerDied extends Error {}

const defaultProgram = (): string => fileURLToPath(new URL('../main/fuzz-worker.js', import.meta.url));

/** As `runSeeds`, in several processes: an idle worker gets the next seed. Rejects, and ends all workers, if one of them dies. */
export async function runSeedsInProcesses({
  from,
  to,
  jobs,
  shrinks = true,
  worlds,
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
      const { failure } = await ask(worker, { seed, shrinks, worlds });
      if (failure !== undefined) {
        failed.push(seed);
        onFailure(failure, seed);
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

function ask(worker: ChildProcess, request: SeedRequest): Promise<SeedResult> {
  return new Promise((resolve, reject) => {
    // The system has too many processes or open files. The error arrives as an event.
    if (worker.pid === undefined)
      return worker.once('error', ({ message }) => reject(new WorkerDied(`cannot start a process (${message}); a smaller --jobs needs fewer`)));
    const died = (how: string) =>
      reject(new WorkerDied(`the process that ran seed ${request.seed} ended (${how}). Run it again: moor fuzz --seed ${request.seed}`));
    const exited = (code: number | null, signal: NodeJS.Signals | null) => died(signal ?? `exit code ${code}`);
    if (worker.exitCode !== null || worker.signalCode !== null) return exited(worker.exitCode, worker.signalCode);
    worker.once('exit', exited);
    worker.once('message', (result: SeedResult) => {
      worker.removeListener('exit', exited);
      resolve(result);
    });
    worker.send(request, (error) => {
      if (error !== null) died(error.message);
    });
    return undefined;
  });
}

/** Also a worker in the middle of a run. */
async function end(worker: ChildProcess): Promise<void> {
  if (worker.pid === undefined || worker.exitCode !== null || worker.signalCode !== null) return;
  worker.kill('SIGKILL');
  await once(worker, 'exit');
}
