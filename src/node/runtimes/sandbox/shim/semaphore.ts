import type { Timers } from '../../../../world/world.ts';

/** Work that takes longer than this waits for something else than the CPU: it no longer counts. */
const longestMs = 1_000;

/**
 * Limits concurrent work, first come, first served. Of a hundred containers that start at once, the first are up early, and the last not later than without a
 * limit.
 */
export class Semaphore {
  readonly #timers: Timers;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(timers: Timers, atOnce: number) {
    this.#timers = timers;
    this.#free = atOnce;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    };
    const cancel = this.#timers.after(longestMs, end);
    try {
      return await work();
    } finally {
      cancel();
      end();
    }
  }
}
