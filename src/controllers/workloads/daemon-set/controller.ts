import type { ControllerRevision, DaemonSet, Node } from '../../../api/generated/types.ts';
import { untypedKind } from '../../../api/kind.ts';
import type { Stored } from '../../../api/stored.ts';
import { nodeKind } from '../../../api/kinds/core/node.ts';
import { controllerRevisionKind } from '../../../api/kinds/apps/controller-revision.ts';
import { daemonSetKind } from '../../../api/kinds/apps/daemon-set.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { type Cache, type Change, keyOf } from '../../../client/informers/cache.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, source } from '../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import { RecordedEvents } from '../../../client/events/event-dedup.ts';
import { RecentMap } from '../../../client/recent-map.ts';
import { sortedJson } from '../../../api/sorted-json.ts';
import { OrphanIndex } from '../../pods/orphan-index.ts';
import { controllerUid } from '../../pods/ownership.ts';
import { ownerKeys } from '../../pods/owner-keys.ts';
import type { DaemonSetAction } from './actions.ts';
import { decideDaemonSet, type DaemonSetSnapshot } from './decide.ts';
import { nodeRequirementsOf, eligibilityOf } from './eligibility.ts';
import type { FailureBackoff } from './failure-backoff.ts';
import { type DaemonSetContext, daemonSetHandlers, rememberedFailures } from './perform.ts';

export interface DaemonSetOptions extends DaemonSetContext {
  readonly informers: Informers;
}

/** Runs a pod on every eligible node. Keys are those of DaemonSets: 'namespace/name'. */
export function daemonSetController({ informers, ...context }: DaemonSetOptions): Controller<string, DaemonSetSnapshot, DaemonSetAction> {
  const sets = informers.cache(daemonSetKind);
  const nodes = informers.cache(nodeKind);
  const revisions = informers.cache(controllerRevisionKind);
  const pods = informers.cache(podKind);
  const [podsByOwner, revisionsByOwner] = [pods.addIndex(controllerUid), revisions.addIndex(controllerUid)];
  const [orphanPods, orphanRevisions] = [new OrphanIndex(pods), new OrphanIndex(revisions)];
  const owners = { kind: daemonSetKind.kind, inNamespace: (namespace: string) => sets.inNamespace(namespace) };
  const failures = new RecentMap<string, FailureBackoff>(rememberedFailures);
  return defineController({
    name: 'daemon-set',
    sources: [
      source(daemonSetKind, ({ before, after }) => [keyOf((after ?? before)?.metadata ?? {})]),
      source(podKind, (change) => ownerKeys(change, owners)),
      source<Stored<ControllerRevision>, string>(controllerRevisionKind, (change) => ownerKeys(change, owners)),
      source(nodeKind, (change) => setsAffectedByNode(change, sets)),
    ],
    snapshot(key) {
      const set = sets.getKey(key);
      if (set === undefined) return undefined;
      const { namespace, uid } = set.metadata;
      return {
        set,
        candidates: [...podsByOwner.get(uid), ...orphanPods.candidates(namespace, set.spec.selector)],
        revisions: [...revisionsByOwner.get(uid), ...orphanRevisions.candidates(namespace, set.spec.selector)],
        revisionNamed: (name) => revisions.get({ namespace, name }),
        nodes: [...nodes.list()],
        failureOn: (failure) => failures.get(failure),
      };
    },
    decide: decideDaemonSet,
    writer: new ObjectWriter(context.client, [untypedKind(daemonSetKind)]),
    events: new RecordedEvents(context.recorder, context.clock),
    actions: daemonSetHandlers(context, failures),
    parallelism: 16,
  });
}

/** A node matters only by its labels and taints, and only if they change its eligibility for a DaemonSet. */
function setsAffectedByNode({ before, after }: Change<Node>, sets: Cache<DaemonSet>): readonly string[] {
  if (before !== undefined && after !== undefined && hasSameLabelsAndTaints(before, after)) return [];
  return Array.from(sets.list()).flatMap((set) => {
    const demands = nodeRequirementsOf(set);
    const [then, now] = [before, after].map((node) => (node === undefined ? undefined : eligibilityOf(node, demands)));
    return then === now ? [] : [keyOf(set.metadata)];
  });
}

const hasSameLabelsAndTaints = (a: Node, b: Node): boolean => sortedJson([a.metadata.labels, a.spec.taints]) === sortedJson([b.metadata.labels, b.spec.taints]);
