import type { Cancel, World } from '../../world/world.ts';

interface Deadline {
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
  readonly #waiting = new Set<Deadline>();
  /** Whether the timer runs. It is not taken back with what it was set for: it finds out who is next. */
  #runs = false;

  constructor(world: Pick<World, 'clock' | 'timers'>, ms: number) {
    this.#world = world;
    this.#ms = ms;
  }

  set(over: () => void): Cancel {
    const waiting = { at: this.#world.clock.monotonic() + this.#ms, over };
    this.#waiting.add(waiting);
    if (!this.#runs) this.#expireIn(this.#ms);
    return () => void this.#waiting.delete(waiting);
  }

  #expireIn(ms: number): void {
    this.#runs = true;
    this.#world.timers.after(ms, this.#expire);
  }

  readonly #expire = (): void => {
    const now = this.#world.clock.monotonic();
    for (const waiting of this.#waiting) {
      if (waiting.at > now) {
        this.#expireIn(waiting.at - now);
        return;
      }
      this.#waiting.delete(waiting);
      waiting.over();
    }
    this.#runs = false;
  };
}
