import type { Node, Pod } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { Decision, ObjectWrite, RecordEvent } from '../../client/decision.ts';

/** By the eviction API: disruption budgets hold. A refusal is no failure, the pod is asked for again later. */
export interface EvictPod {
  readonly do: 'evict';
  readonly object: Pod;
  readonly reason: string;
}

/** The node has a deadline: budgets do not hold any more. */
export interface DeletePod {
  readonly do: 'deletePod';
  readonly object: Pod;
  readonly gracePeriodSeconds: number;
}

/** Asks the cloud to end the instance, or, with `check`, whether it exists. The answer is remembered for the next pass. */
export interface AskCloud {
  readonly do: 'terminateInstance' | 'checkInstance';
  readonly object: Node;
  readonly providerID: string;
}

export type TerminationAction = EvictPod | DeletePod | AskCloud | ObjectWrite<Node | NodeClaim> | RecordEvent;
export type TerminationDecision = Decision<TerminationAction>;
