import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../cluster/life-cycle/cluster-directory.ts';

/** Tells the process in the background where its log is. */
const logVariable = 'MOOR_LOG_FILE';

/** Undefined: this process runs in the foreground. */
export const ownLogFile = (): string | undefined => process.env[logVariable];

/** Starts this program again in the background, with its output in a log file, and waits until it is ready. Resolves with the exit code. */
export async function startDetached(args: readonly string[], logFile: string): Promise<number> {
  await makeDirectory(path.dirname(logFile));
  const log = openSync(logFile, 'a', 0o600);
  const { size: begin } = statSync(logFile);
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...process.env, [logVariable]: logFile },
  });
  closeSync(log);
  const screen = await new Promise<string | undefined>((resolve) => {
    child.once('message', (message) => resolve(message as string));
    child.once('exit', () => resolve(undefined));
    child.once('error', () => resolve(undefined));
  });
  if (screen === undefined) {
    process.stderr.write(readFileSync(logFile).subarray(begin).toString());
    return 1;
  }
  process.stdout.write(screen);
  child.disconnect();
  child.unref();
  return 0;
}

/** In the background: hands the ready screen to the process in the foreground. */
export function reportReady(screen: string): void {
  process.send?.(screen);
  if (process.connected) process.disconnect();
}
