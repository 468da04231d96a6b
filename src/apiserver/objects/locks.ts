import type { Timers } from '../../world/world.ts';

/** Waiting longer than this for a turn is pointless: the transaction's compares decide anyway. */
const PATIENCE_MS = 1_000;

/**
 * Turns at keys that many requests of this process want to rewrite at once (a quota). Correctness comes from the compares
 * of transactions; turns only keep requests from losing the same race over and over.
 */
export class KeyLocks {
  readonly #queues = new Map<string, (() => void)[]>();
  readonly #timers: Timers;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** @returns what ends the turn; calling it twice is harmless */
  async acquire(key: string): Promise<() => void> {
    const queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, []);
    else if (!(await this.#wait(queue))) return () => undefined;
    let held = true;
    return () => {
      if (held) this.#next(key);
      held = false;
    };
  }

  /** @returns false: it took too long, go without */
  #wait(queue: (() => void)[]): Promise<boolean> {
    return new Promise((resolve) => {
      const granted = (): void => {
        cancel();
        resolve(true);
      };
      const cancel = this.#timers.after(PATIENCE_MS, () => {
        const at = queue.indexOf(granted);
        if (at < 0) return;
        queue.splice(at, 1);
        resolve(false);
      });
      queue.push(granted);
    });
  }

  #next(key: string): void {
    const next = this.#queues.get(key)?.shift();
    if (next === undefined) this.#queues.delete(key);
    else next();
  }
}
