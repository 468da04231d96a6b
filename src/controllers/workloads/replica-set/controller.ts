import type { Pod, ReplicaSet } from '../../../api/generated/types.ts';
import { untypedKind } from '../../../api/kind.ts';
import type { Stored } from '../../../api/stored.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { replicaSetKind } from '../../../api/kinds/apps/replica-set.ts';
import { keyOf } from '../../../client/informers/cache.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, source } from '../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import { OrphanIndex } from '../../pods/orphan-index.ts';
import { controllerOf, controllerUid } from '../../pods/ownership.ts';
import { ownerKeys } from '../../pods/owner-keys.ts';
import type { ReplicaSetAction } from './actions.ts';
import { decideReplicas, type ReplicaSetSnapshot } from './decide.ts';
import { type ReplicaSetContext, replicaSetHandlers } from './perform.ts';

export interface ReplicaSetOptions extends ReplicaSetContext {
  readonly informers: Informers;
}

/** Keeps the number of pods of ReplicaSets. Keys are those of ReplicaSets: 'namespace/name'. */
export function replicaSetController({ informers, ...context }: ReplicaSetOptions): Controller<string, ReplicaSetSnapshot, ReplicaSetAction> {
  const sets = informers.cache(replicaSetKind);
  const setsByOwner = sets.addIndex(controllerUid);
  const podsByOwner = informers.cache(podKind).addIndex(controllerUid);
  const orphans = new OrphanIndex(informers.cache(podKind));
  const podsOf = ({ metadata }: Stored<ReplicaSet>): readonly Stored<Pod>[] => podsByOwner.get(metadata.uid);
  return defineController({
    name: 'replica-set',
    sources: [
      source(replicaSetKind, ({ before, after }) => [keyOf((after ?? before)?.metadata ?? {})]),
      source(podKind, (change) => ownerKeys(change, { kind: replicaSetKind.kind, inNamespace: (namespace) => sets.inNamespace(namespace) })),
    ],
    snapshot(key) {
      const set = sets.getKey(key);
      if (set === undefined) return undefined;
      const owner = controllerOf(set);
      return {
        set,
        candidates: [...podsOf(set), ...orphans.candidates(set.metadata.namespace, set.spec.selector)],
        related: () => (owner === undefined ? [] : setsByOwner.get(owner.uid).flatMap(podsOf)),
      };
    },
    decide: decideReplicas,
    writer: new ObjectWriter(context.client, [untypedKind(replicaSetKind)]),
    actions: replicaSetHandlers(context),
    parallelism: 16,
  });
}
