import type { Node, ObjectReference, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Decision, EventDraft } from '../../../client/decision.ts';

export type NodeLifecycleAction =
  /** `from`: the node of the snapshot, or what an earlier action of the same list writes. */
  | { readonly do: 'update' | 'updateStatus'; readonly object: Stored<Node>; readonly from: Stored<Node> }
  | { readonly do: 'mark-pod'; readonly pod: Stored<Pod> }
  /** The node has used its eviction slot: the next node of the zone has to wait. */
  | { readonly do: 'take-turn' }
  | { readonly do: 'tell'; readonly about: Stored<Pod> | ObjectReference; readonly report: EventDraft };

export type NodeLifecycleDecision = Decision<NodeLifecycleAction>;

/** The `source.component` of the events, as in Kubernetes. */
export const eventSource = 'node-controller';
