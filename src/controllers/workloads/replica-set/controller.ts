import type { Pod, ReplicaSet } from '../../../api/generated/types.ts';
import { untypedKind } from '../../../api/kind.ts';
import type { Stored } from '../../../api/stored.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import type { KubeObject } from '../../../api/object.ts';
import { keyOf } from '../../../client/informers/cache.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, source } from '../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import { OrphanIndex } from '../../pods/orphan-index.ts';
import { controllerOf, controllerUid } from '../../pods/ownership.ts';
import { ownerKeys } from '../../pods/owner-keys.ts';
import { PodViews } from '../../pods/pod-views.ts';
import type { ReplicaSetAction } from './actions.ts';
import { decideReplicas, type ReplicaSetSnapshot } from './decide.ts';
import { PodsView } from './pods-view.ts';
import { type ReplicaSetContext, replicaSetHandlers } from './perform.ts';
import { toWritten, type Variant } from './variants.ts';

export interface ReplicaSetOptions extends ReplicaSetContext {
  readonly informers: Informers;
}

/** Keeps the number of pods of ReplicaSets, or of ReplicationControllers. Keys are theirs: 'namespace/name'. */
export function replicaSetController<T extends KubeObject>(
  { kind, name, toReplicaSet }: Variant<T>,
  { informers, ...context }: ReplicaSetOptions,
): Controller<string, ReplicaSetSnapshot, ReplicaSetAction> {
  const sets = informers.cache(kind);
  const setsByOwner = sets.addIndex(controllerUid);
  const podsByOwner = informers.cache(podKind).addIndex(controllerUid);
  const orphans = new OrphanIndex(informers.cache(podKind));
  const podsOf = ({ metadata }: Stored): readonly Stored<Pod>[] => podsByOwner.get(metadata.uid);
  const views = new PodViews({ informers, kind: untypedKind(kind), make: (set: Stored<ReplicaSet>, pods) => new PodsView(set, pods) });
  const writer = new ObjectWriter(context.client, [untypedKind(kind)]);
  return defineController({
    name,
    sources: [
      views,
      source(kind, ({ before, after }) => [keyOf((after ?? before)?.metadata ?? {})]),
      source(podKind, (change) => ownerKeys(change, { kind: kind.kind, inNamespace: (namespace) => sets.inNamespace(namespace).map(toReplicaSet) })),
    ],
    snapshot(key) {
      const object = sets.getKey(key);
      if (object === undefined) return undefined;
      const set = toReplicaSet(object);
      const owner = controllerOf(set);
      return {
        set,
        pods: views.of(set),
        orphans: orphans.candidates(set.metadata.namespace, set.spec.selector),
        related: () => (owner === undefined ? [] : setsByOwner.get(owner.uid).flatMap(podsOf)),
      };
    },
    decide: decideReplicas,
    writer: { perform: (write) => writer.perform(write.do === 'updateStatus' ? { ...write, object: toWritten(write.object as ReplicaSet) } : write) },
    actions: replicaSetHandlers(context),
    parallelism: 16,
  });
}
