import type { Pod, ReplicaSet } from '../../api/generated/types.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import { replicaSetKind } from '../../api/kinds/workloads/replica-set.ts';
import { keyOf } from '../../machinery/cache.ts';
import type { Informers } from '../../machinery/informers.ts';
import { type Controller, source } from '../../machinery/loop.ts';
import { Orphans } from '../pods/orphans.ts';
import { controllerOf, controllerUid } from '../pods/ownership.ts';
import { ownersOf } from '../pods/waking.ts';
import type { Action } from './actions.ts';
import { decideReplicas, type Snapshot } from './decide.ts';
import { type Means, perform } from './perform.ts';

export interface ReplicaSetOptions extends Means {
  readonly informers: Informers;
}

/** The component that Kubernetes names in these events. */
export const eventSource = 'replicaset-controller';

/** Gives every ReplicaSet its pods. Keys are those of ReplicaSets: 'namespace/name'. */
export function replicaSetController({ informers, ...means }: ReplicaSetOptions): Controller<string, Snapshot, Action> {
  const sets = informers.cache(replicaSetKind);
  const setsByOwner = sets.addIndex(controllerUid);
  const podsByOwner = informers.cache(podKind).addIndex(controllerUid);
  const orphans = new Orphans(informers.cache(podKind));
  const podsOf = ({ metadata }: ReplicaSet): readonly Pod[] => podsByOwner.get(metadata.uid ?? '');
  return {
    name: 'replica-set',
    sources: [
      source(replicaSetKind, ({ before, after }) => [keyOf((after ?? before)?.metadata ?? {})]),
      source(podKind, (change) => ownersOf(change, { kind: replicaSetKind.kind, inNamespace: (namespace) => sets.inNamespace(namespace) })),
    ],
    snapshot(key) {
      const set = sets.getKey(key);
      if (set === undefined) return undefined;
      const owner = controllerOf(set);
      return {
        set,
        candidates: [...podsOf(set), ...orphans.near(set.metadata.namespace, set.spec.selector)],
        related: () => (owner === undefined ? [] : setsByOwner.get(owner.uid).flatMap(podsOf)),
      };
    },
    decide: decideReplicas,
    perform: (action) => perform(action, means),
    parallelism: 16,
  };
}
