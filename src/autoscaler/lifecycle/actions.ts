import type { Node } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { Decision, ObjectWrite, RecordEvent } from '../../client/decision.ts';

/** Asks the cloud for the instance of the claim; the answer is remembered, and decided on by the next pass. */
export interface LaunchInstance {
  readonly do: 'launchInstance';
  readonly object: NodeClaim;
}

/** Asks the cloud to end the instance; likewise. */
export interface TerminateInstance {
  readonly do: 'terminateInstance';
  readonly object: NodeClaim;
}

export type LifecycleAction = LaunchInstance | TerminateInstance | ObjectWrite<NodeClaim | Node> | RecordEvent;
export type LifecycleDecision = Decision<LifecycleAction>;
