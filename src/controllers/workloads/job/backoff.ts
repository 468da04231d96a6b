/** The back-off before a Job creates a new pod after failures. */
import type { Pod } from '../../../api/generated/types.ts';
import { endOf, failuresBefore, ignoredFailuresBefore } from './tracked-pod.ts';

export interface Backoff {
  /** Since the last success. */
  readonly failures: number;
  /** When the last failure was; milliseconds since 1970. */
  readonly lastFailureAt: number;
}

export const noFailures: Backoff = { failures: 0, lastFailureAt: 0 };

/** The back-off after these pods have ended too. A success resets it. */
export function afterEnds(before: Backoff, succeeded: readonly Pod[], failed: readonly Pod[]): Backoff {
  const lastSuccess = Math.max(...succeeded.map(endOf));
  const since = failed.map(endOf).filter((end) => end > lastSuccess);
  const start = succeeded.length > 0 ? noFailures : before;
  return since.length === 0 ? start : { failures: start.failures + since.length, lastFailureAt: Math.max(...since) };
}

/** When the next pod may be created; milliseconds since 1970. */
export const mayRetryAt = ({ failures, lastFailureAt }: Backoff): number => (failures === 0 ? 0 : lastFailureAt + delayAfter(failures));

/** When the index of this failed pod may be retried. */
export const mayRetryIndexAt = (last: Pod): number => endOf(last) + delayAfter(failuresBefore(last) + ignoredFailuresBefore(last) + 1);

const firstDelayMs = 10_000;
const longestDelayMs = 600_000;

const delayAfter = (failures: number): number => Math.min(firstDelayMs * 2 ** Math.min(failures - 1, 30), longestDelayMs);
