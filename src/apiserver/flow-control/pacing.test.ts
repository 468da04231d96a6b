import { describe, expect, test } from 'vitest';
import { simulate, type SimulatedWorld } from '../../sim/world/world.ts';
import { createPacer } from './pacing.ts';

/** Requests of `workMs` each, and how long after one of them the next may begin. */
class Worker {
  /** How many others have come. */
  others = 0;
  readonly #world: SimulatedWorld;
  readonly #workMs: number;
  readonly #pace;

  constructor(world: SimulatedWorld, workMs: number) {
    this.#world = world;
    this.#workMs = workMs;
    // The event loop turns when the work is done.
    const timers = { ...world.timers, soon: (callback: () => void) => void world.timers.after(workMs, callback) };
    this.#pace = createPacer({ clock: world.clock, timers }, { otherRequests: () => this.others, maxPauseRatio: 4 });
  }

  async pause(line: number): Promise<number> {
    const began = this.#world.clock.monotonic();
    await new Promise<void>((next) => this.#pace.started(next, () => line));
    return this.#world.clock.monotonic() - began - this.#workMs;
  }
}

describe('requests that keep the processor busy', () => {
  test.each([
    ['do not pause while few wait', { workMs: 50, line: 7, others: 1 }, 0],
    ['pause as long as they worked once some wait', { workMs: 50, line: 8, others: 1 }, 50],
    ['pause longer the more wait', { workMs: 50, line: 24, others: 1 }, 150],
    ['keep a fifth of the time, however many wait', { workMs: 50, line: 5_000, others: 1 }, 200],
    ['do not pause without other requests', { workMs: 50, line: 5_000, others: 0 }, 0],
    ['pause no longer than half a second', { workMs: 5_000, line: 5_000, others: 1 }, 500],
    ['do not pause for nothing', { workMs: 0.125, line: 8, others: 1 }, 0],
  ])('%s', (_what, { workMs, line, others }, pause) =>
    simulate(1, async (world) => {
      const worker = new Worker(world, workMs);
      worker.others += others;
      expect(await worker.pause(line)).toBe(pause);
    }),
  );

  test('remember others for a second', () =>
    simulate(2, async (world) => {
      const worker = new Worker(world, 50);
      worker.others += 1;
      expect(await worker.pause(8)).toBe(50);
      expect(await worker.pause(8)).toBe(50);
      await world.sleep(1_000);
      expect(await worker.pause(8)).toBe(0);
      worker.others += 1;
      expect(await worker.pause(8)).toBe(50);
    }));
});
