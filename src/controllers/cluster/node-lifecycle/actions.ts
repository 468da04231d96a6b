import type { Node, ObjectReference, Pod } from '../../../api/generated/types.ts';
import type { Decision, EventDraft } from '../../../client/decision.ts';

export type NodeLifecycleAction =
  /** `from`: what it is made of: the node as it was seen, or as an earlier action of the same list writes it. */
  | { readonly do: 'update' | 'updateStatus'; readonly object: Node; readonly from: Node }
  | { readonly do: 'mark-pod'; readonly pod: Pod }
  /** The node has used its turn: the next of its zone has to wait. */
  | { readonly do: 'take-turn' }
  | { readonly do: 'tell'; readonly about: Pod | ObjectReference; readonly report: EventDraft };

export type NodeLifecycleDecision = Decision<NodeLifecycleAction>;

/** The component that Kubernetes names in these events. */
export const eventSource = 'node-controller';
