import type { CSINode, Node } from '../../api/generated/types.ts';
import type { Decision } from '../../client/decision.ts';

/** What an agent does about its node. */
export type NodeAction =
  | { readonly do: 'create-node' | 'update-node'; readonly object: Node }
  /** From now on the agent does not re-create what others delete. */
  | { readonly do: 'registered' }
  | { readonly do: 'create-csi-node' | 'update-csi-node' | 'delete-csi-node'; readonly object: CSINode }
  /** Node and CSINode name the driver, or do not any more. */
  | { readonly do: 'driver-installed' | 'driver-uninstalled'; readonly driver: string }
  /** They cannot name it. */
  | { readonly do: 'refuse-driver'; readonly driver: string; readonly error: string }
  /** The Node's status, with volumesInUse. */
  | { readonly do: 'report'; readonly object: Node }
  | RecordNodeEvent;

export interface RecordNodeEvent {
  readonly do: 'record-event';
  readonly about: Node;
  readonly reason: string;
  readonly message: string;
  /** That the event was recorded, for events that are recorded once. */
  readonly remember?: { readonly unschedulable: boolean };
}

export type NodeDecision = Decision<NodeAction>;
