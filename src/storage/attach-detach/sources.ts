/** Which targets (volumes on nodes) a change of an object enqueues. */
import type { CSIDriver, Node, PersistentVolume, PersistentVolumeClaim, Pod, VolumeAttachment } from '../../api/generated/types.ts';
import { inlineDisksOf } from '../../api/volumes/inline-disks.ts';
import { claimsOfPod } from '../volumes/pods.ts';
import { type Change, keyOf, ownerUids } from '../../client/informers/cache.ts';
import { attachableOf, uniqueNameOf } from '../volumes/attachable.ts';
import { isOutOfService, isReady, managedAnnotation } from './snapshot.ts';
import { nodeOf, type AttachDetachView } from './view.ts';

export function* keysForPodChange(view: AttachDetachView, { before, after }: Change<Pod>): Generator<string> {
  for (const pod of [before, after]) if (pod !== undefined && nodeOf(pod) !== '') yield* targetsOfPod(view, pod);
}

function* targetsOfPod(view: AttachDetachView, pod: Pod): Generator<string> {
  for (const claim of claimsOfPod(pod)) yield* targetsOfClaim(view, claim, nodeOf(pod));
  for (const disk of inlineDisksOf(pod)) yield* targetOf(view, disk, nodeOf(pod));
}

function* targetOf(view: AttachDetachView, volume: PersistentVolume, node: string): Generator<string> {
  const target = view.targets.ofVolume(volume, node);
  if (target !== undefined) yield target.id;
}

function* targetsOfClaim(view: AttachDetachView, key: string, node: string): Generator<string> {
  const claim = view.claims.getKey(key);
  const volume = view.volumes.getKey(claim?.spec.volumeName ?? '');
  const volumes = volume === undefined ? view.volumesByClaim.get(key) : [volume];
  for (const each of volumes) yield* targetOf(view, each, node);
  // The claim's volume is unknown: it is one of those that the node has.
  if (volumes.length === 0) for (const attachment of view.attachmentsByNode.get(node)) yield idOf(attachment);
}

export function* keysForClaimChange(view: AttachDetachView, { before, after }: Change<PersistentVolumeClaim>): Generator<string> {
  if (before !== undefined && after !== undefined && isSameClaim(before, after)) return;
  const key = keyOf((after ?? before)?.metadata ?? {});
  for (const pod of view.podsByClaim.get(key)) yield* targetsOfClaim(view, key, nodeOf(pod));
}

function isSameClaim(a: PersistentVolumeClaim, b: PersistentVolumeClaim): boolean {
  const isSame = a.metadata.uid === b.metadata.uid && a.status.phase === b.status.phase && a.spec.volumeName === b.spec.volumeName;
  return isSame && ownerUids(a).join() === ownerUids(b).join();
}

export function* keysForVolumeChange(view: AttachDetachView, { before, after }: Change<PersistentVolume>): Generator<string> {
  if (before !== undefined && after !== undefined && isSameVolume(before, after)) return;
  for (const volume of [before, after]) if (volume !== undefined) yield* targetsOfVolume(view, volume);
}

function isSameVolume(a: PersistentVolume, b: PersistentVolume): boolean {
  const [before, after] = [attachableOf(a), attachableOf(b)];
  const isSame = before?.driver === after?.driver && before?.handle === after?.handle && before?.exclusive === after?.exclusive;
  return isSame && a.metadata.uid === b.metadata.uid && a.spec.claimRef?.uid === b.spec.claimRef?.uid;
}

/** On the nodes where pods need it, or it is attached. */
function* targetsOfVolume(view: AttachDetachView, volume: PersistentVolume): Generator<string> {
  const nodes = new Set(volume.spec.claimRef === undefined ? [] : view.podsByClaim.get(keyOf(volume.spec.claimRef)).map(nodeOf));
  for (const attachment of view.attachmentsByVolume.get(volume.metadata.name ?? '')) nodes.add(attachment.spec.nodeName);
  for (const node of nodes) yield* targetOf(view, volume, node);
}

/** Others wait for the attachment of a volume that can have only one. */
export function* keysForAttachmentChange(view: AttachDetachView, { before, after }: Change<VolumeAttachment>): Generator<string> {
  const attachment = after ?? before;
  if (attachment === undefined) return;
  yield idOf(attachment);
  const volume = view.volumes.getKey(attachment.spec.source.persistentVolumeName ?? '');
  if (volume !== undefined && attachableOf(volume)?.exclusive === true) yield* targetsOfVolume(view, volume);
  const disk = attachment.spec.source.inlineVolumeSpec?.csi;
  if (disk === undefined) return;
  for (const pod of view.podsByDisk.get(uniqueNameOf({ driver: disk.driver, handle: disk.volumeHandle }))) yield* targetsOfPod(view, pod);
}

export function* keysForNodeChange(view: AttachDetachView, { before, after }: Change<Node>): Generator<string> {
  const name = (after ?? before)?.metadata.name ?? '';
  if (before === undefined || after === undefined || differs(before, after)) {
    for (const pod of view.podsByNode.get(name)) yield* targetsOfPod(view, pod);
    for (const attachment of view.attachmentsByNode.get(name)) yield idOf(attachment);
  }
  for (const volume of new Set([...differences(listed(before), listed(after)), ...differences(inUse(before), inUse(after))])) {
    const target = view.targets.ofUniqueName(volume, name);
    if (target !== undefined) yield target.id;
  }
  // A status update proves that the node is alive: volumes that are not in volumesInUse are not mounted.
  for (const attachment of view.attachmentsByNode.get(name)) if (!attachment.status.attached) yield idOf(attachment);
}

function differs(before: Node, after: Node): boolean {
  const isManaged = ({ metadata }: Node) => Object.hasOwn(metadata.annotations ?? {}, managedAnnotation);
  return (
    before.metadata.uid !== after.metadata.uid ||
    isManaged(before) !== isManaged(after) ||
    isReady(before) !== isReady(after) ||
    isOutOfService(before.spec.taints) !== isOutOfService(after.spec.taints)
  );
}

const listed = (node: Node | undefined): readonly string[] => node?.status.volumesAttached?.map(({ name }) => name) ?? [];
const inUse = (node: Node | undefined): readonly string[] => node?.status.volumesInUse ?? [];

function differences(a: readonly string[], b: readonly string[]): readonly string[] {
  const [inA, inB] = [new Set(a), new Set(b)];
  return [...a.filter((each) => !inB.has(each)), ...b.filter((each) => !inA.has(each))];
}

export function* keysForDriverChange(view: AttachDetachView, { before, after }: Change<CSIDriver>): Generator<string> {
  const isRequired = (driver: CSIDriver | undefined) => driver?.spec.attachRequired !== false;
  if (isRequired(before) === isRequired(after)) return;
  const name = (after ?? before)?.metadata.name ?? '';
  for (const volume of view.volumesByDriver.get(name)) yield* targetsOfVolume(view, volume);
  for (const pod of view.podsByDiskDriver.get(name)) yield* targetsOfPod(view, pod);
}

const idOf = ({ metadata }: VolumeAttachment): string => metadata.name ?? '';
