/** NodeClaims: how they are made, and their conditions. */
import type { Condition } from '../api/generated/types.ts';
import { parseGoDuration } from '../api/go-duration.ts';
import type { NodeClaim } from '../api/kinds/karpenter/node-claim.ts';
import type { NodePool } from '../api/kinds/karpenter/node-pool.ts';
import { sortedJson } from '../api/sorted-json.ts';
import { annotations, labels } from './labels.ts';
import type { PlannedNode } from './provisioning/planned-node.ts';
import { bytesText } from './provisioning/refusal-text.ts';
import { combined, expressionsOf } from './requirements/requirements.ts';
import { exactly } from './requirements/value-set.ts';

type Sha256 = (text: string) => string;

/** Changes of the hash's own form are no drift. */
const hashVersion = 'v3';

/** Of what drifts if it changes; requirements are compared with the node's labels. */
export function nodePoolHash({ spec: { template } }: NodePool, sha256: Sha256): string {
  const { taints, startupTaints, expireAfter, terminationGracePeriod, nodeClassRef } = template.spec;
  const { labels: ofNode, annotations: noted } = template.metadata ?? {};
  const lists = { labels: filled(ofNode), annotations: filled(noted), taints: filled(taints), startupTaints: filled(startupTaints) };
  const hashed = { ...lists, expireAfter, terminationGracePeriod, nodeClassRef };
  return BigInt(`0x${sha256(sortedJson(hashed)).slice(0, 16)}`).toString();
}

/** An empty list or map is the same as none (hashstructure's IgnoreZeroValue). */
const filled = <T extends object>(value: T | undefined): T | undefined => (value === undefined || Object.keys(value).length === 0 ? undefined : value);

/** As the cloud accepts them at most, the cheapest. */
const mostTypes = 600;

export interface NewClaim {
  readonly node: PlannedNode;
  readonly isTaken: (name: string) => boolean;
  readonly sha256: Sha256;
}

/**
 * The NodeClaim of a planned node. Its name follows from the pods that it is for: a second attempt for the same pods after a lost answer is refused, not
 * launched.
 */
export function nodeClaimFor({ node, isTaken, sha256 }: NewClaim): NodeClaim {
  const {
    pool: { object: pool },
    pods,
    types,
  } = node;
  const {
    metadata: { name = '', uid = '' },
    spec: { template },
  } = pool;
  const names = types.slice(0, mostTypes).map(({ type }) => type.name);
  const requirements = combined(node.finalRequirements, new Map([[labels.instanceType, exactly(...names)]]));
  const { nodeClassRef, taints, startupTaints, expireAfter, terminationGracePeriod } = template.spec;
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name: freeName(
        name,
        [...pods]
          .map((pod) => pod.uid)
          .sort()
          .join(),
        { isTaken, sha256 },
      ),
      labels: {
        ...template.metadata?.labels,
        [labels.nodePool]: name,
        [`${nodeClassRef.group}/${nodeClassRef.kind.toLowerCase()}`]: nodeClassRef.name,
      },
      annotations: {
        ...template.metadata?.annotations,
        [annotations.nodePoolHash]: nodePoolHash(pool, sha256),
        [annotations.nodePoolHashVersion]: hashVersion,
      },
      ownerReferences: [{ apiVersion: pool.apiVersion, kind: pool.kind, name, uid, blockOwnerDeletion: true }],
    },
    spec: {
      nodeClassRef,
      requirements: expressionsOf(requirements),
      resources: { requests: requestsOf(node) },
      ...(taints === undefined ? {} : { taints }),
      ...(startupTaints === undefined ? {} : { startupTaints }),
      ...(expireAfter === undefined ? {} : { expireAfter }),
      ...(terminationGracePeriod === undefined ? {} : { terminationGracePeriod }),
    },
  };
}

function requestsOf({ requests: { cpu, memory, ephemeralStorage, scalars }, pods }: PlannedNode): Record<string, string> {
  return {
    cpu: cpu % 1000 === 0 ? String(cpu / 1000) : `${cpu}m`,
    ...(memory === 0 ? {} : { memory: bytesText(memory) }),
    ...(ephemeralStorage === 0 ? {} : { 'ephemeral-storage': bytesText(ephemeralStorage) }),
    pods: String(pods.length),
    ...Object.fromEntries([...(scalars ?? [])].map(([name, amount]) => [name, String(amount)])),
  };
}

