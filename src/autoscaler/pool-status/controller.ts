import { untypedKind } from '../../api/kind.ts';
import { ec2NodeClassKind } from '../../api/kinds/karpenter/ec2-node-class.ts';
import { nodeClaimKind } from '../../api/kinds/karpenter/node-claim.ts';
import { type NodePool, nodePoolKind } from '../../api/kinds/karpenter/node-pool.ts';
import type { Client } from '../../client/client.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, source } from '../../client/controller/loop.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { ObjectWrite } from '../../client/decision.ts';
import { changedObject } from '../../client/informers/cache.ts';
import type { ClusterState } from '../cluster-state.ts';
import { labels } from '../labels.ts';
import { decidePoolStatus, type PoolStatusSnapshot } from './decide.ts';

/** Keeps the status of each NodePool up. */
export function nodePoolStatus({
  state,
  client,
}: {
  readonly state: ClusterState;
  readonly client: Client;
}): Controller<string, PoolStatusSnapshot, ObjectWrite<NodePool>> {
  return defineController<string, PoolStatusSnapshot, ObjectWrite<NodePool>>({
    name: 'nodepool-status',
    sources: [
      source(nodePoolKind, (change) => [changedObject(change).metadata.name]),
      source(nodeClaimKind, (change) => {
        const pool = changedObject(change).metadata.labels?.[labels.nodePool];
        return pool === undefined ? [] : [pool];
      }),
      source(ec2NodeClassKind, () => Array.from(state.pools.list(), ({ metadata }) => metadata.name)),
    ],
    snapshot: (name) => {
      const pool = state.pools.getKey(name);
      if (pool === undefined) return undefined;
      return { pool, claims: state.claimsOf(name), hasNodeClass: state.provider.instanceTypes(pool.spec.template.spec.nodeClassRef) !== undefined };
    },
    decide: decidePoolStatus,
    writer: new ObjectWriter(client, [untypedKind(nodePoolKind)]),
    actions: {},
  });
}
