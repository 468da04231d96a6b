import type { PodDisruptionBudget } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Decision, EventDraft } from '../../../client/decision.ts';

export type BudgetAction = { readonly do: 'write-status'; readonly budget: Stored<PodDisruptionBudget> } | DisruptionEventAction;

export interface DisruptionEventAction {
  readonly do: 'tell';
  readonly about: Stored<KubeObject>;
  readonly report: EventDraft;
  /** A standing event: remembered under this key, and not recorded in every pass. */
  readonly rememberAs?: string;
}

export type BudgetDecision = Decision<BudgetAction>;

/** The `source.component` of the events, as in Kubernetes. */
export const eventSource = 'controllermanager';
