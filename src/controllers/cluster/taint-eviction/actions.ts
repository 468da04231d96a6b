import type { ObjectReference, Pod } from '../../../api/generated/types.ts';
import type { Decision, EventDraft } from '../../../client/decision.ts';

export type TaintEvictionAction =
  /** The pod may stay until then. Remembered by this process alone: whoever takes over lets it stay for the whole time once more. */
  | { readonly do: 'plan'; readonly plan: PlannedEviction }
  /** It may stay for good, or goes right now. */
  | { readonly do: 'forget-plan' }
  /** `rememberAs`: said once for each pod, however often the rest is tried. */
  | { readonly do: 'tell'; readonly about: ObjectReference; readonly report: EventDraft; readonly rememberAs?: string }
  /** The pod, with the reason why it goes in its status. */
  | { readonly do: 'mark'; readonly pod: Pod }
  | { readonly do: 'delete'; readonly pod: Pod };

/** When a pod of this uid has to go. */
export interface PlannedEviction {
  readonly uid: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export type TaintEvictionDecision = Decision<TaintEvictionAction>;

/** The component that Kubernetes names in these events. */
export const eventSource = 'taint-eviction-controller';
