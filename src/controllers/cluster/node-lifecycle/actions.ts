import type { Node, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Decision, ObjectWrite, RecordEvent } from '../../../client/decision.ts';

export type NodeLifecycleAction =
  | ObjectWrite<Stored<Node>>
  | { readonly do: 'markPod'; readonly pod: Stored<Pod> }
  /** The node has used its eviction slot: the next node of the zone has to wait. */
  | { readonly do: 'takeSlot' }
  | RecordEvent;

export type NodeLifecycleDecision = Decision<NodeLifecycleAction>;
