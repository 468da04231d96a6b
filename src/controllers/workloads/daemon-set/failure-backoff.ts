/** A kubelet may refuse a pod again and again: its failed pods are replaced later each time. */
export interface FailureBackoff {
  /** When the last one was deleted; milliseconds since 1970. */
  readonly since: number;
  /** How long the next one stays. */
  readonly delayMs: number;
}

const firstDelayMs = 1_000;
const longestDelayMs = 15 * 60_000;

/** Until when a failed pod stays. Undefined: it may go now. */
export function staysUntil(backoff: FailureBackoff | undefined, now: number): number | undefined {
  const until = backoff === undefined ? now : backoff.since + backoff.delayMs;
  return until > now ? until : undefined;
}

export function afterFailure(backoff: FailureBackoff | undefined, now: number): FailureBackoff {
  const isForgotten = backoff === undefined || now - backoff.since > 2 * longestDelayMs;
  return { since: now, delayMs: isForgotten ? firstDelayMs : Math.min(backoff.delayMs * 2, longestDelayMs) };
}
