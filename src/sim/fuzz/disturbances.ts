import type { DisturbedUntil } from '../invariants/invariant.ts';

const groups = ['controllers', 'scheduler'] as const;

/** Whose troubles are everybody's. */
export const allComponents = 'server';

/**
 * When something was last in the way of the programs that decide: who hears little cannot be blamed for what they do not know. Who of two leads is not looked
 * at: trouble of either counts.
 */
export class Disturbances {
  readonly #until = { controllers: Number.NEGATIVE_INFINITY, scheduler: Number.NEGATIVE_INFINITY };
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly until: DisturbedUntil = (who) => this.#until[who];

  /** `who`: a program, as 'controllers-1', or everybody. Nodes decide nothing here. */
  begin(who: string, forMs: number): void {
    for (const group of groups) if (who === allComponents || who.startsWith(group)) this.#until[group] = Math.max(this.#until[group], this.#now() + forMs);
  }

  end(): void {
    for (const group of groups) this.#until[group] = Math.min(this.#until[group], this.#now());
  }
}
