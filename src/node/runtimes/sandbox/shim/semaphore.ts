import type { Timers } from '../../../../world/world.ts';

/** Whoever takes longer than this waits for something else than the processor: others need not wait with it. */
const longestMs = 1_000;

/**
 * Lets so many work at a time, in the order in which they came. A hundred who all start at once would all be done late; so the first are done soon, and the last
 * not later.
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
