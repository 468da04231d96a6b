import type { CSIDriver, Node, PersistentVolume, PersistentVolumeClaim, Pod, VolumeAttachment } from '../../api/generated/types.ts';
import { csiDriverKind } from '../../api/kinds/csi-driver.ts';
import { nodeKind } from '../../api/kinds/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/persistent-volume.ts';
import { volumeAttachmentKind } from '../../api/kinds/volume-attachment.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import { inlineDisksOf } from '../../domain/volumes/inline-disks.ts';
import { claimsOfPod, hasEnded } from '../../domain/volumes/pods.ts';
import { type Cache, type Index, keyOf } from '../../machinery/cache.ts';
import type { Informers } from '../../machinery/informers.ts';
import { isNewer } from '../../machinery/revision.ts';
import { attachableOf, uniqueNameOf } from '../../domain/volumes/attachable.ts';
import type { Pairs } from './pairs.ts';
import { type NodeState, type Pair, type Rival, readAttachment, readNode, type Situation, type Want } from './situation.ts';

/** What the objects say. */
export type Seen = Omit<Situation, 'unwantedSince' | 'told'>;

/** The caches, arranged so that everything about one volume on one node is found without looking at anything else. */
export class View {
  readonly pods: Cache<Pod>;
  readonly claims: Cache<PersistentVolumeClaim>;
  readonly volumes: Cache<PersistentVolume>;
  readonly attachments: Cache<VolumeAttachment>;
  readonly nodes: Cache<Node>;
  readonly drivers: Cache<CSIDriver>;

  readonly podsByClaim: Index<Pod>;
  readonly podsByNode: Index<Pod>;
  /** By 'node namespace/claim'. */
  readonly #podsByUse: Index<Pod>;
  /** Pods that name disks themselves, by the disks' unique names, and by their drivers. */
  readonly podsByDisk: Index<Pod>;
  readonly podsByDiskDriver: Index<Pod>;
  readonly volumesByClaim: Index<PersistentVolume>;
  readonly volumesByDriver: Index<PersistentVolume>;
  readonly #volumesByUniqueName: Index<PersistentVolume>;
  readonly #claimsByVolume: Index<PersistentVolumeClaim>;
  readonly attachmentsByNode: Index<VolumeAttachment>;
  readonly attachmentsByVolume: Index<VolumeAttachment>;
  /** Of disks that pods name themselves, by unique name. */
  readonly attachmentsByDisk: Index<VolumeAttachment>;
  readonly pairs: Pairs;

