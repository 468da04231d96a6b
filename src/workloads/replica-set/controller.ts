import type { Pod, ReplicaSet } from '../../api/generated/types.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import { replicaSetKind } from '../../api/kinds/workloads/replica-set.ts';
import { type Change, keyOf } from '../../machinery/cache.ts';
import type { Informers } from '../../machinery/informers.ts';
import { type Controller, source } from '../../machinery/loop.ts';
import { controllerOf, controllerUidOrNamespace, orphansOf } from '../pods/ownership.ts';
import { sameEntries, selects } from '../pods/selector.ts';
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
  const setsByOwner = sets.addIndex(controllerUidOrNamespace);
  const podsByOwner = informers.cache(podKind).addIndex(controllerUidOrNamespace);
  const podsOf = ({ metadata }: ReplicaSet): readonly Pod[] => podsByOwner.get(metadata.uid ?? '');
  return {
    name: 'replica-set',
    sources: [
      source(replicaSetKind, ({ before, after }) => [keyOf((after ?? before)?.metadata ?? {})]),
      source(podKind, (change) => wokenByPod(change, (namespace) => sets.inNamespace(namespace))),
    ],
    snapshot(key) {
      const set = sets.getKey(key);
      if (set === undefined) return undefined;
      const owner = controllerOf(set);
      return {
        set,
        candidates: [...podsOf(set), ...podsByOwner.get(orphansOf(set.metadata.namespace))],
        related: () => (owner === undefined ? [] : setsByOwner.get(owner.uid).flatMap(podsOf)),
      };
    },
    decide: decideReplicas,
    perform: (action) => perform(action, means),
    parallelism: 16,
  };
}

/** The set that a pod belongs to or belonged to; of a pod that is nobody's, and that is news, every set that selects it. */
function wokenByPod({ before, after }: Change<Pod>, setsIn: (namespace: string) => readonly ReplicaSet[]): readonly string[] {
  const owners = [before, after].flatMap((pod) => {
    const owner = pod === undefined ? undefined : controllerOf(pod);
    return owner?.kind === replicaSetKind.kind ? [keyOf({ namespace: pod?.metadata.namespace, name: owner.name })] : [];
  });
  if (after === undefined || controllerOf(after) !== undefined || !isNews(before, after)) return owners;
  const { namespace = '', labels } = after.metadata;
  return [...owners, ...setsIn(namespace).flatMap(({ metadata, spec }) => (selects(spec.selector, labels) ? [keyOf(metadata)] : []))];
}

const isNews = (before: Pod | undefined, after: Pod): boolean =>
  before === undefined || controllerOf(before) !== undefined || !sameEntries(before.metadata.labels, after.metadata.labels);
