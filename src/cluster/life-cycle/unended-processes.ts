/** Processes that SIGKILL does not end: one that waits for a disk or a server (state D) ends only when that answers. */
import { readFileSync } from 'node:fs';
import type { World } from '../../world/world.ts';

/** How long processes may take to end after SIGKILL, if meanwhile none of them does. */
export const longestEndMs = 30_000;
const checkEveryMs = 100;

export interface Ending {
  readonly world: Pick<World, 'clock' | 'timers'>;
  /** Changes when something has ended. */
  readonly progress: () => number;
}

/** Undefined: `task` has not finished, and there was no progress for as long as processes may take. */
export function finishedInTime<T>(task: Promise<T>, { world: { clock, timers }, progress }: Ending): Promise<{ readonly value: T } | undefined> {
  return new Promise((resolve, reject) => {
    let [last, since] = [progress(), clock.monotonic()];
    let cancel = timers.after(checkEveryMs, check);
    function check(): void {
      if (progress() !== last) [last, since] = [progress(), clock.monotonic()];
      if (clock.monotonic() - since >= longestEndMs) resolve(undefined);
      else cancel = timers.after(checkEveryMs, check);
    }
    task.finally(() => cancel()).then((value) => resolve({ value }), reject);
  });
}

/** /proc/PID/stat; undefined: there is no such process. */
export type ProcessTable = (pid: number) => string | undefined;

export const realProcessTable: ProcessTable = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
};

/** Those that have not ended. A zombie has. */
export function unendedOf(pids: Iterable<number>, table: ProcessTable = realProcessTable): readonly UnendedProcess[] {
  return Array.from(pids).flatMap((pid) => {
    // The program's name in parentheses may contain anything.
    const [, program = '', state = ''] = /^\d+ \((.*)\) (\w)/s.exec(table(pid) ?? '') ?? [];
    return state === '' || state === 'Z' || state === 'X' ? [] : [{ pid, program, state }];
  });
}

export interface UnendedProcess {
  readonly pid: number;
  readonly program: string;
  /** A letter of proc(5). */
  readonly state: string;
}

const mostNamed = 10;

/** For the user. */
export function unendedText(processes: readonly UnendedProcess[]): string {
  const named = processes.slice(0, mostNamed).map(({ pid, program, state }) => `process ${pid} (${program}) in state ${state}`);
  const more = processes.length > mostNamed ? ` and ${processes.length - mostNamed} more` : '';
  const why = processes.some(({ state }) => state === 'D') ? '; state D: the kernel waits for a disk or a server, and ends the process when that answers' : '';
  return `${longestEndMs / 1000} s after SIGKILL there is still ${named.join(', ')}${more}${why}`;
}
