import type { World } from '../../world/world.ts';
import type { Pacer } from './fair-queue.ts';

/** So many waiting requests make one pause. */
const entriesPerPause = 8;
/** A pause ends after this, however long the request took. */
const maxPauseMs = 500;
/** Other requests count for so long after the last one. */
const rememberedMs = 1_000;

export interface PacerOptions {
  /** Other requests so far. */
  readonly otherRequests: () => number;
  /** The longest pause, as a multiple of the time that the request took. */
  readonly maxPauseRatio: number;
}

/**
 * The pace of requests that take milliseconds: each starts in its own turn of the event loop, so that requests that arrived
 * meanwhile are answered between two of them. When many of them wait, and short requests arrive, there is also a pause:
 * otherwise each short request would find the processor busy. Without short requests there is none.
 */
export function createPacer({ clock, timers }: Pick<World, 'clock' | 'timers'>, { otherRequests: others, maxPauseRatio: longestPause }: PacerOptions): Pacer {
  let last = { count: others(), at: Number.NEGATIVE_INFINITY };
  const othersCome = (now: number): boolean => {
    const count = others();
    if (count !== last.count) last = { count, at: now };
    return now - last.at < rememberedMs;
  };
  return {
    started(next, waiting) {
      const began = clock.monotonic();
      timers.soon(() => {
        const now = clock.monotonic();
        const pauses = Math.min(longestPause, Math.floor(waiting() / entriesPerPause));
        const ms = pauses === 0 || !othersCome(now) ? 0 : Math.min(maxPauseMs, (now - began) * pauses);
        if (ms < 1) next();
        else timers.after(ms, next);
      });
    },
  };
}
