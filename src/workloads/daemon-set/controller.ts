import type { ControllerRevision, DaemonSet, Node } from '../../api/generated/types.ts';
import { nodeKind } from '../../api/kinds/node.ts';
import { controllerRevisionKind } from '../../api/kinds/workloads/controller-revision.ts';
import { daemonSetKind } from '../../api/kinds/workloads/daemon-set.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import { type Cache, type Change, keyOf } from '../../machinery/cache.ts';
import type { Informers } from '../../machinery/informers.ts';
import { type Controller, source } from '../../machinery/loop.ts';
import { sortedJson } from '../pods/hash.ts';
import { Orphans } from '../pods/orphans.ts';
import { controllerUid } from '../pods/ownership.ts';
import { ownersOf } from '../pods/waking.ts';
import type { Action } from './actions.ts';
import { decideDaemonSet, type Snapshot } from './decide.ts';
import { demandsOf, verdictOn } from './eligibility.ts';
import { type Means, Performer } from './perform.ts';

export interface DaemonSetOptions extends Means {
  readonly informers: Informers;
}

/** The component that Kubernetes names in these events. */
export const eventSource = 'daemonset-controller';

/** Gives every node its pod. Keys are those of DaemonSets: 'namespace/name'. */
export function daemonSetController({ informers, ...means }: DaemonSetOptions): Controller<string, Snapshot, Action> {
  const sets = informers.cache(daemonSetKind);
  const nodes = informers.cache(nodeKind);
  const revisions = informers.cache(controllerRevisionKind);
  const pods = informers.cache(podKind);
  const [podsByOwner, revisionsByOwner] = [pods.addIndex(controllerUid), revisions.addIndex(controllerUid)];
  const [orphanPods, orphanRevisions] = [new Orphans(pods), new Orphans(revisions)];
  const owners = { kind: daemonSetKind.kind, inNamespace: (namespace: string) => sets.inNamespace(namespace) };
  const performer = new Performer(means);
  return {
    name: 'daemon-set',
    sources: [
      source(daemonSetKind, ({ before, after }) => [keyOf((after ?? before)?.metadata ?? {})]),
      source(podKind, (change) => ownersOf(change, owners)),
      source<ControllerRevision, string>(controllerRevisionKind, (change) => ownersOf(change, owners)),
      source(nodeKind, (change) => wokenByNode(change, sets)),
    ],
    snapshot(key) {
      const set = sets.getKey(key);
      if (set === undefined) return undefined;
      const { namespace, uid = '' } = set.metadata;
      return {
        set,
        candidates: [...podsByOwner.get(uid), ...orphanPods.near(namespace, set.spec.selector)],
        revisions: [...revisionsByOwner.get(uid), ...orphanRevisions.near(namespace, set.spec.selector)],
        revisionNamed: (name) => revisions.get({ namespace, name }),
        nodes: [...nodes.list()],
        failureOn: (failure) => performer.failures.get(failure),
      };
    },
    decide: decideDaemonSet,
    perform: (action) => performer.perform(action),
    parallelism: 16,
  };
}

/** Of a node only its labels and taints matter, and of those only what they mean to a set. */
function wokenByNode({ before, after }: Change<Node>, sets: Cache<DaemonSet>): readonly string[] {
  if (before !== undefined && after !== undefined && isSameTo(before, after)) return [];
  return Array.from(sets.list()).flatMap((set) => {
    const demands = demandsOf(set);
    const [then, now] = [before, after].map((node) => (node === undefined ? undefined : verdictOn(node, demands)));
    return then === now ? [] : [keyOf(set.metadata)];
  });
}

const isSameTo = (a: Node, b: Node): boolean => sortedJson([a.metadata.labels, a.spec.taints]) === sortedJson([b.metadata.labels, b.spec.taints]);
