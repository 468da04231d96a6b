/**
 * A program of system calls, as data. The process that runs it has no code but a loop over these steps: no shell, no C library and no dynamic loader takes part
 * before the container's own program is executed. `src/host/init` makes an executable of it.
 */

export interface InitProgram {
  /** The first one begins. */
  readonly steps: readonly Step[];
  /** The label of the step that follows an error. */
  readonly onError: string;
  /** Two words of memory that always hold the address of the last step and its result. */
  readonly last: Inside;
}

export interface Step {
  readonly call: SystemCall;
  readonly args: readonly Argument[];
  /** A later step uses the result by this name: `resultOf`. */
  readonly result?: string;
  /** Numbers of errors, below 64, that count as the result 0. */
  readonly allows?: readonly number[];
  /** The label of the next step after such a result. Undefined: the step below; after errors: the program's `onError`. */
  readonly onError?: string;
  readonly onZero?: string;
  readonly onPositive?: string;
  readonly label?: string;
  /** What could not be done if the step fails. Undefined: its call. */
  readonly failure?: string;
}

export type SystemCall =
  | 'capset'
  | 'chdir'
  | 'clone'
  | 'close_range'
  | 'dup3'
  | 'execve'
  | 'exit_group'
  | 'fchdir'
  | 'fchown'
  | 'ioctl'
  | 'keyctl'
  | 'mount'
  | 'openat'
  | 'openat2'
  | 'pivot_root'
  | 'ppoll'
  | 'prctl'
  | 'read'
  | 'rt_sigaction'
  | 'rt_sigprocmask'
  | 'seccomp'
  | 'setgroups'
  | 'sethostname'
  | 'setns'
  | 'setresgid'
  | 'setresuid'
  | 'setsid'
  | 'socket'
  | 'umask'
  | 'umount2'
  | 'unshare'
  | 'waitid'
  | 'write';

/** A text and bytes are pointers to them; the same bytes object is the same memory. A list is a pointer to words, with a zero behind them. */
export type Argument = Constant | ResultOf;
export type Constant = number | string | Uint8Array | Inside | ListOf;

export interface ResultOf {
  readonly resultOf: string;
  /** The argument's value if there is no result. */
  readonly otherwise: Constant;
}
export interface Inside {
  readonly bytes: Uint8Array;
  readonly offset: number;
}
export interface ListOf {
  readonly list: readonly Constant[];
}

export const resultOf = (name: string, otherwise: Constant = 0): ResultOf => ({ resultOf: name, otherwise });
/** A pointer into bytes. */
export const inside = (bytes: Uint8Array, offset: number): Inside => ({ bytes, offset });
export const listOf = (list: readonly Constant[]): ListOf => ({ list });
