/** What a NodePool has, and whether it can launch anything (Karpenter's nodepool.counter, nodepool.readiness). */
import type { Condition } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { NodePool } from '../../api/kinds/karpenter/node-pool.ts';
import { addQuantities, formatQuantity } from '../../api/quantity.ts';
import { sortedJson } from '../../api/sorted-json.ts';
import { type Decision, type ObjectWrite, updateStatus } from '../../client/decision.ts';
import { timeText } from '../node-claims.ts';

export interface PoolStatusSnapshot {
  readonly pool: NodePool;
  readonly claims: readonly NodeClaim[];
  /** Whether the cloud knows the class that the NodePool names. */
  readonly hasNodeClass: boolean;
}

export function decidePoolStatus({ pool, claims, hasNodeClass }: PoolStatusSnapshot, now: number): Decision<ObjectWrite<NodePool>> {
  const launched = claims.flatMap(({ status }) => (status?.capacity === undefined ? [] : [status.capacity]));
  const isReady = hasNodeClass ? 'True' : 'False';
  const nodeClass = hasNodeClass ? {} : { reason: 'NodeClassNotFound', message: 'NodeClass not found on cluster' };
  const drafts = [
    { type: 'ValidationSucceeded', status: 'True' },
    { type: 'NodeClassReady', status: isReady, ...nodeClass },
    { type: 'Ready', status: isReady, ...(hasNodeClass ? {} : { reason: 'UnhealthyDependents', message: 'NodeClassReady=False' }) },
  ];
  const status = {
    ...pool.status,
    nodes: launched.length,
    resources: { ...sumOf(launched), nodes: String(launched.length) },
    conditions: drafts.map((draft) => conditionOf(draft, pool, now)),
  };
  const isSame = sortedJson(status) === sortedJson(pool.status ?? {});
  return { actions: isSame ? [] : updateStatus(pool, { ...pool, status }), reasons: [] };
}

function sumOf(capacities: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const sum: Record<string, string> = {};
  for (const capacity of capacities) for (const [name, amount] of Object.entries(capacity)) sum[name] = formatQuantity(addQuantities(sum[name] ?? '0', amount));
  return sum;
}

interface ConditionDraft {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The time of the last change of its status stays. */
function conditionOf({ type, status, reason = type, message = '' }: ConditionDraft, { metadata, status: known }: NodePool, now: number): Condition {
  const before = known?.conditions?.find((condition) => condition.type === type);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : timeText(now);
  const observed = metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
  return { type, status, reason, message, lastTransitionTime, ...observed };
}
