import type { World } from '../world/world.ts';

/** What one run of a pump may do before the event loop goes on with requests and timers. */
export interface PumpLimit {
  readonly steps: number;
  readonly ms?: number;
}

/**
 * Runs the passes of a worker, a few at a time. Passes start from the event loop, never from inside the change that caused them, so
 * that a burst of changes costs one pass. Shared by the controller loop and the scheduler.
 */
export class Pump {
  readonly #world: Pick<World, 'timers' | 'clock'>;
  readonly #step: () => boolean;
  readonly #limit: PumpLimit;
  #state: 'waiting' | 'running' | 'stopped' = 'waiting';
  #isScheduled = false;

  /** `step` does one piece of work; false: there is nothing to do, or no room for more. */
  constructor(world: Pick<World, 'timers' | 'clock'>, step: () => boolean, limit: PumpLimit) {
    this.#world = world;
    this.#step = step;
    this.#limit = limit;
  }

  get state(): 'waiting' | 'running' | 'stopped' {
    return this.#state;
  }

  start(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'running';
    this.schedule();
  }

  stop(): void {
    this.#state = 'stopped';
  }

  /** There may be something to do. */
  schedule(): void {
    if (this.#isScheduled || this.#state !== 'running') return;
    this.#isScheduled = true;
    this.#world.timers.soon(() => {
      this.#isScheduled = false;
      this.#run();
    });
  }

  #run(): void {
    const { steps, ms } = this.#limit;
    const { clock } = this.#world;
    const until = ms === undefined ? undefined : clock.monotonic() + ms;
    for (let done = 0; this.#state === 'running'; done++) {
      if (done === steps || (until !== undefined && clock.monotonic() > until)) return this.schedule();
      if (!this.#step()) return;
    }
  }
}
