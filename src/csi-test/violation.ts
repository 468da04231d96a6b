import type { Clause } from './clauses.ts';

/** What the driver did wrong. */
export class Violation extends Error {
  override readonly name = 'Violation';
  /** If another clause than that of the case is violated. */
  readonly clause: Clause | undefined;
  /** Flags that repeat it, if there are better ones than those of the case. */
  readonly replay: readonly string[] | undefined;

  constructor(message: string, clause?: Clause, replay?: readonly string[]) {
    super(message);
    this.clause = clause;
    this.replay = replay;
  }
}

/** What turned out during a case: that it cannot be tried on this driver. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable';
}
