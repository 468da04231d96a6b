import type { Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Decision, ObjectWrite, RecordEvent } from '../../../client/decision.ts';

export type TaintEvictionAction =
  /** The pod may stay until then. Only this process remembers it: after a change of leader the whole toleration time starts again. */
  | { readonly do: 'plan'; readonly plan: PlannedEviction }
  /** The pod may stay for good, or is evicted now. */
  | { readonly do: 'forgetPlan' }
  | RecordEvent
  | ObjectWrite<Stored<Pod>>;

/** When the pod of this uid is evicted. */
export interface PlannedEviction {
  readonly uid: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export type TaintEvictionDecision = Decision<TaintEvictionAction>;
