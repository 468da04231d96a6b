import type { Job } from '../../../api/generated/types.ts';
import type { Decision } from '../../../client/decision.ts';

/** Only if it is still as it was seen: somebody may have said meanwhile that it is to be kept. Its pods go first. */
export interface TtlAfterFinishedAction {
  readonly do: 'delete';
  readonly job: Job;
}

export type TtlAfterFinishedDecision = Decision<TtlAfterFinishedAction>;
