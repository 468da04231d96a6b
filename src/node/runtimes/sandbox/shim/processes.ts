import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { defaultPath } from '../init/execute.ts';

/** An environment variable by which the next shim finds the processes of this one. Containers do not see it. */
const marker = 'MOOR_KEPT';

export const marking = (mark: string): Readonly<Record<string, string>> => ({ [marker]: mark });

/** A program of the host, in a session of its own. */
export function launch(command: readonly string[], { stdio, mark }: { readonly stdio: StdioOptions; readonly mark: string }): ChildProcess {
  const [program = '', ...args] = command;
  return spawn(program, args, { stdio, detached: true, cwd: '/', env: { PATH: defaultPath, ...marking(mark) } });
}

/** Runs a program of the host to its end, with some input. Resolves with its error output; '': none. */
export function run(command: readonly string[], input = ''): Promise<string> {
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'pipe'], cwd: '/', env: { PATH: defaultPath } });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      if (errors.length < 4096) errors += chunk.toString();
    });
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code) => resolve(code === 0 ? '' : errors.trim() || `${program} ended with ${code}`));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/** Process ids, by mark. */
export function marked(prefix: string): ReadonlyMap<string, number> {
  const wanted = `${marker}=${prefix}`;
  const found = new Map<string, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const variable = variablesOf(name).find((each) => each.startsWith(wanted));
    if (variable !== undefined) found.set(`${variable.slice(marker.length + 1)} ${name}`, Number(name));
  }
  return found;
}

function variablesOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return []; // it has ended meanwhile
  }
}

/** Every container has a mount namespace of its own. A process that has ended leads nowhere. */
export function hasOwnMounts(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`) !== readlinkSync('/proc/self/ns/mnt');
  } catch {
    return true;
  }
}

/** None of a process that has ended. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
        .split(' ')
        .filter((text) => text !== '')
        .map(Number),
    );
  } catch {
    return [];
  }
}

/** The process itself, and those that it started, parents first: at least `most`, if there are so many. A container may nest them as deep as it has processes. */
export function descendantsOf(pid: number, most = Number.POSITIVE_INFINITY): readonly number[] {
  const found = [pid];
  for (const each of found) {
    if (found.length >= most) break;
    for (const child of childrenOf(each)) found.push(child);
  }
  return found;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A process that has ended already is no error. */
export function signal(pid: number, name: NodeJS.Signals | number): void {
  try {
    process.kill(pid, name);
  } catch {
    // gone
  }
}

/** Whether a process handles, ignores or blocks a signal (to wait for it by sigwait or signalfd), instead of leaving it to the kernel. */
export function handlesSignal(pid: number, number: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const bit = 1n << BigInt(number - 1);
    return ['SigCgt', 'SigIgn', 'SigBlk'].some((set) => (BigInt(`0x${new RegExp(`^${set}:\\s*([0-9a-f]+)$`, 'm').exec(status)?.[1] ?? '0'}`) & bit) !== 0n);
  } catch {
    return false; // it has ended
  }
}

/** Kills the processes of a control group, also those that they start meanwhile. */
export function killGroups(directories: readonly string[]): void {
  for (const directory of directories) {
    for (let attempts = 0; attempts < mostAttempts; attempts++) {
      const pids = processesIn(directory);
      if (pids.length === 0) break;
      for (const pid of pids) signal(pid, 'SIGKILL');
    }
  }
}
const mostAttempts = 100;

/** The directories of a control group and of those below it, in every hierarchy. */
export function directoriesOf(group: string): readonly string[] {
  const root = '/sys/fs/cgroup';
  const below = (directory: string): readonly string[] => [directory, ...subdirectories(directory).flatMap((name) => below(path.join(directory, name)))];
  return [root, ...subdirectories(root).map((name) => path.join(root, name))]
    .map((hierarchy) => path.join(hierarchy, group))
    .filter((directory) => existsSync(directory))
    .flatMap(below);
}

/** The processes of a control group and of those below it. */
export const processesOf = (group: string): ReadonlySet<number> => new Set(directoriesOf(group).flatMap(processesIn));

const subdirectories = (directory: string): readonly string[] =>
  readdirSync(directory, { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => name);

function processesIn(directory: string): readonly number[] {
  try {
    return readFileSync(path.join(directory, 'cgroup.procs'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map(Number);
  } catch {
    return []; // it has been removed
  }
}

export const signalNumber = (name: NodeJS.Signals | null): number => (name === null ? 0 : (constants.signals[name] ?? 0));
