import type { Timers } from '../../world/world.ts';

/** Waiting longer for a lock is pointless: the transaction's compares decide anyway. */
const LOCK_TIMEOUT_MS = 1_000;

/**
 * Locks for keys that many requests of this process rewrite at once (a ResourceQuota). Correctness comes from the compares
 * of transactions; locks only keep requests from losing the same race again and again.
 */
export class KeyLocks {
  readonly #queues = new Map<string, (() => void)[]>();
  readonly #timers: Timers;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** @returns the function that releases the lock; calling it twice is harmless */
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

  /** @returns false: the wait took too long, and the caller goes on without the lock */
  #wait(queue: (() => void)[]): Promise<boolean> {
    return new Promise((resolve) => {
      const granted = (): void => {
        cancel();
        resolve(true);
      };
      const cancel = this.#timers.after(LOCK_TIMEOUT_MS, () => {
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
