import type { Duplex, Readable, Writable } from 'node:stream';
import type { InitProgram, Step } from './program.ts';

/** Starts processes that run programs of system calls. */
export interface InitLauncher {
  /** The process is in a session of its own. Descriptor 3 is its report channel. @throws if it cannot be started */
  launch(program: InitProgram, options: InitOptions): InitProcess;
  /** A descriptor that stands for this process, even if its id is reused later. The caller closes it. Undefined: there is no such process. */
  openProcess(pid: number): number | undefined;
}

export interface InitOptions {
  /** Descriptors 0, 1 and 2: pipes, or /dev/null. */
  readonly stdio: readonly [InitStream, InitStream, InitStream];
  /** The user that pipes belong to, and who may thus open them again by their names in /dev. Root by default. */
  readonly owner?: number;
  /** Further descriptors, from 4. */
  readonly handed?: readonly number[];
  /** The environment of the process. Programs that it executes have their own. */
  readonly variables: Readonly<Record<string, string>>;
}

export type InitStream = 'pipe' | 'ignore';

export interface InitProcess {
  readonly child: LaunchedProcess;
  /** The step at an address that a report names. */
  readonly stepAt: (address: number) => Step;
}

/** A process, with the other ends of its pipes. */
export interface LaunchedProcess extends ProcessStreams {
  readonly channel: Duplex;
  /** Calls back once it has ended, and all that it wrote has been read. */
  onClose(listener: (exitCode: number) => void): void;
}

export interface ProcessStreams {
  readonly pid: number | undefined;
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  /** Its process id may be reused. */
  readonly hasEnded: boolean;
}
