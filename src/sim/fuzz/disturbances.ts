import type { DisturbedUntil } from '../invariants/invariant.ts';

const groups = ['controllers', 'scheduler'] as const;

/** A fault of the server concerns all components. */
export const allComponents = 'server';

/**
 * Until when faults kept the controllers or the scheduler from reading and writing: an invariant excuses decisions on stale caches. Faults of a
 * standby count as well.
 */
export class Disturbances {
  readonly #until = { controllers: Number.NEGATIVE_INFINITY, scheduler: Number.NEGATIVE_INFINITY };
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly until: DisturbedUntil = (who) => this.#until[who];

  /** `who`: a component, such as 'controllers-1', or `allComponents`. Nodes are ignored. */
  begin(who: string, forMs: number): void {
    for (const group of groups) if (who === allComponents || who.startsWith(group)) this.#until[group] = Math.max(this.#until[group], this.#now() + forMs);
  }

  end(): void {
    for (const group of groups) this.#until[group] = Math.min(this.#until[group], this.#now());
  }
}
