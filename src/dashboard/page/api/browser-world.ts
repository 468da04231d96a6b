import type { Log, World } from '../../../world/world.ts';

const log: Log = {
  debugs: false,
  debug: () => undefined,
  info: () => undefined,
  warn: (message, fields) => console.warn(message, fields),
  error: (message, fields) => console.error(message, fields),
  with: () => log,
};

/** The clock, timers and randomness of the browser. */
export const browserWorld: World = {
  clock: { now: () => Date.now(), monotonic: () => performance.now() },
  timers: {
    after(ms, callback) {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
    soon: (callback) => queueMicrotask(callback),
  },
  random: { float: () => Math.random(), uuid: () => crypto.randomUUID() },
  log,
};
