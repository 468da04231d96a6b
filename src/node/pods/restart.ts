import type { Container, PodSpec } from '../../api/generated/types.ts';

/** Whether a container that ended with this exit code is restarted. */
export function shouldRestart(container: Container, { restartPolicy: podPolicy }: PodSpec, exitCode: number): boolean {
  const { restartPolicy, restartPolicyRules = [] } = container;
  // Where no rule matches, the policy decides.
  if (restartPolicy !== undefined && restartPolicyRules.some(({ exitCodes }) => matches(exitCodes, exitCode))) return true;
  const policy = restartPolicy ?? podPolicy ?? 'Always';
  return policy === 'OnFailure' ? exitCode !== 0 : policy !== 'Never';
}

type ExitCodes = NonNullable<NonNullable<Container['restartPolicyRules']>[number]['exitCodes']>;

const matches = (codes: ExitCodes | undefined, exitCode: number): boolean =>
  codes !== undefined && (codes.values ?? []).includes(exitCode) === (codes.operator === 'In');

/** CrashLoopBackOff. */
export interface BackOff {
  readonly ms: number;
  /** When the container was last restarted; milliseconds since 1970. */
  readonly since: number;
}

const firstMs = 10_000;
const longestMs = 300_000;

/** When the container may be restarted; undefined: now. */
export function heldBackUntil(backOff: BackOff | undefined, finishedAt: number, now: number): number | undefined {
  if (backOff === undefined || isForgiven(backOff, finishedAt)) return undefined;
  return now < finishedAt + backOff.ms ? finishedAt + backOff.ms : undefined;
}

/** After a restart at `now`: the next back-off is twice as long. */
export function nextBackOff(backOff: BackOff | undefined, finishedAt: number, now: number): BackOff {
  const ms = backOff === undefined || isForgiven(backOff, finishedAt) ? firstMs : Math.min(2 * backOff.ms, longestMs);
  return { ms, since: now };
}

/** A container that ran for ten minutes starts with the shortest back-off again. */
const isForgiven = ({ since }: BackOff, finishedAt: number): boolean => finishedAt - since > 2 * longestMs;

/** A duration as Go prints it: '10s', '1m20s', '5m0s'. */
export function goDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
