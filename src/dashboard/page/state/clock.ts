import { signal } from '@preact/signals';
import { browserWorld } from '../api/browser-world.ts';

/** Grows every few seconds, so that ages do. */
export const tick = signal(0);

const everyMs = 5_000;

function advance(): void {
  tick.value++;
  browserWorld.timers.after(everyMs, advance);
}
browserWorld.timers.after(everyMs, advance);
