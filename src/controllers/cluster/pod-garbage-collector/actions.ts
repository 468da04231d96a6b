import type { Pod } from '../../../api/generated/types.ts';
import type { Decision } from '../../../client/decision.ts';

export type PodGcAction =
  /** Asks the server: goes on only if there is no such node. */
  | { readonly do: 'confirm-node-gone'; readonly node: string }
  /** The pod as failed: there is no kubelet that would ever say what became of it. */
  | { readonly do: 'mark-failed'; readonly pod: Pod }
  /** At once, without grace: there is nobody to wait for. */
  | { readonly do: 'delete'; readonly pod: Pod };

export type PodGcDecision = Decision<PodGcAction>;
