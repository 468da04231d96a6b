import type { Pod, ReplicaSet, ReplicaSetStatus } from '../../../api/generated/types.ts';
import type { Decision } from '../../../client/decision.ts';
import type { OwnershipAction } from '../../pods/ownership.ts';

/** Everything that the controller may do to the world. */
export type ReplicaSetAction =
  | OwnershipAction
  /** `status`: what the set is like before; told, with the failure, if a pod cannot be made. */
  | { readonly do: 'createPods'; readonly set: ReplicaSet; readonly count: number; readonly status: ReplicaSetStatus }
  | { readonly do: 'deletePods'; readonly set: ReplicaSet; readonly pods: readonly Pod[]; readonly status: ReplicaSetStatus }
  | { readonly do: 'updateStatus'; readonly set: ReplicaSet; readonly status: ReplicaSetStatus };

export type ReplicaSetDecision = Decision<ReplicaSetAction>;
