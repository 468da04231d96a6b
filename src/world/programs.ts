/** Programs of this machine. */
export interface Programs {
  /** Never rejects. Child processes of the program may outlive this process. */
  run(file: string, args: readonly string[], options: ProgramOptions): Promise<ProgramResult>;
}

export interface ProgramOptions {
  /** Then the program and its child processes are killed. */
  readonly timeoutMs: number;
  readonly directory?: string;
  /** Added to the environment of this process. */
  readonly variables?: Readonly<Record<string, string>>;
}

export type ProgramResult =
  /** `output`: standard output and standard error, up to a mebibyte. */
  | { readonly type: 'exited'; readonly code: number; readonly output: string }
  | { readonly type: 'timeout' }
  /** It could not be started, or was ended by a signal. */
  | { readonly type: 'failed'; readonly message: string };
