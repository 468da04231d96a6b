import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { defaultPath } from '../container-script.ts';

/** An environment variable by which the next shim finds the processes of this one. Containers do not see it. */
const marker = 'MOOR_KEPT';

export const marking = (mark: string): Readonly<Record<string, string>> => ({ [marker]: mark });

export interface Launch {
  readonly stdio: StdioOptions;
  readonly mark: string;
  /** For `runScript`. Not an argument: every user of the machine can read arguments, and a container's variables may be secret. */
  readonly script?: string;
  /** The script's expressions for them are `wordsOf` them. */
  readonly texts?: readonly string[];
}

/** The command of a shell that was launched with a script. */
export const runScript = 'eval "$MOOR_SCRIPT"';

const textVariable = (number: number): string => `MOOR_TEXT_${number}`;

/** The shell's expressions for the texts. */
export const wordsOf = (texts: readonly string[]): readonly string[] => texts.map((_, number) => `"$${textVariable(number)}"`);

/** Linux' limits of one variable, with its name, and of all of them: a quarter of the stack, of which they need twice their size. */
const [longestText, longestTexts] = [128 * 1024 - 24, 1024 * 1024 - 64 * 1024];

/** Whether Linux refuses so many variables. */
export const areTooLong = (texts: readonly string[]): boolean => {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  return sizes.some((size) => size > longestText) || sizes.reduce((sum, size) => sum + size + 8, 0) > longestTexts;
};

/** A program of the host, in a session of its own. */
export function launch(command: readonly string[], { stdio, mark, script, texts = [] }: Launch): ChildProcess {
  const [program = '', ...args] = command;
  const handed = Object.fromEntries(texts.map((text, number) => [textVariable(number), text]));
  const env = { PATH: defaultPath, ...marking(mark), ...(script === undefined ? {} : { MOOR_SCRIPT: script }), ...handed };
  return spawn(program, args, { stdio, detached: true, cwd: '/', env });
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

/** The process itself, and all that it started. */
export const descendantsOf = (pid: number): readonly number[] => [pid, ...childrenOf(pid).flatMap(descendantsOf)];

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A process that has ended already is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // gone
  }
}

export const signalNumber = (name: NodeJS.Signals | null): number => (name === null ? 0 : (constants.signals[name] ?? 0));
