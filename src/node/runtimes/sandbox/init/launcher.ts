import type { ChildProcess, StdioPipe } from 'node:child_process';
import type { InitProgram, Step } from './program.ts';

/** Starts processes that run programs of system calls. */
export interface InitLauncher {
  /** The process is in a session of its own. Descriptor 3 is its report channel. @throws if it cannot be started */
  launch(program: InitProgram, options: InitOptions): InitProcess;
  /** A descriptor that stands for this process, even if its id is reused later. The caller closes it. Undefined: there is no such process. */
  openProcess(pid: number): number | undefined;
}

export interface InitOptions {
  /** Descriptors 0, 1 and 2. */
  readonly stdio: readonly (StdioPipe | 'ignore')[];
  /** Further descriptors, from 4. */
  readonly handed?: readonly number[];
  /** The environment of the process. Programs that it executes have their own. */
  readonly variables: Readonly<Record<string, string>>;
}

export interface InitProcess {
  readonly child: ChildProcess;
  /** The step at an address that a report names. */
  readonly stepAt: (address: number) => Step;
}
