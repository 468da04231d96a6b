import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { Decision, RecordEvent } from '../../client/decision.ts';
import type { Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';

/** Creates the claim, and tells its pods. */
export interface Launch {
  readonly do: 'launch';
  readonly object: NodeClaim;
  readonly pods: readonly Stored<Pod>[];
}

/** The node is counted on: it is not disrupted for a while. */
export interface Nominate {
  readonly do: 'nominate';
  /** Of the Node or the NodeClaim. */
  readonly name: string;
}

export type ProvisioningAction = Launch | Nominate | RecordEvent;
export type ProvisioningDecision = Decision<ProvisioningAction>;
