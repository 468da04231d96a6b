import type { Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Decision } from '../../../client/decision.ts';

export type PodGcAction =
  /** Goes on only if the server has no such node either. */
  | { readonly do: 'confirm-node-gone'; readonly node: string }
  /** Sets phase Failed: no kubelet will update the status. */
  | { readonly do: 'mark-failed'; readonly pod: Stored<Pod> }
  /** With grace period 0: no kubelet stops the pod. */
  | { readonly do: 'delete'; readonly pod: Stored<Pod> };

export type PodGcDecision = Decision<PodGcAction>;
