import type { World } from '../../world/world.ts';
import type { Pacer } from './fair-queue.ts';

/** From so many in line on, those that wait are pausing for others. */
const entriesPerPause = 8;
/** A pause ends after this, however long the work took. */
const maxPauseMs = 500;
/** Others count for so long after they were last seen. */
const rememberedMs = 1_000;

export interface PacerOptions {
  /** How many others have come so far. */
  readonly otherRequests: () => number;
  /** How many times as long as they work they pause at most. */
  readonly maxPauseRatio: number;
}

/**
 * The pace of requests that keep the processor busy for milliseconds: each begins in a turn of the event loop of its own, so that whatever came
 * meanwhile is answered between two of them. When many of them wait, and others come who are done in no time, they also pause:
 * else whoever comes would find the processor busy every time. Without others they need not.
 */
export function createPacer({ clock, timers }: Pick<World, 'clock' | 'timers'>, { otherRequests: others, maxPauseRatio: longestPause }: PacerOptions): Pacer {
  let seen = { count: others(), at: Number.NEGATIVE_INFINITY };
  const othersCome = (now: number): boolean => {
    const count = others();
    if (count !== seen.count) seen = { count, at: now };
    return now - seen.at < rememberedMs;
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
