import type { Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Decision, ObjectWrite } from '../../../client/decision.ts';

export type PodGcAction =
  /** Goes on only if the server has no such node either. */
  | { readonly do: 'confirmNodeGone'; readonly node: string }
  /** Phase Failed: no kubelet will update the status. */
  | ObjectWrite<Stored<Pod>>
  /** With grace period 0: no kubelet stops the pod. */
  | { readonly do: 'forceDelete'; readonly pod: Stored<Pod> };

export type PodGcDecision = Decision<PodGcAction>;
