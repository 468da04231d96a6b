import type { Pod, ReplicaSet, ReplicaSetStatus } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Decision, ObjectWrite } from '../../../client/decision.ts';
import type { OwnershipAction } from '../../pods/ownership.ts';

/** Everything that the controller may do. */
export type ReplicaSetAction =
  | OwnershipAction
  /** `status`: the status before the creation; written with a ReplicaFailure condition if a pod cannot be created. */
  | { readonly do: 'createPods'; readonly set: Stored<ReplicaSet>; readonly count: number; readonly status: ReplicaSetStatus }
  | { readonly do: 'deletePods'; readonly set: Stored<ReplicaSet>; readonly pods: readonly Stored<Pod>[]; readonly status: ReplicaSetStatus }
  | ObjectWrite<Stored<ReplicaSet>>;

export type ReplicaSetDecision = Decision<ReplicaSetAction>;
