import type { Deployment, ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Decision, ObjectWrite, RecordEvent } from '../../../client/decision.ts';
import type { OwnershipAction } from '../../pods/ownership.ts';

/** Everything that the controller may do. */
export type DeploymentAction =
  | OwnershipAction
  /** If the server refuses it, the Deployment gets an event and a condition. */
  | { readonly do: 'createSet'; readonly deployment: Stored<Deployment>; readonly set: ReplicaSet }
  | ObjectWrite<Stored<Deployment>>
  | ObjectWrite<Stored<ReplicaSet>>
  | RecordEvent;

export type DeploymentDecision = Decision<DeploymentAction>;

export const decided = (code: string, text: string, actions: readonly DeploymentAction[] = []): DeploymentDecision => ({ actions, reasons: [{ code, text }] });
