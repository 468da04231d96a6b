import type { CSINode, Node } from '../../api/generated/types.ts';

/** What an agent does about its node. */
export type NodeAction =
  | { readonly do: 'create-node' | 'update-node'; readonly object: Node }
  /** From now on the node is others' to change: what they delete stays away. */
  | { readonly do: 'registered' }
  | { readonly do: 'create-csi-node' | 'update-csi-node' | 'delete-csi-node'; readonly object: CSINode }
  /** Its status; with it, which volumes it uses or will use. */
  | { readonly do: 'report'; readonly object: Node }
  | RecordNodeEvent;

export interface RecordNodeEvent {
  readonly do: 'record-event';
  readonly about: Node;
  readonly reason: string;
  readonly message: string;
  /** What it tells of that has to be told once only. */
  readonly remember?: { readonly unschedulable: boolean };
}

export interface NodeDecision {
  /** Any prefix may be all that happens. */
  readonly actions: readonly NodeAction[];
  readonly reasons: readonly { readonly code: string; readonly text: string }[];
  /** When to decide again although nothing changed; milliseconds since 1970. */
  readonly again?: number;
}
