import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { mayGrowClaims } from '../../../api/kinds/apps/claim-expansion.ts';
import { persistentVolumeClaimKind } from '../../../api/kinds/core/persistent-volume-claim.ts';
import { controllerRevisionKind } from '../../../api/kinds/apps/controller-revision.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { statefulSetKind } from '../../../api/kinds/apps/stateful-set.ts';
import { untypedKind } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import { type Change, changedObject, keyOf } from '../../../client/informers/cache.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, source } from '../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import { PodViews } from '../../pods/pod-views.ts';
import { controllerOf, controllerUidOrNamespace, orphansOf } from '../../pods/ownership.ts';
import type { StatefulSetAction } from './actions.ts';
import { decideSet, type StatefulSetSnapshot } from './decide.ts';
import type { ClaimsSnapshot } from './claims.ts';
import { claimTemplates, parseMemberName, templateName } from './identity.ts';
import { MembersView } from './members-view.ts';
import { type StatefulSetContext, StatefulSetWorker, writtenKinds } from './perform.ts';

export interface StatefulSetOptions extends StatefulSetContext {
  readonly informers: Informers;
}

/** Keys are those of StatefulSets: 'namespace/name'. */
export function statefulSetController({ informers, ...options }: StatefulSetOptions): Controller<string, StatefulSetSnapshot, StatefulSetAction> {
  const sets = informers.cache(statefulSetKind);
  const pods = informers.cache(podKind);
  const claims = informers.cache(persistentVolumeClaimKind);
  const revisions = informers.cache(controllerRevisionKind);
  const orphansBySet = pods.addIndex(setsOfOrphan);
  const revisionsByController = revisions.addIndex(controllerUidOrNamespace);
  const setsByClaim = sets.addIndex(claimPrefixes);
  const claimNamed =
    (namespace: string | undefined): ClaimsSnapshot['claim'] =>
    (name) =>
      claims.get({ namespace, name });
  const views = new PodViews({
    informers,
    kind: untypedKind(statefulSetKind),
    make: (set: Stored<StatefulSet>, pods) => new MembersView({ set, claim: claimNamed(set.metadata.namespace) }, pods),
    madeFor: (set) => `${set.metadata.generation ?? 0} ${mayGrowClaims(set)}`,
  });
  return defineController({
    name: 'stateful-set',
    sources: [
      views,
      source(statefulSetKind, ({ before, after }) => [keyOf((after ?? before)?.metadata ?? {})]),
      source(podKind, ({ before, after }) => new Set([...setsOfPod(before), ...setsOfPod(after)])),
      source(controllerRevisionKind, ({ before, after }) => new Set([...controllingSet(before), ...controllingSet(after)])),
      source(persistentVolumeClaimKind, (change) => {
        const { metadata } = changedObject(change);
        const parsed = parseMemberName(metadata.name);
        if (parsed === undefined) return [];
        const owners = setsByClaim.get(keyOf({ namespace: metadata.namespace, name: parsed.parent }));
        for (const {
          metadata: { uid },
        } of owners)
          views.kept(uid)?.claimChanged(parsed.ordinal);
        return concernedByClaim(owners, change);
      }),
    ],
    snapshot(key) {
      const set = sets.getKey(key);
      if (set === undefined) return undefined;
      const { namespace, uid } = set.metadata;
      return {
        set,
        members: views.of(set),
        orphans: orphansBySet.get(key),
        revisions: [...revisionsByController.get(uid), ...revisionsByController.get(orphansOf(namespace))],
        revision: (name) => revisions.get({ namespace, name }),
        claim: claimNamed(namespace),
      };
    },
    decide: decideSet,
    writer: new ObjectWriter(options.client, writtenKinds),
    actions: new StatefulSetWorker(options).handlers,
    parallelism: 16,
  });
}

/** An index function: the StatefulSet that the name of an orphan pod points to. */
const setsOfOrphan = (pod: Stored<Pod>): readonly string[] => (controllerOf(pod) === undefined ? setNamedByPod(pod) : []);

/** Keys of StatefulSets, whether they exist or not. */
function setNamedByPod({ metadata }: Stored<Pod>): readonly string[] {
  const parsed = parseMemberName(metadata.name);
  return parsed === undefined ? [] : [keyOf({ namespace: metadata.namespace, name: parsed.parent })];
}

function controllingSet(object: Stored<KubeObject> | undefined): readonly string[] {
  const controller = object === undefined ? undefined : controllerOf(object);
  return controller?.kind === 'StatefulSet' ? [keyOf({ namespace: object?.metadata.namespace, name: controller.name })] : [];
}

/** The StatefulSet that controls the pod, and the one whose pod name it occupies. */
const setsOfPod = (pod: Stored<Pod> | undefined): readonly string[] => (pod === undefined ? [] : [...controllingSet(pod), ...setNamedByPod(pod)]);

/** An index function: the names of a StatefulSet's claims without ordinal. */
const claimPrefixes = (set: Stored<StatefulSet>): readonly string[] =>
  claimTemplates(set).map((template) => keyOf({ namespace: set.metadata.namespace, name: `${templateName(template)}-${set.metadata.name}` }));

/** A claim that was just created, and its binding, matter only to a StatefulSet that expands its claims. */
function concernedByClaim(owners: readonly Stored<StatefulSet>[], { before, after }: Change<PersistentVolumeClaim>): readonly string[] {
  if (before === undefined) return [];
  const isNews = after === undefined || ownership(before) !== ownership(after);
  return owners.filter((set) => isNews || mayGrowClaims(set)).map(({ metadata }) => keyOf(metadata));
}

const ownership = ({ metadata }: Stored<PersistentVolumeClaim>): string =>
  [metadata.uid, metadata.deletionTimestamp, ...(metadata.ownerReferences ?? []).map(({ uid, controller }) => `${uid} ${controller === true}`)].join();