  constructor(informers: Informers, pairs: Pairs) {
    this.pairs = pairs;
    this.pods = informers.cache(podKind);
    this.claims = informers.cache(persistentVolumeClaimKind);
    this.volumes = informers.cache(persistentVolumeKind);
    this.attachments = informers.cache(volumeAttachmentKind);
    this.nodes = informers.cache(nodeKind);
    this.drivers = informers.cache(csiDriverKind);

    this.podsByClaim = this.pods.addIndex((pod) => (nodeOf(pod) === '' ? [] : claimsOfPod(pod)));
    this.podsByNode = this.pods.addIndex((pod) =>
      nodeOf(pod) === '' || (claimsOfPod(pod).length === 0 && inlineDisksOf(pod).length === 0) ? [] : [nodeOf(pod)],
    );
    this.#podsByUse = this.pods.addIndex((pod) => (nodeOf(pod) === '' ? [] : claimsOfPod(pod).map((claim) => useOf(nodeOf(pod), claim))));
    this.podsByDisk = this.pods.addIndex((pod) => (nodeOf(pod) === '' ? [] : inlineDisksOf(pod).flatMap((disk) => optional(nameOfDisk(disk)))));
    this.podsByDiskDriver = this.pods.addIndex((pod) => (nodeOf(pod) === '' ? [] : inlineDisksOf(pod).flatMap((disk) => optional(attachableOf(disk)?.driver))));
    this.volumesByClaim = this.volumes.addIndex(({ spec: { claimRef } }) => (claimRef === undefined ? [] : [keyOf(claimRef)]));
    this.volumesByDriver = this.volumes.addIndex((volume) => optional(attachableOf(volume)?.driver));
    this.#volumesByUniqueName = this.volumes.addIndex((volume) => {
      const attachable = attachableOf(volume);
      return attachable === undefined ? [] : [uniqueNameOf(attachable)];
    });
    this.#claimsByVolume = this.claims.addIndex(({ spec }) => optional(spec.volumeName));
    this.attachmentsByNode = this.attachments.addIndex(({ spec }) => [spec.nodeName]);
    this.attachmentsByVolume = this.attachments.addIndex(({ spec }) => optional(spec.source.persistentVolumeName));
    this.attachmentsByDisk = this.attachments.addIndex((attachment) => optional(nameOfAttachedDisk(attachment)));
  }

  /** Undefined: nobody knows which volume an attachment of this name is about, or there is none. */
  identify(id: string): Pair | undefined {
    const known = this.pairs.get(id);
    const attachment = this.attachments.getKey(id);
    if (known !== undefined || attachment === undefined) return known;
    const { nodeName, source } = attachment.spec;
    const volume = this.volumes.getKey(source.persistentVolumeName ?? '');
    const disk = nameOfAttachedDisk(attachment);
    if (volume !== undefined) this.pairs.ofVolume(volume, nodeName);
    else if (disk !== undefined) this.pairs.ofUniqueName(disk, nodeName);
    return this.pairs.get(id);
  }

  /** `lastInUse`: what the node called in use when it was last seen, if it is gone. */
  look(pair: Pair, lastInUse: readonly string[]): Seen {
    const attachment = this.attachments.getKey(pair.id);
    const users = this.#users(pair, attachment);
    const wants = users.flatMap((pod) => optional(this.#want(pod, pair))).sort((a, b) => compare(keyOf(a.pod.metadata), keyOf(b.pod.metadata)));
    return {
      pair,
      attachRequired: this.drivers.getKey(pair.driver)?.spec.attachRequired !== false,
      wants,
      users: users.map((pod) => keyOf(pod.metadata)),
      node: this.#node(pair, attachment, lastInUse),
      attachment: readAttachment(attachment),
      rivals: this.isExclusive(pair) ? this.#rivals(pair) : [],
    };
  }

  isExclusive(pair: Pair): boolean {
    if (this.#volumesByUniqueName.get(pair.uniqueName).some((volume) => attachableOf(volume)?.exclusive)) return true;
    return this.podsByDisk
      .get(pair.uniqueName)
      .some((pod) => inlineDisksOf(pod).some((disk) => nameOfDisk(disk) === pair.uniqueName && attachableOf(disk)?.exclusive));
  }

  #node(pair: Pair, attachment: VolumeAttachment | undefined, lastInUse: readonly string[]): NodeState {
    const node = this.nodes.getKey(pair.node);
    if (node === undefined) return { state: 'gone', wasInUse: lastInUse.includes(pair.uniqueName) };
    return readNode(node, pair.uniqueName, isNewer(node.metadata.resourceVersion ?? '', attachment?.metadata.resourceVersion ?? ''));
  }

  #rivals(pair: Pair): readonly Rival[] {
    const volumes = this.#volumesByUniqueName.get(pair.uniqueName);
    return [...volumes.flatMap((volume) => this.attachmentsByVolume.get(volume.metadata.name ?? '')), ...this.attachmentsByDisk.get(pair.uniqueName)]
      .flatMap((attachment) => {
        const there = this.pairs.ofUniqueName(pair.uniqueName, attachment.spec.nodeName);
        if (there === undefined || there.id !== attachment.metadata.name || there.node === pair.node) return [];
        const pods = this.#users(there, attachment).map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' }));
        const inUse = this.nodes.getKey(there.node)?.status.volumesInUse?.includes(pair.uniqueName) ?? false;
        return [{ node: there.node, attachment: readAttachment(attachment), pods: pods.sort((a, b) => compare(keyOf(a), keyOf(b))), inUse }];
      })
      .sort((a, b) => compare(a.node, b.node));
  }

  /** Pods on the node that use the volume, or did when their claim was still in order. */
  #users(pair: Pair, attachment: VolumeAttachment | undefined): readonly Pod[] {
    const users = new Map<string, Pod>();
    for (const claim of this.#claimsOf(pair, attachment)) {
      for (const pod of this.#podsByUse.get(useOf(pair.node, claim))) if (!hasEnded(pod)) users.set(keyOf(pod.metadata), pod);
    }
    for (const pod of this.podsByDisk.get(pair.uniqueName)) if (nodeOf(pod) === pair.node && !hasEnded(pod)) users.set(keyOf(pod.metadata), pod);
    return [...users.values()];
  }

  /** 'namespace/name' of the claims that have the volume, and of a deleted one that the volume still remembers. */
  #claimsOf(pair: Pair, attachment: VolumeAttachment | undefined): ReadonlySet<string> {
    const volumes = this.#volumesByUniqueName.get(pair.uniqueName);
    const claims = new Set<string>();
    for (const { spec } of volumes) if (spec.claimRef !== undefined && this.claims.get(refOf(spec.claimRef)) === undefined) claims.add(keyOf(spec.claimRef));
    const names = new Set([...volumes.map(({ metadata }) => metadata.name), attachment?.spec.source.persistentVolumeName]);
    for (const name of names) for (const claim of this.#claimsByVolume.get(name ?? '')) claims.add(keyOf(claim.metadata));
    return claims;
  }

  /** Only a claim and a volume that are bound to each other are attached for; and a disk that the pod names itself. */
  #want(pod: Pod, pair: Pair): Want | undefined {
    for (const volume of this.#volumesByUniqueName.get(pair.uniqueName)) {
      const { claimRef } = volume.spec;
      if (claimRef === undefined) continue;
      const claim = this.claims.get(refOf(claimRef));
      if (claim?.status.phase !== 'Bound' || claim.spec.volumeName !== volume.metadata.name || claim.metadata.uid !== claimRef.uid) continue;
      if (usesClaim(pod, claim)) return { pod, volume };
    }
    const disk = diskOf(pod, pair.uniqueName);
    return disk === undefined ? undefined : { pod, volume: disk, isInline: true };
  }
}

