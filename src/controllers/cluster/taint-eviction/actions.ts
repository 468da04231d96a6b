import type { ObjectReference, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Decision, EventDraft } from '../../../client/decision.ts';

export type TaintEvictionAction =
  /** The pod may stay until then. Only this process remembers it: after a change of leader the whole toleration time starts again. */
  | { readonly do: 'plan'; readonly plan: PlannedEviction }
  /** The pod may stay for good, or is evicted now. */
  | { readonly do: 'forget-plan' }
  /** `rememberAs`: recorded once for each pod, however often the eviction is retried. */
  | { readonly do: 'tell'; readonly about: ObjectReference; readonly report: EventDraft; readonly rememberAs?: string }
  /** Writes the DisruptionTarget condition. */
  | { readonly do: 'mark'; readonly pod: Stored<Pod> }
  | { readonly do: 'delete'; readonly pod: Stored<Pod> };

/** When the pod of this uid is evicted. */
export interface PlannedEviction {
  readonly uid: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export type TaintEvictionDecision = Decision<TaintEvictionAction>;

/** The `source.component` of the events, as in Kubernetes. */
export const eventSource = 'taint-eviction-controller';
