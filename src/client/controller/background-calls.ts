import type { Log } from '../../world/world.ts';
import type { Outcome } from './loop.ts';

/**
 * Calls that a pass starts without waiting for their answers: a driver that hangs must not keep the passes of all others waiting. At most one at a
 * time for each key; a pass that wants the same call meanwhile gets 'done'. The answer enqueues the object again, by a write or by a Trigger.
 */
export class BackgroundCalls {
  readonly #running = new Set<string>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  isRunning(key: string): boolean {
    return this.#running.has(key);
  }

  /** `task` writes its answer down itself. `onEnd`: called after it, also if it rejected. */
  start(key: string, task: () => Promise<unknown>, onEnd: () => void = () => undefined): Outcome {
    if (this.#running.has(key)) return 'done';
    this.#running.add(key);
    void task()
      .catch((error: unknown) => this.#log.error('a call in the background failed', { key, error }))
      .finally(() => {
        this.#running.delete(key);
        onEnd();
      });
    return 'done';
  }
}
