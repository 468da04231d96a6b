import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts';
import { mayGrowClaims } from '../../api/kinds/workloads/claim-growth.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/persistent-volume-claim.ts';
import { controllerRevisionKind } from '../../api/kinds/workloads/controller-revision.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import { statefulSetKind } from '../../api/kinds/workloads/stateful-set.ts';
import type { KubeObject } from '../../api/object.ts';
import { type Change, type Index, keyOf } from '../../machinery/cache.ts';
import type { Informers } from '../../machinery/informers.ts';
import { type Controller, source } from '../../machinery/loop.ts';
import { controllerOf, controllerUidOrNamespace, orphansOf } from '../pods/ownership.ts';
import type { Action } from './actions.ts';
import { decideSet, type Snapshot } from './decide.ts';
import { claimTemplates, parseMemberName } from './identity.ts';
import { Performer, type PerformerOptions } from './perform.ts';

export interface StatefulSetOptions extends PerformerOptions {
  readonly informers: Informers;
}

/** Keys are those of sets: 'namespace/name'. */
export function statefulSets({ informers, ...options }: StatefulSetOptions): Controller<string, Snapshot, Action> {
  const sets = informers.cache(statefulSetKind);
  const pods = informers.cache(podKind);
  const claims = informers.cache(persistentVolumeClaimKind);
  const revisions = informers.cache(controllerRevisionKind);
  const podsByController = pods.addIndex(controllerUidOrNamespace);
  const orphansBySet = pods.addIndex(setsOfOrphan);
  const revisionsByController = revisions.addIndex(controllerUidOrNamespace);
  const setsByClaim = sets.addIndex(claimPrefixes);
  const performer = new Performer(options);
  return {
    name: 'stateful-set',
    sources: [
      source(statefulSetKind, ({ before, after }) => [keyOf((after ?? before)?.metadata ?? {})]),
      source(podKind, ({ before, after }) => new Set([...setsOfPod(before), ...setsOfPod(after)])),
      source(controllerRevisionKind, ({ before, after }) => new Set([...controllingSet(before), ...controllingSet(after)])),
      source(persistentVolumeClaimKind, (change) => wokenByClaim(change, setsByClaim)),
    ],
    snapshot(key) {
      const set = sets.getKey(key);
      if (set === undefined) return undefined;
      const { namespace, uid = '' } = set.metadata;
      return {
        set,
        pods: [...podsByController.get(uid), ...orphansBySet.get(key)],
        revisions: [...revisionsByController.get(uid), ...revisionsByController.get(orphansOf(namespace))],
        revision: (name) => revisions.get({ namespace, name }),
        claim: (name) => claims.get({ namespace, name }),
      };
    },
    decide: decideSet,
    perform: (action) => performer.perform(action),
    parallelism: 16,
  };
}

/** An index function: the set whose name a pod without owner bears. */
const setsOfOrphan = (pod: Pod): readonly string[] => (controllerOf(pod) === undefined ? namesake(pod) : []);

/** Keys of sets, whether they exist or not. */
function namesake({ metadata }: Pod): readonly string[] {
  const parsed = parseMemberName(metadata.name ?? '');
  return parsed === undefined ? [] : [keyOf({ namespace: metadata.namespace, name: parsed.parent })];
}

function controllingSet(object: KubeObject | undefined): readonly string[] {
  const controller = object === undefined ? undefined : controllerOf(object);
  return controller?.kind === 'StatefulSet' ? [keyOf({ namespace: object?.metadata.namespace, name: controller.name })] : [];
}

/** Its own set; and one of which it only has the name, and whose own pod it is in the way of. */
const setsOfPod = (pod: Pod | undefined): readonly string[] => (pod === undefined ? [] : [...controllingSet(pod), ...namesake(pod)]);

/** An index function: the names of a set's claims, without the number. */
const claimPrefixes = (set: StatefulSet): readonly string[] =>
  claimTemplates(set).map(({ metadata }) => keyOf({ namespace: set.metadata.namespace, name: `${metadata.name ?? ''}-${set.metadata.name ?? ''}` }));

/** Being bound, which every claim is, is no news but to a set that waits for its claims to grow. */
function wokenByClaim({ before, after }: Change<PersistentVolumeClaim>, setsByClaim: Index<StatefulSet>): readonly string[] {
  const parsed = before === undefined ? undefined : parseMemberName(before.metadata.name ?? '');
  if (parsed === undefined || before === undefined) return [];
  const owners = setsByClaim.get(keyOf({ namespace: before.metadata.namespace, name: parsed.parent }));
  if (owners.length === 0) return [];
  const isNews = after === undefined || ownership(before) !== ownership(after);
  return owners.filter((set) => isNews || mayGrowClaims(set)).map(({ metadata }) => keyOf(metadata));
}

const ownership = ({ metadata }: PersistentVolumeClaim): string =>
  [metadata.uid, metadata.deletionTimestamp, ...(metadata.ownerReferences ?? []).map(({ uid, controller }) => `${uid} ${controller === true}`)].join();
