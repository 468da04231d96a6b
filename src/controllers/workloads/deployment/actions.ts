import type { Deployment, ReplicaSet } from '../../../api/generated/types.ts';
import type { Decision, EventDraft } from '../../../client/decision.ts';
import type { OwnershipAction } from '../../pods/ownership.ts';

/** Everything that the controller may do to the world. */
export type DeploymentAction =
  | OwnershipAction
  /** If the server refuses it, the deployment is told. */
  | { readonly do: 'createSet'; readonly deployment: Deployment; readonly set: ReplicaSet }
  /** `from`: what it is made of: what was seen, or what an earlier action of the same list writes. */
  | { readonly do: 'update'; readonly object: ReplicaSet | Deployment; readonly from: ReplicaSet | Deployment }
  | { readonly do: 'updateStatus'; readonly object: Deployment; readonly from: Deployment }
  | { readonly do: 'delete'; readonly object: ReplicaSet }
  | { readonly do: 'tell'; readonly about: Deployment; readonly report: EventDraft };

export type DeploymentDecision = Decision<DeploymentAction>;

export const decided = (code: string, text: string, actions: readonly DeploymentAction[] = []): DeploymentDecision => ({ actions, reasons: [{ code, text }] });
