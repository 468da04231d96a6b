import type { Clock, World } from '../../world/world.ts';

/** How wrong a clock is. */
export interface ClockSkew {
  /** It runs so many times as fast. */
  readonly rate: number;
  /** And began so much ahead. */
  readonly aheadMs: number;
}

/** A clock of a machine, which outlives the programs that read it. Set right, it runs as it should, but never goes back. */
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
    this.#aheadMs += (this.#true.now() - this.#since) * (this.#rate - 1);
    this.#since = this.#true.now();
    this.#rate = 1;
  }

  /** The same world by this clock: also timers go by it. */
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