/** Those of generated names. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';

function freeName(pool: string, seed: string, { isTaken, sha256 }: Pick<NewClaim, 'isTaken' | 'sha256'>): string {
  for (let attempt = 0; ; attempt++) {
    let number = BigInt(`0x${sha256(`${pool}/${seed}/${attempt}`).slice(0, 15)}`);
    let suffix = '';
    for (let i = 0; i < 5; i++, number /= 27n) suffix += letters[Number(number % 27n)] ?? '';
    const name = `${pool}-${suffix}`;
    if (!isTaken(name)) return name;
  }
}

export const conditionOf = ({ status }: Pick<NodeClaim, 'status'>, type: string): Condition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);

export const isTrue = (claim: Pick<NodeClaim, 'status'>, type: string): boolean => conditionOf(claim, type)?.status === 'True';

/** Those that Ready consists of. */
const parts = ['Launched', 'Registered', 'Initialized'] as const;

export interface ConditionDraft {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** Of True: its type. */
  readonly reason?: string;
  readonly message?: string;
}

/** The claim with these conditions, and Ready as they make it; the same object if nothing differs. */
export function withConditions(claim: NodeClaim, drafts: readonly ConditionDraft[], now: number): NodeClaim {
  let conditions = [...(claim.status?.conditions ?? [])];
  for (const draft of drafts) conditions = setCondition(conditions, draft, { claim, now });
  for (const type of parts)
    if (!conditions.some((condition) => condition.type === type))
      conditions = setCondition(
        conditions,
        { type, status: 'Unknown', reason: 'AwaitingReconciliation', message: 'object is awaiting reconciliation' },
        { claim, now },
      );
  conditions = setCondition(conditions, readyOf(conditions), { claim, now });
  const before = claim.status?.conditions ?? [];
  const isSame = before.length === conditions.length && before.every((condition, i) => condition === conditions[i]);
  return isSame ? claim : { ...claim, status: { ...claim.status, conditions } };
}

/** Without the condition; the same object if it has none. */
export function withoutCondition(claim: NodeClaim, type: string): NodeClaim {
  if (conditionOf(claim, type) === undefined) return claim;
  return { ...claim, status: { ...claim.status, conditions: (claim.status?.conditions ?? []).filter((condition) => condition.type !== type) } };
}

function setCondition(
  conditions: readonly Condition[],
  draft: ConditionDraft,
  { claim, now }: { readonly claim: NodeClaim; readonly now: number },
): Condition[] {
  const { type, status, reason = type, message = '' } = draft;
  const index = conditions.findIndex((condition) => condition.type === type);
  const before = conditions[index];
  if (before?.status === status && before.reason === reason && before.message === message) return [...conditions];
  const isTransition = before?.status !== status;
  const lastTransitionTime = isTransition || before === undefined ? timeText(now) : before.lastTransitionTime;
  const observedGeneration = claim.metadata.generation === undefined ? {} : { observedGeneration: claim.metadata.generation };
  const after = { type, status, reason, message, lastTransitionTime, ...observedGeneration };
  return index === -1 ? [...conditions, after] : conditions.with(index, after);
}

function readyOf(conditions: readonly Condition[]): ConditionDraft {
  const wrong = parts.flatMap((type) => conditions.filter((condition) => condition.type === type && condition.status !== 'True'));
  if (wrong.length === 0) return { type: 'Ready', status: 'True' };
  const status = wrong.some((condition) => condition.status === 'False') ? 'False' : 'Unknown';
  return { type: 'Ready', status, reason: 'UnhealthyDependents', message: wrong.map((condition) => `${condition.type}=${condition.status}`).join(', ') };
}

/** RFC 3339, to the second. */
export const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** '1h30m' in milliseconds; undefined: 'Never', or none is set. */
export function durationMs(text: string | undefined): number | undefined {
  if (text === undefined || text === 'Never') return undefined;
  const duration = parseGoDuration(text);
  return duration.problem === undefined ? duration.seconds * 1000 : 0;
}
