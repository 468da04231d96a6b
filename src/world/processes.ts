/** Programs of this machine that run until they are ended. `Programs` has those that end by themselves. */
export interface Processes {
  start(file: string, args: readonly string[], options?: ProcessOptions): RunningProcess;
}

export interface ProcessOptions {
  readonly directory?: string;
  /** Added to the environment of this process. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** A program in its own process group. It is killed when this process exits. */
export interface RunningProcess {
  /** Resolves with how it ended: 'exit code 1', 'signal SIGKILL', or why it could not be started. */
  readonly ended: Promise<string>;
  readonly isRunning: boolean;
  /** To all of its process group. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
  /** The last mebibyte of standard output and standard error. */
  output(): string;
}
