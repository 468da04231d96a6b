/** Which pods have to be looked at when something changes that they may be waiting for. */
import type { CSIDriver, Node, PersistentVolume, Pod } from '../../api/generated/types.ts';
import { configMapKind } from '../../api/kinds/config-map.ts';
import { csiDriverKind } from '../../api/kinds/csi-driver.ts';
import { nodeKind } from '../../api/kinds/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/persistent-volume.ts';
import { secretKind } from '../../api/kinds/secret.ts';
import { volumeAttachmentKind } from '../../api/kinds/volume-attachment.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import type { KubeObject } from '../../api/object.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import { claimsOfPod, hasEnded } from '../../domain/volumes/pods.ts';
import { type Change, keyOf } from '../../machinery/cache.ts';
import { type Source, source } from '../../machinery/loop.ts';
import { need, roomLeft } from './needs.ts';
import type { View } from './view.ts';

export function podWakes(view: View): readonly Source<string>[] {
  const waitingFor = (what: string) => view.waiting.get(what).flatMap((pod) => (view.hostOf(pod) === undefined ? [] : keyOf(pod.metadata)));
  const either = <T extends KubeObject>({ before, after }: Change<T>): T | undefined => after ?? before;
  const keyed = (change: Change<KubeObject>) => keyOf(either(change)?.metadata ?? {});
  return [
    source(podKind, (change) => [
      ...ownKey(view, change),
      ...claimsLeft(change).flatMap((claim) => waitingFor(need.claim(claim))),
      ...roomLeft(change).flatMap(waitingFor),
    ]),
    source(persistentVolumeClaimKind, (change) => waitingFor(need.claim(keyed(change)))),
    source(persistentVolumeKind, (change) => claimsOfVolume(change).flatMap((claim) => waitingFor(need.claim(claim)))),
    source(volumeAttachmentKind, (change) => waitingFor(need.node(either(change)?.spec.nodeName ?? ''))),
    source(nodeKind, (change) => (saysTheSameOfVolumes(change) ? [] : waitingFor(need.node(keyed(change))))),
    source(csiDriverKind, (change) => (isAttachRequired(change.before) === isAttachRequired(change.after) ? [] : waitingFor(need.attaching))),
    source(configMapKind, (change) => waitingFor(need.configMap(keyed(change)))),
    source(secretKind, (change) => waitingFor(need.secret(keyed(change)))),
  ];
}

function ownKey(view: View, { before, after }: Change<Pod>): readonly string[] {
  const pod = after ?? before;
  return pod === undefined || view.hostOf(pod) === undefined ? [] : [keyOf(pod.metadata)];
}

/** Of a pod that has ended: others may have waited for it, where only one pod may have a volume. */
function claimsLeft({ before, after }: Change<Pod>): readonly string[] {
  if (before === undefined || (after !== undefined && !hasEnded(after))) return [];
  return claimsOfPod(before);
}

const claimsOfVolume = ({ before, after }: Change<PersistentVolume>): readonly string[] => [
  ...new Set([before, after].flatMap((volume) => (volume?.spec.claimRef === undefined ? [] : [keyOf(volume.spec.claimRef)]))),
];

const isAttachRequired = (driver: CSIDriver | undefined): boolean => driver?.spec.attachRequired !== false;

function saysTheSameOfVolumes({ before, after }: Change<Node>): boolean {
  const said = (node: Node | undefined) => [node?.status.volumesAttached, node?.status.volumesInUse, node?.metadata.labels];
  return semanticallyEqual(said(before), said(after));
}

/** Which nodes may have other volumes in use than they say. */
export function nodeWakes(view: View): readonly Source<string>[] {
  const nodesOf = (pods: Iterable<Pod>): readonly string[] => [...new Set([...pods].flatMap((pod) => view.hostOf(pod)?.name ?? []))];
  const users = (claim: string) => nodesOf(view.waiting.get(need.claim(claim)));
  return [
    source(podKind, ({ before, after }) => {
      const pod = after ?? before;
      return pod === undefined || claimsOfPod(pod).length === 0 ? [] : nodesOf([pod]);
    }),
    source(persistentVolumeClaimKind, ({ before, after }) => users(keyOf((after ?? before)?.metadata ?? {}))),
    source(persistentVolumeKind, (change) => claimsOfVolume(change).flatMap(users)),
    source(csiDriverKind, (change) => (isAttachRequired(change.before) === isAttachRequired(change.after) ? [] : nodesOf(view.waiting.get(need.attaching)))),
  ];
}
