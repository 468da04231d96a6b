import type { Cancel, World } from '../../world/world.ts';

interface Deadline {
  readonly at: number;
  readonly over: () => void;
}

/**
 * Many deadlines, all equally far away when they are set: the oldest is the next one, so one timer serves all. Nearly all are
 * cancelled long before; a timer for each would cost more than most requests.
 */
export class Deadlines {
  readonly #world: Pick<World, 'clock' | 'timers'>;
  readonly #ms: number;
  readonly #deadlines = new Set<Deadline>();
  /** Whether the timer runs. It is not cancelled with the deadline that it was set for: it looks for the next one. */
  #runs = false;

  constructor(world: Pick<World, 'clock' | 'timers'>, ms: number) {
    this.#world = world;
    this.#ms = ms;
  }

  set(over: () => void): Cancel {
    const deadline = { at: this.#world.clock.monotonic() + this.#ms, over };
    this.#deadlines.add(deadline);
    if (!this.#runs) this.#expireIn(this.#ms);
    return () => void this.#deadlines.delete(deadline);
  }

  #expireIn(ms: number): void {
    this.#runs = true;
    this.#world.timers.after(ms, this.#expire);
  }

  readonly #expire = (): void => {
    const now = this.#world.clock.monotonic();
    for (const deadline of this.#deadlines) {
      if (deadline.at > now) {
        this.#expireIn(deadline.at - now);
        return;
      }
      this.#deadlines.delete(deadline);
      deadline.over();
    }
    this.#runs = false;
  };
}
