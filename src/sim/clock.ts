import type { World } from '../world/world.ts';

/** How wrong a clock is. */
export interface ClockError {
  /** It runs so many times as fast. */
  readonly rate: number;
  /** And began so much ahead. */
  readonly aheadMs: number;
}

/** The same world, by a clock that is wrong: also timers go by it. */
export function byWrongClock(world: World, { rate, aheadMs }: ClockError): World {
  const begun = world.clock.now();
  return {
    log: world.log,
    random: world.random,
    clock: { now: () => Math.floor(begun + aheadMs + (world.clock.now() - begun) * rate), monotonic: () => world.clock.monotonic() * rate },
    timers: { after: (ms, callback) => world.timers.after(ms / rate, callback), soon: (callback) => world.timers.soon(callback) },
  };
}
