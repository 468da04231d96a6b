import { readFileSync } from 'node:fs';

/** A process that still is the same one although process ids are reused. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In clock ticks since the machine's boot; 0: this system does not tell. */
  readonly startTime: number;
}

export const identityOfProcess = (pid: number): ProcessIdentity => ({ pid, startTime: startTimeOf(pid) ?? 0 });

export function isRunningProcess({ pid, startTime }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Another user's process cannot be signalled, and exists.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return startTime === 0 || startTimeOf(pid) === startTime;
}

/** Field 22 of /proc/PID/stat. The second one is the program's name in parentheses, which may contain anything. Undefined: no such process, or no /proc. */
function startTimeOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : Number(fields[18]);
  } catch {
    return undefined;
  }
}
