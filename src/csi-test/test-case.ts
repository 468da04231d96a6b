import type { Bench } from './bench.ts';
import type { Need } from './capabilities.ts';
import type { Clause } from './clauses.ts';

/** The parts of a run, in their order. */
export const parts = ['specs', 'idempotency', 'network', 'crashes', 'concurrency', 'sequences'] as const;
export type Part = (typeof parts)[number];

/** One thing that is tried on the driver. It is reported as passed, failed (or warned about), or not applicable with the reason. */
export interface TestCase {
  /** 'CreateVolume/repeated' */
  readonly id: string;
  readonly part: Part;
  /** What must hold. */
  readonly title: string;
  readonly clause: Clause;
  readonly needs: readonly Need[];
  /** What the case does to the driver besides calls: 'kills the driver'. */
  readonly harm?: string;
  run(bench: Bench): Promise<void>;
}
