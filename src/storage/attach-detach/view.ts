import type { CSIDriver, Node, PersistentVolume, PersistentVolumeClaim, Pod, VolumeAttachment } from '../../api/generated/types.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { inlineDisksOf } from '../../api/volumes/inline-disks.ts';
import { claimsOfPod, hasEnded } from '../volumes/pods.ts';
import { type Cache, type Index, keyOf } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { isNewer } from '../../client/revision.ts';
import { attachableOf, uniqueNameOf } from '../volumes/attachable.ts';
import type { AttachTargets } from './attach-targets.ts';
import {
  type NodeState,
  type AttachTarget,
  type CompetingAttachment,
  readAttachment,
  readNode,
  type AttachDetachSnapshot,
  type DesiredAttachment,
} from './snapshot.ts';

/** What the objects say. */
export type CachedSnapshot = Omit<AttachDetachSnapshot, 'unwantedSince' | 'lastEvent'>;

/** The caches, arranged so that everything about one volume on one node is found without looking at anything else. */
export class AttachDetachView {
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
  readonly targets: AttachTargets;

  constructor(informers: Informers, pairs: AttachTargets) {
    this.targets = pairs;
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
  target(id: string): AttachTarget | undefined {
    const known = this.targets.get(id);
    const attachment = this.attachments.getKey(id);
    if (known !== undefined || attachment === undefined) return known;
    const { nodeName, source } = attachment.spec;
    const volume = this.volumes.getKey(source.persistentVolumeName ?? '');
    const disk = nameOfAttachedDisk(attachment);
    if (volume !== undefined) this.targets.ofVolume(volume, nodeName);
    else if (disk !== undefined) this.targets.ofUniqueName(disk, nodeName);
    return this.targets.get(id);
  }

  /** `lastInUse`: what the node called in use when it was last seen, if it is gone. */
  snapshot(pair: AttachTarget, lastInUse: readonly string[]): CachedSnapshot {
    const attachment = this.attachments.getKey(pair.id);
    const users = this.#users(pair, attachment);
    const wants = users.flatMap((pod) => optional(this.#desired(pod, pair))).sort((a, b) => compare(keyOf(a.pod.metadata), keyOf(b.pod.metadata)));
    return {
      target: pair,
      attachRequired: this.drivers.getKey(pair.driver)?.spec.attachRequired !== false,
      desiredBy: wants,
      users: users.map((pod) => keyOf(pod.metadata)),
      node: this.#node(pair, attachment, lastInUse),
      attachment: readAttachment(attachment),
      competitors: this.isExclusive(pair) ? this.#competitors(pair) : [],
    };
  }

  isExclusive(pair: AttachTarget): boolean {
    if (this.#volumesByUniqueName.get(pair.uniqueName).some((volume) => attachableOf(volume)?.exclusive)) return true;
    return this.podsByDisk
      .get(pair.uniqueName)
      .some((pod) => inlineDisksOf(pod).some((disk) => nameOfDisk(disk) === pair.uniqueName && attachableOf(disk)?.exclusive));
  }

  #node(pair: AttachTarget, attachment: VolumeAttachment | undefined, lastInUse: readonly string[]): NodeState {
    const node = this.nodes.getKey(pair.node);
    if (node === undefined) return { state: 'gone', wasInUse: lastInUse.includes(pair.uniqueName) };
    return readNode(node, pair.uniqueName, isNewer(node.metadata.resourceVersion ?? '', attachment?.metadata.resourceVersion ?? ''));
  }

  #competitors(pair: AttachTarget): readonly CompetingAttachment[] {
    const volumes = this.#volumesByUniqueName.get(pair.uniqueName);
    return [...volumes.flatMap((volume) => this.attachmentsByVolume.get(volume.metadata.name ?? '')), ...this.attachmentsByDisk.get(pair.uniqueName)]
      .flatMap((attachment) => {
        const there = this.targets.ofUniqueName(pair.uniqueName, attachment.spec.nodeName);
        if (there === undefined || there.id !== attachment.metadata.name || there.node === pair.node) return [];
        const pods = this.#users(there, attachment).map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' }));
        const inUse = this.nodes.getKey(there.node)?.status.volumesInUse?.includes(pair.uniqueName) ?? false;
        return [{ node: there.node, attachment: readAttachment(attachment), pods: pods.sort((a, b) => compare(keyOf(a), keyOf(b))), inUse }];
      })
      .sort((a, b) => compare(a.node, b.node));
  }

  /** Pods on the node that use the volume, or did when their claim was still in order. */
  #users(pair: AttachTarget, attachment: VolumeAttachment | undefined): readonly Pod[] {
    const users = new Map<string, Pod>();
    for (const claim of this.#claimsOf(pair, attachment)) {
      for (const pod of this.#podsByUse.get(useOf(pair.node, claim))) if (!hasEnded(pod)) users.set(keyOf(pod.metadata), pod);
    }
    for (const pod of this.podsByDisk.get(pair.uniqueName)) if (nodeOf(pod) === pair.node && !hasEnded(pod)) users.set(keyOf(pod.metadata), pod);
    return [...users.values()];
  }

  /** 'namespace/name' of the claims that have the volume, and of a deleted one that the volume still remembers. */
  #claimsOf(pair: AttachTarget, attachment: VolumeAttachment | undefined): ReadonlySet<string> {
    const volumes = this.#volumesByUniqueName.get(pair.uniqueName);
    const claims = new Set<string>();
    for (const { spec } of volumes) if (spec.claimRef !== undefined && this.claims.get(refOf(spec.claimRef)) === undefined) claims.add(keyOf(spec.claimRef));
    const names = new Set([...volumes.map(({ metadata }) => metadata.name), attachment?.spec.source.persistentVolumeName]);
    for (const name of names) for (const claim of this.#claimsByVolume.get(name ?? '')) claims.add(keyOf(claim.metadata));
    return claims;
  }

  /** Only a claim and a volume that are bound to each other are attached for; and a disk that the pod names itself. */
  #desired(pod: Pod, pair: AttachTarget): DesiredAttachment | undefined {
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
