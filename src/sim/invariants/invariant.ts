import type { Change, Facts } from './facts.ts';

/** Something that is true at every moment, whatever fails. Looked at with each change, once all of its transaction is in the facts. */
export interface Invariant {
  /** In words, as the design says it. */
  readonly name: string;
  /** What is wrong, if the change made it so. */
  check(change: Change, facts: Facts, now: number): string | undefined;
}
