import type { PodDisruptionBudget } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Decision as AnyDecision } from '../../machinery/loop.ts';
import type { Report } from '../../machinery/recorder.ts';

export type Action = { readonly do: 'write-status'; readonly budget: PodDisruptionBudget } | Tell;

export interface Tell {
  readonly do: 'tell';
  readonly about: KubeObject;
  readonly report: Report;
  /** How things stand, not what happened: remembered under this key, and not said again and again. */
  readonly rememberAs?: string;
}

export type Decision = AnyDecision<Action>;

/** The component that Kubernetes names in these events. */
export const eventSource = 'controllermanager';
