import type { Container, PodSpec } from '../../api/generated/types.ts';

/** Whether a container that ended with this exit code is to run again. */
export function shouldRestart(container: Container, { restartPolicy: podPolicy }: PodSpec, exitCode: number): boolean {
  const { restartPolicy, restartPolicyRules = [] } = container;
  // Rules say when to restart; where none fits, the policy decides.
  if (restartPolicy !== undefined && restartPolicyRules.some(({ exitCodes }) => matches(exitCodes, exitCode))) return true;
  const policy = restartPolicy ?? podPolicy ?? 'Always';
  return policy === 'OnFailure' ? exitCode !== 0 : policy !== 'Never';
}

type ExitCodes = NonNullable<NonNullable<Container['restartPolicyRules']>[number]['exitCodes']>;

const matches = (codes: ExitCodes | undefined, exitCode: number): boolean =>
  codes !== undefined && (codes.values ?? []).includes(exitCode) === (codes.operator === 'In');

/** How long a container that keeps ending is left alone. */
export interface BackOff {
  readonly ms: number;
  /** When it was last started again; milliseconds since 1970. */
  readonly since: number;
}

const firstMs = 10_000;
const longestMs = 300_000;

/** Undefined: it may run again at once. Else: from when on. */
export function heldBackUntil(backOff: BackOff | undefined, finishedAt: number, now: number): number | undefined {
  if (backOff === undefined || isForgiven(backOff, finishedAt)) return undefined;
  return now < finishedAt + backOff.ms ? finishedAt + backOff.ms : undefined;
}

/** It is started again now: the next time it has to wait twice as long. */
export function nextBackOff(backOff: BackOff | undefined, finishedAt: number, now: number): BackOff {
  const ms = backOff === undefined || isForgiven(backOff, finishedAt) ? firstMs : Math.min(2 * backOff.ms, longestMs);
  return { ms, since: now };
}

/** What ran for ten minutes does not keep ending. */
const isForgiven = ({ since }: BackOff, finishedAt: number): boolean => finishedAt - since > 2 * longestMs;

/** A duration as Go prints it: '10s', '1m20s', '5m0s'. */
export function goDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
