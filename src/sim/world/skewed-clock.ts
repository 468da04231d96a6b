import type { Clock, World } from '../../world/world.ts';

/** The skew of a clock. */
export interface ClockSkew {
  /** Its speed, relative to real time. */
  readonly rate: number;
  /** Its offset at the beginning. */
  readonly aheadMs: number;
}

/** The clock of a machine, which outlives its processes. After `correct` it runs at the right speed: with the right time, unless it was ahead, since it never goes back. */
export class SkewedClock {
  readonly #true: Clock;
  #rate: number;
  #aheadMs: number;
  #since: number;

  constructor(clock: Clock, { rate, aheadMs }: ClockSkew) {
    this.#true = clock;
    this.#rate = rate;
    this.#aheadMs = aheadMs;
    this.#since = clock.now();
  }

  correct(): void {
    this.#aheadMs = Math.max(0, this.#aheadMs + (this.#true.now() - this.#since) * (this.#rate - 1));
    this.#since = this.#true.now();
    this.#rate = 1;
  }

  get isAhead(): boolean {
    return this.#aheadMs > 0;
  }

  /** The same world with this clock; its timers use it too. */
  world(world: World): World {
    const now = () => this.#since + this.#aheadMs + (this.#true.now() - this.#since) * this.#rate;
    const begun = now();
    return {
      log: world.log,
      random: world.random,
      clock: { now: () => Math.floor(now()), monotonic: () => now() - begun },
      timers: { after: (ms, callback) => world.timers.after(ms / this.#rate, callback), soon: (callback) => world.timers.soon(callback) },
    };
  }
}
