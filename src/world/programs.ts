/** Other programs of this machine. */
export interface Programs {
  /** Never rejects. What a program started may outlive this process. */
  run(file: string, args: readonly string[], options: ProgramOptions): Promise<ProgramResult>;
}

export interface ProgramOptions {
  /** Then it is killed, with all that it started. */
  readonly timeoutMs: number;
  readonly directory?: string;
  /** Beside what this process has. */
  readonly variables?: Readonly<Record<string, string>>;
}

export type ProgramResult =
  /** `output`: what it wrote to standard output and standard error, up to a mebibyte. */
  | { readonly type: 'exited'; readonly code: number; readonly output: string }
  | { readonly type: 'timeout' }
  /** It could not be started, or a signal ended it. */
  | { readonly type: 'failed'; readonly message: string };
