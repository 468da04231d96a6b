import type { ObservedChange, Facts } from './facts.ts';

/** Until when something keeps the controllers, or the scheduler, from hearing and doing: their own faults, or the server's. Long ago: nothing ever did. */
export type DisturbedUntil = (who: 'controllers' | 'scheduler') => number;

export const neverDisturbed: DisturbedUntil = () => Number.NEGATIVE_INFINITY;

/** So long after a disturbance its victims have heard the news: a watch that fell silent is noticed after ten seconds, and opened anew. */
export const newsMs = 20_000;

/** Something that is true at every moment, whatever fails. Looked at with each change, once all of its transaction is in the facts. */
export interface Invariant {
  /** In words, as the design says it. */
  readonly name: string;
  /** What is wrong, if the change made it so. */
  check(change: ObservedChange, facts: Facts, now: number): string | undefined;
}
