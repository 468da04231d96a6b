import type { Job } from '../../../api/generated/types.ts';
import type { Decision as AnyDecision } from '../../../machinery/loop.ts';

/** Only if it is still as it was seen: somebody may have said meanwhile that it is to be kept. Its pods go first. */
export interface Action {
  readonly do: 'delete';
  readonly job: Job;
}

export type Decision = AnyDecision<Action>;
