import type { ObservedChange, Facts } from './facts.ts';

/** Until when faults kept the controllers or the scheduler from reading and writing. */
export type DisturbedUntil = (who: 'controllers' | 'scheduler') => number;

export const neverDisturbed: DisturbedUntil = () => Number.NEGATIVE_INFINITY;

/** So long after a disturbance the caches are current again: a stalled watch is noticed after ten seconds, and reopened. */
export const cachesCurrentMs = 20_000;

/** A statement that is true at every moment, under all faults. Checked with each change, once its whole transaction is in the facts. */
export interface Invariant {
  readonly name: string;
  /** The violation, if this change caused one. */
  check(change: ObservedChange, facts: Facts, now: number): string | undefined;
}
