/** A kubelet may reject a pod again and again: failed pods on its node are replaced with growing delays. */
export interface FailureBackoff {
  /** When the last failed pod was deleted; milliseconds since 1970. */
  readonly since: number;
  /** How long the next failed pod stays. */
  readonly delayMs: number;
}

const firstDelayMs = 1_000;
const longestDelayMs = 15 * 60_000;

/** Until when a failed pod stays. Undefined: it may be deleted now. */
export function staysUntil(backoff: FailureBackoff | undefined, now: number): number | undefined {
  const until = backoff === undefined ? now : backoff.since + backoff.delayMs;
  return until > now ? until : undefined;
}

export function afterFailure(backoff: FailureBackoff | undefined, now: number): FailureBackoff {
  const isForgotten = backoff === undefined || now - backoff.since > 2 * longestDelayMs;
  return { since: now, delayMs: isForgotten ? firstDelayMs : Math.min(backoff.delayMs * 2, longestDelayMs) };
}
