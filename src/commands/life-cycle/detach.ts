import { spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync, readSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../cluster/life-cycle/cluster-directory.ts';
import { lockFile } from '../../cluster/life-cycle/cluster-lock.ts';
import { namesIn } from '../../cluster/life-cycle/cluster-record.ts';
import { firstSignal } from '../../host/first-signal.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import type { Progress } from '../result/progress.ts';

/** Tells the process in the background where its log is. */
const logVariable = 'MOOR_LOG_FILE';

/** Undefined: this process runs in the foreground. */
export const ownLogFile = (): string | undefined => process.env[logVariable];

/** What the process in the background tells the one in the foreground. */
type Message = { readonly waitsFor: string } | { readonly screen: string } | { readonly failure: string };

interface Detached {
  readonly logFile: string;
  readonly progress: Progress;
}

/**
 * Starts this program again in the background, with its output in a log file, and waits until it is ready. Resolves with the ready screen, or with
 * the exit code of a start that failed. A signal meanwhile ends the start: it would go on unseen.
 */
export async function startDetached(args: readonly string[], { logFile, progress }: Detached): Promise<{ readonly screen: string } | ExitCode> {
  const signalled = firstSignal({ keepsAlive: false });
  await makeDirectory(path.dirname(logFile));
  const log = openSync(logFile, 'a+', 0o600);
  const { size: begin } = fstatSync(log);
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
    // The process in the background outlives the shell of npm.
    env: { ...process.env, [logVariable]: logFile, npm_command: undefined },
  });
  let signal: NodeJS.Signals | undefined;
  let failure: string | undefined;
  void signalled.then((heard) => {
    signal = heard;
    progress.say('Ending what has been started');
    child.kill('SIGTERM');
  });
  const ready = await new Promise<{ readonly screen: string } | undefined>((resolve) => {
    child.on('message', (message) => {
      const told = message as Message;
      if ('failure' in told) failure = told.failure;
      else if ('waitsFor' in told) progress.say(told.waitsFor);
      // After a signal it is ready, and ends.
      else if (signal === undefined) resolve(told);
    });
    child.once('exit', () => resolve(undefined));
    child.once('error', () => resolve(undefined));
  });
  if (ready === undefined) {
    progress.clear();
    // A first start that failed has removed its directory, and the log with it.
    const said = failure ?? textFrom(log, begin);
    closeSync(log);
    process.stderr.write(signal === undefined ? said : `moor up: the start was ended by ${signal}\n`);
    if (begin === 0 && existsSync(logFile)) removeUnusedLog(logFile);
    return child.exitCode === exitCodes.notInOrder ? exitCodes.notInOrder : exitCodes.failure;
  }
  closeSync(log);
  child.disconnect();
  child.unref();
  return ready;
}

function textFrom(file: number, begin: number): string {
  const text = Buffer.alloc(fstatSync(file).size - begin);
  readSync(file, text, 0, text.length, begin);
  return text.toString();
}

/** Of a directory that was refused before anything was written. Once it is locked or recorded, the log is that of a cluster, maybe of another process. */
function removeUnusedLog(logFile: string): void {
  const directory = path.dirname(logFile);
  const others = namesIn(directory).filter((name) => name !== path.basename(logFile));
  if (others.includes(lockFile) || others.includes('cluster.json')) return;
  rmSync(logFile, { force: true });
  if (others.length === 0) rmdirSync(directory);
}

/** In the background: tells the process in the foreground, which waits until there is a ready screen. */
export function report(message: Message): void {
  // That process may have been ended.
  if (process.connected) process.send?.(message);
  if ('screen' in message && process.connected) process.disconnect();
}
