import type { Job } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Decision } from '../../../client/decision.ts';

/** Foreground deletion, only at the resourceVersion of the decision: the TTL may have been changed meanwhile. */
export interface TtlAfterFinishedAction {
  readonly do: 'delete';
  readonly job: Stored<Job>;
}

export type TtlAfterFinishedDecision = Decision<TtlAfterFinishedAction>;