/** A claim of a generic ephemeral volume counts only if it was made for this very pod. */
function usesClaim(pod: Pod, { metadata }: PersistentVolumeClaim): boolean {
  if (pod.metadata.namespace !== metadata.namespace) return false;
  return (pod.spec.volumes ?? []).some((volume) => {
    if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName === metadata.name;
    if (volume.ephemeral === undefined || `${pod.metadata.name ?? ''}-${volume.name}` !== metadata.name) return false;
    return metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === pod.metadata.uid) ?? false;
  });
}

function nameOfDisk(disk: PersistentVolume): string | undefined {
  const attachable = attachableOf(disk);
  return attachable === undefined ? undefined : uniqueNameOf(attachable);
}

const diskOf = (pod: Pod, uniqueName: string): PersistentVolume | undefined => inlineDisksOf(pod).find((disk) => nameOfDisk(disk) === uniqueName);

function nameOfAttachedDisk({ spec }: VolumeAttachment): string | undefined {
  const csi = spec.source.inlineVolumeSpec?.csi;
  return csi === undefined ? undefined : uniqueNameOf({ driver: csi.driver, handle: csi.volumeHandle });
}

export const nodeOf = (pod: Pod): string => pod.spec.nodeName ?? '';
const useOf = (node: string, claim: string): string => `${node} ${claim}`;
const refOf = ({ namespace, name }: { readonly namespace?: string; readonly name?: string }) => ({ namespace, name: name ?? '' });
const optional = <T>(value: T | undefined): T[] => (value === undefined ? [] : [value]);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
