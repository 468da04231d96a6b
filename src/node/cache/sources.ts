/** Event sources: which pods or nodes to reconcile when an object changes. */
import type { CSIDriver, Node, PersistentVolume, Pod } from '../../api/generated/types.ts';
import { configMapKind } from '../../api/kinds/core/config-map.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { secretKind } from '../../api/kinds/core/secret.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { KubeObject } from '../../api/object.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import { claimsOfPod, hasEnded } from '../../storage/volumes/pods.ts';
import { type Change, keyOf } from '../../client/informers/cache.ts';
import { type Source, source } from '../../client/controller/loop.ts';
import { dependency, freedCapacity } from './indexes.ts';
import type { NodeCaches } from './node-caches.ts';

export function podSources(caches: NodeCaches): readonly Source<string>[] {
  const waitingFor = (what: string) => caches.waitingPods.get(what).flatMap((pod) => (caches.hostOf(pod) === undefined ? [] : keyOf(pod.metadata)));
  const either = <T extends KubeObject>({ before, after }: Change<T>): T | undefined => after ?? before;
  const keyed = (change: Change<KubeObject>) => keyOf(either(change)?.metadata ?? {});
  return [
    source(podKind, (change) => [
      ...ownKey(caches, change),
      ...releasedClaims(change).flatMap((claim) => waitingFor(dependency.claim(claim))),
      ...freedCapacity(change).flatMap(waitingFor),
    ]),
    source(persistentVolumeClaimKind, (change) => waitingFor(dependency.claim(keyed(change)))),
    source(persistentVolumeKind, (change) => claimsOfVolume(change).flatMap((claim) => waitingFor(dependency.claim(claim)))),
    source(volumeAttachmentKind, (change) => waitingFor(dependency.node(either(change)?.spec.nodeName ?? ''))),
    source(nodeKind, (change) => (hasSameVolumes(change) ? [] : waitingFor(dependency.node(keyed(change))))),
    source(csiDriverKind, (change) => (isAttachRequired(change.before) === isAttachRequired(change.after) ? [] : waitingFor(dependency.attaching))),
    source(configMapKind, (change) => waitingFor(dependency.configMap(keyed(change)))),
    source(secretKind, (change) => waitingFor(dependency.secret(keyed(change)))),
  ];
}

function ownKey(caches: NodeCaches, { before, after }: Change<Pod>): readonly string[] {
  const pod = after ?? before;
  return pod === undefined || caches.hostOf(pod) === undefined ? [] : [keyOf(pod.metadata)];
}

/** The claims of a pod that has ended: with ReadWriteOncePod, other pods may wait for them. */
function releasedClaims({ before, after }: Change<Pod>): readonly string[] {
  if (before === undefined || (after !== undefined && !hasEnded(after))) return [];
  return claimsOfPod(before);
}

const claimsOfVolume = ({ before, after }: Change<PersistentVolume>): readonly string[] => [
  ...new Set([before, after].flatMap((volume) => (volume?.spec.claimRef === undefined ? [] : [keyOf(volume.spec.claimRef)]))),
];

const isAttachRequired = (driver: CSIDriver | undefined): boolean => driver?.spec.attachRequired !== false;

function hasSameVolumes({ before, after }: Change<Node>): boolean {
  const reported = (node: Node | undefined) => [node?.status.volumesAttached, node?.status.volumesInUse, node?.metadata.labels];
  return semanticallyEqual(reported(before), reported(after));
}

/** Nodes whose `volumesInUse` may have changed. */
export function nodeSources(caches: NodeCaches): readonly Source<string>[] {
  const nodesOf = (pods: Iterable<Pod>): readonly string[] => [...new Set([...pods].flatMap((pod) => caches.hostOf(pod)?.name ?? []))];
  const users = (claim: string) => nodesOf(caches.waitingPods.get(dependency.claim(claim)));
  return [
    source(podKind, ({ before, after }) => {
      const pod = after ?? before;
      return pod === undefined || claimsOfPod(pod).length === 0 ? [] : nodesOf([pod]);
    }),
    source(persistentVolumeClaimKind, ({ before, after }) => users(keyOf((after ?? before)?.metadata ?? {}))),
    source(persistentVolumeKind, (change) => claimsOfVolume(change).flatMap(users)),
    source(csiDriverKind, (change) =>
      isAttachRequired(change.before) === isAttachRequired(change.after) ? [] : nodesOf(caches.waitingPods.get(dependency.attaching)),
    ),
  ];
}
