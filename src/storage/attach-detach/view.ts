import type { CSIDriver, Node, PersistentVolume, PersistentVolumeClaim, Pod, VolumeAttachment } from '../../api/generated/types.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import type { Stored } from '../../api/stored.ts';
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

/** The part of a snapshot that comes from the caches. */
export type CachedSnapshot = Omit<AttachDetachSnapshot, 'unwantedSince' | 'lastEvent'>;

/** Indexed caches: everything about one volume on one node is found without a scan. */
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
  /** Pods with inline volumes, by the volumes' unique names, and by their drivers. */
  readonly podsByDisk: Index<Pod>;
  readonly podsByDiskDriver: Index<Pod>;
  readonly volumesByClaim: Index<PersistentVolume>;
  readonly volumesByDriver: Index<PersistentVolume>;
  readonly #volumesByUniqueName: Index<PersistentVolume>;
  readonly #claimsByVolume: Index<PersistentVolumeClaim>;
  readonly attachmentsByNode: Index<VolumeAttachment>;
  readonly attachmentsByVolume: Index<VolumeAttachment>;
  /** Attachments of inline volumes, by unique name. */
  readonly attachmentsByDisk: Index<VolumeAttachment>;
  readonly targets: AttachTargets;

  constructor(informers: Informers, targets: AttachTargets) {
    this.targets = targets;
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

  /** Undefined: the volume of the attachment of this name is unknown, or there is no such attachment. */
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

  /** `lastInUse`: the last volumesInUse of a node that is gone. */
  snapshot(target: AttachTarget, lastInUse: readonly string[]): CachedSnapshot {
    const attachment = this.attachments.getKey(target.id);
    const users = this.#users(target, attachment);
    const desiredBy = users.flatMap((pod) => optional(this.#desired(pod, target))).sort((a, b) => compare(keyOf(a.pod.metadata), keyOf(b.pod.metadata)));
    return {
      target,
      attachRequired: this.drivers.getKey(target.driver)?.spec.attachRequired !== false,
      desiredBy,
      users: users.map((pod) => keyOf(pod.metadata)),
      node: this.#node(target, attachment, lastInUse),
      attachment: readAttachment(attachment),
      competitors: this.isExclusive(target) ? this.#competitors(target) : [],
    };
  }

  isExclusive(target: AttachTarget): boolean {
    if (this.#volumesByUniqueName.get(target.uniqueName).some((volume) => attachableOf(volume)?.exclusive)) return true;
    return this.podsByDisk
      .get(target.uniqueName)
      .some((pod) => inlineDisksOf(pod).some((disk) => nameOfDisk(disk) === target.uniqueName && attachableOf(disk)?.exclusive));
  }

  #node(target: AttachTarget, attachment: VolumeAttachment | undefined, lastInUse: readonly string[]): NodeState {
    const node = this.nodes.getKey(target.node);
    if (node === undefined) return { state: 'gone', wasInUse: lastInUse.includes(target.uniqueName) };
    return readNode(node, target.uniqueName, isNewer(node.metadata.resourceVersion, attachment?.metadata.resourceVersion ?? ''));
  }

  #competitors(target: AttachTarget): readonly CompetingAttachment[] {
    const volumes = this.#volumesByUniqueName.get(target.uniqueName);
    return [...volumes.flatMap((volume) => this.attachmentsByVolume.get(volume.metadata.name)), ...this.attachmentsByDisk.get(target.uniqueName)]
      .flatMap((attachment) => {
        const there = this.targets.ofUniqueName(target.uniqueName, attachment.spec.nodeName);
        if (there === undefined || there.id !== attachment.metadata.name || there.node === target.node) return [];
        const pods = this.#users(there, attachment).map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name }));
        const inUse = this.nodes.getKey(there.node)?.status.volumesInUse?.includes(target.uniqueName) ?? false;
        return [{ node: there.node, attachment: readAttachment(attachment), pods: pods.sort((a, b) => compare(keyOf(a), keyOf(b))), inUse }];
      })
      .sort((a, b) => compare(a.node, b.node));
  }

  /** Pods on the node that use the volume, or did when their claim was still bound. */
  #users(target: AttachTarget, attachment: VolumeAttachment | undefined): readonly Stored<Pod>[] {
    const users = new Map<string, Stored<Pod>>();
    for (const claim of this.#claimsOf(target, attachment)) {
      for (const pod of this.#podsByUse.get(useOf(target.node, claim))) if (!hasEnded(pod)) users.set(keyOf(pod.metadata), pod);
    }
    for (const pod of this.podsByDisk.get(target.uniqueName)) if (nodeOf(pod) === target.node && !hasEnded(pod)) users.set(keyOf(pod.metadata), pod);
    return [...users.values()];
  }

  /** 'namespace/name' of the claims that have the volume, and of a deleted one that its claimRef still names. */
  #claimsOf(target: AttachTarget, attachment: VolumeAttachment | undefined): ReadonlySet<string> {
    const volumes = this.#volumesByUniqueName.get(target.uniqueName);
    const claims = new Set<string>();
    for (const { spec } of volumes) if (spec.claimRef !== undefined && this.claims.get(refOf(spec.claimRef)) === undefined) claims.add(keyOf(spec.claimRef));
    const names = new Set([...volumes.map(({ metadata }) => metadata.name), attachment?.spec.source.persistentVolumeName]);
    for (const name of names) for (const claim of this.#claimsByVolume.get(name ?? '')) claims.add(keyOf(claim.metadata));
    return claims;
  }

  /** A volume is desired only if it and the claim are bound to each other, or if it is an inline volume of the pod. */
  #desired(pod: Stored<Pod>, target: AttachTarget): DesiredAttachment | undefined {
    for (const volume of this.#volumesByUniqueName.get(target.uniqueName)) {
      const { claimRef } = volume.spec;
      if (claimRef === undefined) continue;
      const claim = this.claims.get(refOf(claimRef));
      if (claim?.status.phase !== 'Bound' || claim.spec.volumeName !== volume.metadata.name || claim.metadata.uid !== claimRef.uid) continue;
      if (usesClaim(pod, claim)) return { pod, volume };
    }
    const disk = diskOf(pod, target.uniqueName);
    return disk === undefined ? undefined : { pod, volume: disk, isInline: true };
  }
}

/** A claim of a generic ephemeral volume counts only if this pod owns it. */
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
