import { untypedKind } from '../../api/kind.ts';
import { nodeClaimKind } from '../../api/kinds/karpenter/node-claim.ts';
import { nodePoolKind } from '../../api/kinds/karpenter/node-pool.ts';
import type { Client } from '../../client/client.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, source, Trigger } from '../../client/controller/loop.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { Clock } from '../../world/world.ts';
import { isFailure } from '../cloud-provider.ts';
import type { ClusterState } from '../cluster-state.ts';
import { decideGarbage, type GarbageAction, type GarbageSnapshot } from './decide.ts';

export interface GarbageCollectionOptions {
  readonly state: ClusterState;
  readonly client: Client;
  readonly clock: Clock;
}

/** Of the whole cloud. */
type GarbageKey = 'instances';

export function instanceGarbageCollection({ state, client, clock }: GarbageCollectionOptions): Controller<GarbageKey, GarbageSnapshot, GarbageAction> {
  const listed = new Trigger<GarbageKey>();
  let last: GarbageSnapshot['listed'];
  return defineController<GarbageKey, GarbageSnapshot, GarbageAction>({
    name: 'instance-garbage-collection',
    sources: [
      listed,
      source(nodePoolKind, () => ['instances']),
      source(nodeClaimKind, ({ before, after }) => (before === undefined || after === undefined ? ['instances'] : [])),
    ],
    snapshot: () =>
      state.isActive || state.claims.size > 0 ? { listed: last, claims: [...state.claims.list()], nodeOf: (claim) => state.nodeOf(claim) } : undefined,
    decide: decideGarbage,
    writer: new ObjectWriter(client, [untypedKind(nodeClaimKind)]),
    actions: {
      async listInstances() {
        const instances = await state.provider.list();
        if (isFailure(instances)) return { retry: instances.failed };
        last = { instances, at: clock.now() };
        listed.fire('instances');
        return 'done';
      },
      async endInstance({ providerID }) {
        const answer = await state.provider.delete(providerID);
        return isFailure(answer) ? { retry: answer.failed } : 'done';
      },
    },
  });
}
