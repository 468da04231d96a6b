import { spawn } from 'node:child_process';
import type { ProgramResult, ProgramOptions, Programs } from '../world/programs.ts';

const mostOutput = 1 << 20;

/** Programs of this machine, each in its own process group. */
export const realPrograms: Programs = { run };

function run(file: string, args: readonly string[], { timeoutMs, directory, variables = {} }: ProgramOptions): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`, ...variables };
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env, ...(directory === undefined ? {} : { cwd: directory }) });
    const chunks: Buffer[] = [];
    let [size, isLate] = [0, false];
    const take = (chunk: Buffer) => {
      if (size < mostOutput) chunks.push(chunk.subarray(0, mostOutput - size));
      size += chunk.length;
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const timer = setTimeout(() => {
      isLate = true;
      endGroup(child.pid);
      // A descendant may have left the group and hold the pipes open for ever.
      child.stdout.destroy();
      child.stderr.destroy();
    }, timeoutMs);
    const end = (how: ProgramResult) => {
      clearTimeout(timer);
      resolve(isLate ? { type: 'timeout' } : how);
    };
    child.on('error', (error) => end({ type: 'failed', message: error.message }));
    child.on('close', (code, signal) => {
      if (code === null) end({ type: 'failed', message: `signal: ${signal}` });
      else end({ type: 'exited', code, output: Buffer.concat(chunks).toString() });
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Already ended.
  }
}
