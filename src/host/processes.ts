import { spawn } from 'node:child_process';
import type { Processes, RunningProcess } from '../world/processes.ts';

const mostOutput = 1 << 20;

/** Programs of this machine that run until they are ended. */
export const realProcesses: Processes = {
  start(file, args, { directory, variables = {} } = {}) {
    const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`, ...variables };
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env, ...(directory === undefined ? {} : { cwd: directory }) });
    let isRunning = true;
    let output = '';
    const take = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-mostOutput));
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const signal: RunningProcess['signal'] = (name) => {
      if (!isRunning || child.pid === undefined) return;
      try {
        process.kill(-child.pid, name);
      } catch {
        // It has just ended.
      }
    };
    const kill = (): void => signal('SIGKILL');
    process.on('exit', kill);
    const ended = new Promise<string>((resolve) => {
      const end = (how: string): void => {
        isRunning = false;
        process.off('exit', kill);
        resolve(how);
      };
      child.on('error', (error) => end(error.message));
      child.on('exit', (code, name) => end(code === null ? `signal ${name}` : `exit code ${code}`));
    });
    return {
      ended,
      get isRunning() {
        return isRunning;
      },
      signal,
      output: () => output,
    };
  },
};
