import type { ProgramResult, Programs } from '../../world/programs.ts';
import { type DriverFailure, failed } from '../contract.ts';
import { mountOnce, type NodeHost } from './node-host.ts';

export interface HostWithPrograms extends NodeHost {
  readonly programs: Programs;
}

export interface ProgramMount {
  readonly fileSystem: string;
  readonly source: string;
  readonly target: string;
  readonly options: readonly string[];
}

/** How long to wait for a server that does not respond. */
const longestMs = 120_000;

/** Runs mount(8), which calls the file system's mount helper, unless the target is mounted. */
export function mountByProgram(host: HostWithPrograms, { fileSystem, source, target, options }: ProgramMount): Promise<DriverFailure | undefined> {
  return mountOnce(host, target, async () => {
    const args = ['-t', fileSystem, ...(options.length === 0 ? [] : ['-o', options.join(',')]), source, target];
    const end = await host.programs.run('mount', args, { timeoutMs: longestMs });
    if (end.type === 'exited' && end.code === 0) return undefined;
    const output = end.type === 'exited' ? end.output : '';
    const message = `mount failed: ${exitMessage(end)}\nMounting command: mount\nMounting arguments: ${args.join(' ')}\nOutput: ${output}\n`;
    return failed(end.type === 'timeout' ? 'DeadlineExceeded' : 'Internal', message);
  });
}

/** In the words of Go's os/exec. */
export function exitMessage(end: ProgramResult): string {
  switch (end.type) {
    case 'exited':
      return `exit status ${end.code}`;
    case 'timeout':
      return 'signal: killed';
    case 'failed':
      return end.message;
  }
}
