import type { Cancel, World } from '../../world/world.ts';

interface Waiting {
  readonly at: number;
  readonly over: () => void;
}

/**
 * Many deadlines, all of them as far away when they are set: the oldest is the next one, so one timer serves all. Nearly all are
 * taken back long before; a timer for each would cost more than most requests' work.
 */
export class Deadlines {
  readonly #world: Pick<World, 'clock' | 'timers'>;
  readonly #ms: number;
  readonly #waiting = new Set<Waiting>();
  #timer: Cancel | undefined;

  constructor(world: Pick<World, 'clock' | 'timers'>, ms: number) {
    this.#world = world;
    this.#ms = ms;
  }

  set(over: () => void): Cancel {
    const waiting = { at: this.#world.clock.monotonic() + this.#ms, over };
    this.#waiting.add(waiting);
    this.#timer ??= this.#world.timers.after(this.#ms, this.#expire);
    return () => void this.#waiting.delete(waiting);
  }

  readonly #expire = (): void => {
    this.#timer = undefined;
    const now = this.#world.clock.monotonic();
    for (const waiting of this.#waiting) {
      if (waiting.at > now) {
        this.#timer = this.#world.timers.after(waiting.at - now, this.#expire);
        return;
      }
      this.#waiting.delete(waiting);
      waiting.over();
    }
  };
}
