import type { Deployment, ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Decision, EventDraft } from '../../../client/decision.ts';
import type { OwnershipAction } from '../../pods/ownership.ts';

/** Everything that the controller may do. */
export type DeploymentAction =
  | OwnershipAction
  /** If the server refuses it, the Deployment gets an event and a condition. */
  | { readonly do: 'createSet'; readonly deployment: Stored<Deployment>; readonly set: ReplicaSet }
  /** `from`: the object of the snapshot, or what an earlier action of the same list writes. */
  | { readonly do: 'update'; readonly object: Stored<ReplicaSet> | Stored<Deployment>; readonly from: Stored<ReplicaSet> | Stored<Deployment> }
  | { readonly do: 'updateStatus'; readonly object: Stored<Deployment>; readonly from: Stored<Deployment> }
  | { readonly do: 'delete'; readonly object: Stored<ReplicaSet> }
  | { readonly do: 'tell'; readonly about: Stored<Deployment>; readonly report: EventDraft };

export type DeploymentDecision = Decision<DeploymentAction>;

export const decided = (code: string, text: string, actions: readonly DeploymentAction[] = []): DeploymentDecision => ({ actions, reasons: [{ code, text }] });
