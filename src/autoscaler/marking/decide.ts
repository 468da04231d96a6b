/** What may be disrupted, and when: the conditions Consolidatable and Drifted, and expiration (Karpenter's nodeclaim/disruption, expiration, podevents). */
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { NodePool } from '../../api/kinds/karpenter/node-pool.ts';
import { type Decision, type ObjectWrite, updateStatus } from '../../client/decision.ts';
import { conditionOf, durationMs, isTrue, timeText, withConditions, withoutCondition } from '../node-claims.ts';

export interface MarkingSnapshot {
  readonly claim: NodeClaim;
  readonly pool: NodePool | undefined;
  /** Why the node is not what its NodePool, or its class, asks for now. */
  readonly drift: string | undefined;
  /** When a pod came to the node, or ended there, last; undefined: not since this process started. */
  readonly podEventAt: number | undefined;
}

/** Pods come and go often: so long one write is enough. */
const podEventMs = 10_000;

export function decideMarking(snapshot: MarkingSnapshot, now: number): Decision<ObjectWrite<NodeClaim>> {
  const { claim, pool } = snapshot;
  if (claim.metadata.deletionTimestamp !== undefined) return { actions: [], reasons: [] };
  const expiry = durationMs(claim.spec.expireAfter);
  const expiresAt = expiry === undefined ? undefined : Date.parse(claim.metadata.creationTimestamp ?? '') + expiry;
  if (expiresAt !== undefined && now >= expiresAt)
    return { actions: [{ do: 'delete', object: claim }], reasons: [{ code: 'Expired', text: `the node is older than ${claim.spec.expireAfter ?? ''}` }] };
  const timed = withPodEvent(snapshot, now);
  const drifted = withDrift(timed, snapshot.drift, now);
  const { claim: marked, at } = pool === undefined ? { claim: drifted, at: undefined } : withConsolidatable(drifted, pool, now);
  const next = [expiresAt, at].filter((time) => time !== undefined);
  return { actions: updateStatus(claim, marked), reasons: [], ...(next.length === 0 ? {} : { again: Math.min(...next) }) };
}

function withPodEvent({ claim, podEventAt }: MarkingSnapshot, now: number): NodeClaim {
  if (podEventAt === undefined) return claim;
  const known = claim.status?.lastPodEventTime;
  if (known !== undefined && podEventAt - Date.parse(known) < podEventMs) return claim;
  return { ...claim, status: { ...claim.status, lastPodEventTime: timeText(Math.min(podEventAt, now)) } };
}

function withDrift(claim: NodeClaim, drift: string | undefined, now: number): NodeClaim {
  if (!isTrue(claim, 'Launched') || drift === undefined) return withoutCondition(claim, 'Drifted');
  return withConditions(claim, [{ type: 'Drifted', status: 'True', reason: drift, message: drift }], now);
}

function withConsolidatable(claim: NodeClaim, { spec }: NodePool, now: number): { readonly claim: NodeClaim; readonly at: number | undefined } {
  const after = durationMs(spec.disruption?.consolidateAfter ?? '0s');
  const initialized = conditionOf(claim, 'Initialized');
  if (after === undefined || initialized?.status !== 'True') return { claim: withoutCondition(claim, 'Consolidatable'), at: undefined };
  const since = Date.parse(claim.status?.lastPodEventTime ?? initialized.lastTransitionTime ?? '');
  if (now < since + after) return { claim: withoutCondition(claim, 'Consolidatable'), at: since + after };
  return { claim: withConditions(claim, [{ type: 'Consolidatable', status: 'True' }], now), at: undefined };
}
