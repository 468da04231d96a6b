/** A seccomp profile (runtime-spec, `linux.seccomp`), with Docker's conditions resolved. */

/** What the kernel does about a system call: the value that a filter returns (SECCOMP_RET_…). */
export type Action = number;

export const allow: Action = 0x7fff_0000;
export const killThread: Action = 0;
/** `number`: at most 16 bits. */
export const errno = (number: number): Action => 0x0005_0000 + (number & 0xffff);
export const [EPERM, ENOSYS] = [1, 38];

/** By the names of profiles; `data`: errnoRet. */
export const actions: Readonly<Record<string, (data: number) => Action>> = {
  SCMP_ACT_KILL: () => killThread,
  SCMP_ACT_KILL_THREAD: () => killThread,
  SCMP_ACT_KILL_PROCESS: () => 0x8000_0000,
  SCMP_ACT_TRAP: () => 0x0003_0000,
  SCMP_ACT_ERRNO: errno,
  SCMP_ACT_TRACE: (data) => 0x7ff0_0000 + (data & 0xffff),
  SCMP_ACT_LOG: () => 0x7ffc_0000,
  SCMP_ACT_ALLOW: () => allow,
};

/** Actions under which a system call happens, or a tracer decides. */
export const permits = (action: Action): boolean => action >= 0x7ff0_0000 && action <= allow;

export const operators = ['SCMP_CMP_NE', 'SCMP_CMP_LT', 'SCMP_CMP_LE', 'SCMP_CMP_EQ', 'SCMP_CMP_GE', 'SCMP_CMP_GT', 'SCMP_CMP_MASKED_EQ'] as const;
export type Operator = (typeof operators)[number];

/** Compares an argument with `value`; SCMP_CMP_MASKED_EQ: those bits of it that `value` has, with `valueTwo`. */
export interface Condition {
  /** 0 to 5. */
  readonly index: number;
  readonly op: Operator;
  readonly value: bigint;
  readonly valueTwo: bigint;
}

export interface Rule {
  readonly name: string;
  readonly action: Action;
  /** All of them hold. Empty: always. */
  readonly conditions: readonly Condition[];
}

export interface Profile {
  readonly defaultAction: Action;
  /** Besides the machine's own. */
  readonly architectures: readonly string[];
  /** A rule without conditions beats those with; of those the first that holds decides. */
  readonly rules: readonly Rule[];
}

/** Conditions on the same argument are alternatives (runc: matchCall), all others hold together. */
export function rulesOf(name: string, action: Action, conditions: readonly Condition[]): readonly Rule[] {
  const isRepeated = new Set(conditions.map(({ index }) => index)).size < conditions.length;
  return isRepeated ? conditions.map((condition) => ({ name, action, conditions: [condition] })) : [{ name, action, conditions }];
}
