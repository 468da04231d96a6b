import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../cluster/life-cycle/cluster-directory.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import type { Progress } from '../result/progress.ts';

/** Tells the process in the background where its log is. */
const logVariable = 'MOOR_LOG_FILE';

/** Undefined: this process runs in the foreground. */
export const ownLogFile = (): string | undefined => process.env[logVariable];

/** What the process in the background tells the one in the foreground. */
type Message = { readonly waitsFor: string } | { readonly screen: string };

interface Detached {
  readonly logFile: string;
  readonly progress: Progress;
}

/**
 * Starts this program again in the background, with its output in a log file, and waits until it is ready. Resolves with the ready screen, or with
 * the exit code of a start that failed.
 */
export async function startDetached(args: readonly string[], { logFile, progress }: Detached): Promise<{ readonly screen: string } | ExitCode> {
  await makeDirectory(path.dirname(logFile));
  const log = openSync(logFile, 'a', 0o600);
  const { size: begin } = statSync(logFile);
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...process.env, [logVariable]: logFile },
  });
  closeSync(log);
  const ready = await new Promise<{ readonly screen: string } | undefined>((resolve) => {
    child.on('message', (message) => {
      const told = message as Message;
      if ('screen' in told) resolve(told);
      else progress.say(told.waitsFor);
    });
    child.once('exit', () => resolve(undefined));
    child.once('error', () => resolve(undefined));
  });
  if (ready === undefined) {
    progress.clear();
    process.stderr.write(readFileSync(logFile).subarray(begin).toString());
    if (begin === 0) removeLog(logFile);
    return child.exitCode === exitCodes.notInOrder ? exitCodes.notInOrder : exitCodes.failure;
  }
  child.disconnect();
  child.unref();
  return ready;
}

/** Of a cluster that never started, and the directory if it has nothing else. */
function removeLog(logFile: string): void {
  rmSync(logFile, { force: true });
  const directory = path.dirname(logFile);
  if (readdirSync(directory).length === 0) rmdirSync(directory);
}

/** In the background: tells the process in the foreground, which waits until there is a ready screen. */
export function report(message: Message): void {
  // That process may have been ended.
  if (process.connected) process.send?.(message);
  if ('screen' in message && process.connected) process.disconnect();
}
