import type { Cancel, Timers } from '../../src/world/world.ts';

/** Timers of a channel: deadlines of five seconds and more pass when a test says so, all others by the clock. */
export class Deadlines implements Timers {
  readonly #timers: Timers;
  readonly #pending = new Set<() => void>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  after(ms: number, callback: () => void): Cancel {
    if (ms < 5_000) return this.#timers.after(ms, callback);
    this.#pending.add(callback);
    return () => void this.#pending.delete(callback);
  }

  soon(callback: () => void): void {
    this.#timers.soon(callback);
  }

  pass(): void {
    const passed = [...this.#pending];
    this.#pending.clear();
    for (const callback of passed) callback();
  }
}
