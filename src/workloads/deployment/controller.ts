import type { Deployment, OwnerReference, Pod, ReplicaSet } from '../../api/generated/types.ts';
import { deploymentKind } from '../../api/kinds/workloads/deployment.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import { replicaSetKind } from '../../api/kinds/workloads/replica-set.ts';
import { type Cache, type Change, keyOf } from '../../machinery/cache.ts';
import type { Informers } from '../../machinery/informers.ts';
import { type Controller, source } from '../../machinery/loop.ts';
import { controllerOf, controllerUidOrNamespace, orphansOf } from '../pods/ownership.ts';
import { sameEntries, selects } from '../pods/selector.ts';
import type { Action } from './actions.ts';
import { decideRollout, type Snapshot } from './decide.ts';
import { type Means, performer } from './perform.ts';

export interface DeploymentOptions extends Means {
  readonly informers: Informers;
}

/** The component that Kubernetes names in these events. */
export const eventSource = 'deployment-controller';

/** Rolls out the templates of Deployments. Keys are those of Deployments: 'namespace/name'. */
export function deploymentController({ informers, ...means }: DeploymentOptions): Controller<string, Snapshot, Action> {
  const deployments = informers.cache(deploymentKind);
  const sets = informers.cache(replicaSetKind);
  const setsByOwner = sets.addIndex(controllerUidOrNamespace);
  const podsByOwner = informers.cache(podKind).addIndex(controllerUidOrNamespace);
  return {
    name: 'deployment',
    sources: [
      source(deploymentKind, ({ before, after }) => [keyOf((after ?? before)?.metadata ?? {})]),
      source(replicaSetKind, (change) => wokenBySet(change, (namespace) => deployments.inNamespace(namespace))),
      source(podKind, ({ before, after }) => (before === undefined || after !== undefined ? [] : wokenByLostPod(before, sets, deployments))),
    ],
    snapshot(key) {
      const deployment = deployments.getKey(key);
      if (deployment === undefined) return undefined;
      const { namespace, uid = '' } = deployment.metadata;
      return {
        deployment,
        candidates: [...setsByOwner.get(uid), ...setsByOwner.get(orphansOf(namespace))],
        named: (name) => sets.get({ namespace, name }),
        podsOf: ({ metadata }) => podsByOwner.get(metadata.uid ?? ''),
      };
    },
    decide: decideRollout,
    perform: performer(means),
    parallelism: 16,
  };
}

/** The deployment that a set belongs to or belonged to; of a set that is nobody's, and that is news, every deployment that selects it. */
function wokenBySet({ before, after }: Change<ReplicaSet>, deploymentsIn: (namespace: string) => readonly Deployment[]): readonly string[] {
  const owners = [before, after].flatMap((set) => (set === undefined ? [] : ownerKey(set, deploymentKind.kind)));
  if (after === undefined || controllerOf(after) !== undefined || !isNews(before, after)) return owners;
  const { namespace = '', labels } = after.metadata;
  return [...owners, ...deploymentsIn(namespace).flatMap(({ metadata, spec }) => (selects(spec.selector, labels) ? [keyOf(metadata)] : []))];
}

const isNews = (before: ReplicaSet | undefined, after: ReplicaSet): boolean =>
  before === undefined || controllerOf(before) !== undefined || !sameEntries(before.metadata.labels, after.metadata.labels);

/** Who recreates waits for the last old pod, also for one that its set no longer counts because it lost its label while it was ending. */
function wokenByLostPod(pod: Pod, sets: Cache<ReplicaSet>, deployments: Cache<Deployment>): readonly string[] {
  return ownerKey(pod, replicaSetKind.kind)
    .flatMap((key) => sets.getKey(key) ?? [])
    .flatMap((set) => ownerKey(set, deploymentKind.kind))
    .filter((key) => deployments.getKey(key)?.spec.strategy.type === 'Recreate');
}

function ownerKey(object: Pod | ReplicaSet, kind: string): readonly string[] {
  const owner: OwnerReference | undefined = controllerOf(object);
  return owner?.kind === kind ? [keyOf({ namespace: object.metadata.namespace, name: owner.name })] : [];
}
