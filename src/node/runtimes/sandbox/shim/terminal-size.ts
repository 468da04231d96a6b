import { readFileSync } from 'node:fs';
import type { World } from '../../../../world/world.ts';
import type { TerminalSize } from '../../../runtime.ts';
import { descendantsOf, run } from './processes.ts';

export interface TerminalSizing {
  set(size: TerminalSize): void;
  /** The session has ended. */
  close(): void;
}

/** Between two attempts: twice as long each time. */
const [shortestMs, longestMs] = [10, 320];

/**
 * Sets the size of a program's terminal. A client sends the size at once; on a busy machine it may take seconds until the program has its terminal. So the size is
 * set again until it succeeds or the session ends.
 */
export function terminalSize(world: World, pidOf: () => number | undefined): TerminalSizing {
  let wanted: TerminalSize | undefined;
  let isTrying = false;
  let isOver = false;
  const attempt = async (waitMs: number): Promise<void> => {
    const size = wanted;
    if (size === undefined || isOver) {
      isTrying = false;
      return;
    }
    const isSet = await setSize(pidOf(), size);
    if (isSet && wanted === size) wanted = undefined;
    if (isSet) return attempt(shortestMs);
    world.timers.after(waitMs, () => void attempt(Math.min(2 * waitMs, longestMs)));
  };
  return {
    set(size) {
      wanted = size;
      if (isTrying) return;
      isTrying = true;
      void attempt(shortestMs);
    },
    close() {
      isOver = true;
    },
  };
}

async function setSize(pid: number | undefined, { width, height }: TerminalSize): Promise<boolean> {
  const terminal = pid === undefined ? undefined : terminalBelow(pid);
  return terminal !== undefined && (await run(['stty', '-F', terminal, 'cols', String(width), 'rows', String(height)])) === '';
}

/** The terminal of the uppermost process at or below this one that has one. */
function terminalBelow(pid: number): string | undefined {
  const found = descendantsOf(pid, mostProcesses).find(hasTerminal);
  return found === undefined ? undefined : `/proc/${found}/fd/0`;
}
/** It is among the first. */
const mostProcesses = 20;

/** The seventh field of stat(5): its terminal; none: 0. */
function hasTerminal(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[4]) > 0;
  } catch {
    return false; // it has ended meanwhile
  }
}
