import type { Pod } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import { type NodeClaim, nodeClaimKind } from '../../api/kinds/karpenter/node-claim.ts';
import { nodePoolKind } from '../../api/kinds/karpenter/node-pool.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { Client } from '../../client/client.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, source } from '../../client/controller/loop.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { ObjectWrite } from '../../client/decision.ts';
import { type Change, changedObject } from '../../client/informers/cache.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import type { Clock } from '../../world/world.ts';
import type { ClusterState } from '../cluster-state.ts';
import { labels } from '../labels.ts';
import { isOwnedByDaemonSet } from '../pods.ts';
import { decideMarking, type MarkingSnapshot } from './decide.ts';
import { driftOf } from './drift.ts';

export interface MarkingOptions {
  readonly state: ClusterState;
  readonly client: Client;
  readonly clock: Clock;
  readonly sha256: (text: string) => string;
}

/** Marks NodeClaims that may be disrupted, and ends those that are too old. */
export function nodeClaimMarking({ state, client, clock, sha256 }: MarkingOptions): Controller<string, MarkingSnapshot, ObjectWrite<NodeClaim>> {
  /** By the name of the claim. */
  const podEvents = new Map<string, number>();
  const podChanged = (change: Change<Pod>): readonly string[] => {
    const node = isPodEvent(change) ? state.nodes.getKey((change.after ?? change.before)?.spec.nodeName ?? '') : undefined;
    const claim = node === undefined ? undefined : state.claimOf(node)?.metadata.name;
    if (claim === undefined) return [];
    podEvents.set(claim, clock.now());
    return [claim];
  };
  return defineController<string, MarkingSnapshot, ObjectWrite<NodeClaim>>({
    name: 'nodeclaim-marking',
    sources: [
      source(nodeClaimKind, (change) => {
        const { name } = changedObject(change).metadata;
        if (change.after === undefined) podEvents.delete(name);
        return [name];
      }),
      source(nodePoolKind, (change) => state.claimsOf(changedObject(change).metadata.name).map(({ metadata }) => metadata.name)),
      source(podKind, podChanged),
    ],
    snapshot: (name) => {
      const claim = state.claims.getKey(name);
      if (claim === undefined) return undefined;
      const pool = state.pools.getKey(claim.metadata.labels?.[labels.nodePool] ?? '');
      const drift = (pool === undefined ? undefined : driftOf(claim, pool, sha256)) ?? state.provider.isDrifted(claim);
      return { claim, pool, drift, podEventAt: podEvents.get(name) };
    },
    decide: decideMarking,
    writer: new ObjectWriter(client, [untypedKind(nodeClaimKind)]),
    actions: {},
  });
}

/** The pod was bound, ended, or is being deleted. */
function isPodEvent({ before, after }: Change<Pod>): boolean {
  const pod = after ?? before;
  if (pod === undefined || (pod.spec.nodeName ?? '') === '' || isOwnedByDaemonSet(pod)) return false;
  if (after === undefined || before === undefined) return after === undefined;
  const isBound = (before.spec.nodeName ?? '') === '';
  const hasBegunToEnd = before.metadata.deletionTimestamp === undefined && after.metadata.deletionTimestamp !== undefined;
  return isBound || hasBegunToEnd || (!hasEnded(before) && hasEnded(after));
}
