import type { CSINode, Node, PersistentVolume, VolumeAttachment } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { csiNodeKind } from '../../api/kinds/storage/csi-node.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import { csiSourceOf } from '../../api/volumes/csi-translation.ts';
import { attachmentNameOf, uniqueNameOf } from '../volumes/attachable.ts';
import type { PublishTarget } from '../../api/volumes/controller-publish.ts';
import type { Cache, Index } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { DanglingAttachment } from './actions.ts';
import { nodeIdOn } from './attachment-edits.ts';

/** SHA-256 of a text, in hexadecimal. */
export type Sha256 = (text: string) => string;

/** 'va/<attachment>' or 'pv/<volume>' */
export type CsiAttacherKey = `va/${string}` | `pv/${string}`;

/** Indexed caches: everything about one attachment is found without a scan. */
export class CsiAttacherView {
  readonly attachments: Cache<VolumeAttachment>;
  readonly volumes: Cache<PersistentVolume>;
  readonly attachmentsOfVolume: Index<VolumeAttachment>;
  readonly attachmentsOnNode: Index<VolumeAttachment>;
  readonly attachmentsOfDriver: Index<VolumeAttachment>;
  readonly #volumesOfDriver: Index<PersistentVolume>;
  /** By 'driver handle'. */
  readonly #volumesByHandle: Index<PersistentVolume>;
  /** By 'driver node id'. */
  readonly #nodesById: Index<CSINode>;
  readonly #csiNodes: Cache<CSINode>;
  readonly #nodes: Cache<Node>;
  readonly #sha256: Sha256;

  constructor(informers: Informers, sha256: Sha256) {
    this.#sha256 = sha256;
    this.attachments = informers.cache(volumeAttachmentKind);
    this.volumes = informers.cache(persistentVolumeKind);
    this.#csiNodes = informers.cache(csiNodeKind);
    this.#nodes = informers.cache(nodeKind);
    this.attachmentsOfVolume = this.attachments.addIndex(({ spec }) =>
      spec.source.persistentVolumeName === undefined ? [] : [spec.source.persistentVolumeName],
    );
    this.attachmentsOnNode = this.attachments.addIndex(({ spec }) => [spec.nodeName]);
    this.attachmentsOfDriver = this.attachments.addIndex(({ spec }) => [spec.attacher]);
    this.#volumesOfDriver = this.volumes.addIndex((volume) => sourceKeys(volume, ({ driver }) => driver));
    this.#volumesByHandle = this.volumes.addIndex((volume) => sourceKeys(volume, ({ driver, handle }) => `${driver} ${handle}`));
    this.#nodesById = this.#csiNodes.addIndex(({ spec }) => (spec.drivers ?? []).map(({ name, nodeID }) => `${name} ${nodeID}`));
  }

  nodeId(driver: string, node: string): string | undefined {
    return this.#csiNodes.getKey(node)?.spec.drivers?.find(({ name }) => name === driver)?.nodeID;
  }

  volumeOf({ spec }: VolumeAttachment): Stored<PersistentVolume> | undefined {
    return spec.source.persistentVolumeName === undefined ? undefined : this.volumes.getKey(spec.source.persistentVolumeName);
  }

  hasVolumes(driver: string): boolean {
    return this.#volumesOfDriver.get(driver).length > 0 || this.attachmentsOfDriver.get(driver).length > 0;
  }

  /** The resourceVersions of a driver's attachments, by name. */
  revisions(driver: string): ReadonlyMap<string, string> {
    return new Map(this.attachmentsOfDriver.get(driver).map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
  }

  /** A driver's attachments with their targets; those whose volume or node is unknown are left out. */
  publishTargets(driver: string): readonly { readonly attachment: Stored<VolumeAttachment>; readonly target: PublishTarget }[] {
    return this.attachmentsOfDriver.get(driver).flatMap((attachment) => {
      const volume = this.volumeOf(attachment);
      const handle = volume === undefined ? attachment.spec.source.inlineVolumeSpec?.csi?.volumeHandle : csiSourceOf(volume)?.handle;
      const nodeId = this.nodeId(driver, attachment.spec.nodeName) ?? nodeIdOn(attachment);
      return handle === undefined || nodeId === undefined ? [] : [{ attachment, target: { handle, nodeId } }];
    });
  }

  /**
   * A volume and a node of this cluster without an attachment; undefined: there is one, the volume or the node is not of this cluster, or
   * the node has the volume mounted.
   */
  danglingAt(driver: string, { handle, nodeId }: PublishTarget): { readonly name: string; readonly dangling: DanglingAttachment } | undefined {
    const [csiNode] = this.#nodesById.get(`${driver} ${nodeId}`);
    const node = csiNode?.metadata.name;
    if (node === undefined || this.#volumesByHandle.get(`${driver} ${handle}`).length === 0) return undefined;
    const name = attachmentNameOf({ driver, handle }, node, this.#sha256);
    const uniqueName = uniqueNameOf({ driver, handle });
    const isMounted = this.#nodes.getKey(node)?.status.volumesInUse?.includes(uniqueName) ?? false;
    if (isMounted || this.attachments.getKey(name) !== undefined) return undefined;
    return { name, dangling: { driver, node, uniqueName, target: { handle, nodeId } } };
  }
}

function sourceKeys(volume: PersistentVolume, key: (source: { readonly driver: string; readonly handle: string }) => string): readonly string[] {
  const source = csiSourceOf(volume);
  return source === undefined ? [] : [key(source)];
}
