import type { PodDisruptionBudget } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Decision, EventDraft } from '../../../client/decision.ts';

export type BudgetAction = { readonly do: 'write-status'; readonly budget: PodDisruptionBudget } | DisruptionEventAction;

export interface DisruptionEventAction {
  readonly do: 'tell';
  readonly about: KubeObject;
  readonly report: EventDraft;
  /** How things stand, not what happened: remembered under this key, and not said again and again. */
  readonly rememberAs?: string;
}

export type BudgetDecision = Decision<BudgetAction>;

/** The component that Kubernetes names in these events. */
export const eventSource = 'controllermanager';
