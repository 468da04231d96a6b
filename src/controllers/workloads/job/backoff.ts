/** How long a job waits before it tries again: the longer, the more often it failed in a row. */
import type { Pod } from '../../../api/generated/types.ts';
import { endOf, failuresBefore, ignoredFailuresBefore } from './tracked-pod.ts';

export interface Backoff {
  /** Since the last success. */
  readonly failures: number;
  /** When the last of them was; milliseconds since 1970. */
  readonly lastFailureAt: number;
}

export const noFailures: Backoff = { failures: 0, lastFailureAt: 0 };

/** The same, once these pods have ended as well. A success makes up for all failures before it. */
export function afterEnds(before: Backoff, succeeded: readonly Pod[], failed: readonly Pod[]): Backoff {
  const lastSuccess = Math.max(...succeeded.map(endOf));
  const since = failed.map(endOf).filter((end) => end > lastSuccess);
  const start = succeeded.length > 0 ? noFailures : before;
  return since.length === 0 ? start : { failures: start.failures + since.length, lastFailureAt: Math.max(...since) };
}

/** When the next pod may be made; milliseconds since 1970. */
export const mayRetryAt = ({ failures, lastFailureAt }: Backoff): number => (failures === 0 ? 0 : lastFailureAt + delayAfter(failures));

/** When an index may be tried again whose last pod is this one. */
export const mayRetryIndexAt = (last: Pod): number => endOf(last) + delayAfter(failuresBefore(last) + ignoredFailuresBefore(last) + 1);

const firstDelayMs = 10_000;
const longestDelayMs = 600_000;

const delayAfter = (failures: number): number => Math.min(firstDelayMs * 2 ** Math.min(failures - 1, 30), longestDelayMs);
