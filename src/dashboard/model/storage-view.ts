import type { CSIDriver, CSINode, Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, VolumeAttachment } from '../../api/generated/types.ts';
import type { VolumeSnapshot } from '../../api/kinds/snapshot/volume-snapshot.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { claimKey } from '../../storage/volumes/claim.ts';
import { claimsOfPod } from '../../storage/volumes/pods.ts';

/** The kinds that the views show. */
export interface StorageKinds {
  readonly claims: PersistentVolumeClaim;
  readonly volumes: PersistentVolume;
  readonly pods: Pod;
  readonly attachments: VolumeAttachment;
  readonly nodes: Node;
  readonly csiNodes: CSINode;
  readonly classes: StorageClass;
  readonly drivers: CSIDriver;
  readonly snapshots: VolumeSnapshot;
}

export type StorageLists = { readonly [List in keyof StorageKinds]: readonly Stored<StorageKinds[List]>[] };

/** The objects of storage, and which belongs to which. */
export class StorageView {
  readonly lists: StorageLists;
  readonly #claims: ReadonlyMap<string, Stored<PersistentVolumeClaim>>;
  readonly #volumes: ReadonlyMap<string, Stored<PersistentVolume>>;
  readonly #nodes: ReadonlyMap<string, Stored<Node>>;
  readonly #csiNodes: ReadonlyMap<string, Stored<CSINode>>;
  readonly #drivers: ReadonlyMap<string, Stored<CSIDriver>>;
  readonly #podsOfClaim: ReadonlyMap<string, readonly Stored<Pod>[]>;
  readonly #attachmentsOfVolume: ReadonlyMap<string, readonly Stored<VolumeAttachment>[]>;
  readonly #attachmentsOfNode: ReadonlyMap<string, readonly Stored<VolumeAttachment>[]>;

  constructor(lists: StorageLists) {
    this.lists = lists;
    this.#claims = byKey(lists.claims);
    this.#volumes = byKey(lists.volumes);
    this.#nodes = byKey(lists.nodes);
    this.#csiNodes = byKey(lists.csiNodes);
    this.#drivers = byKey(lists.drivers);
    this.#podsOfClaim = grouped(lists.pods, claimsOfPod);
    this.#attachmentsOfVolume = grouped(lists.attachments, ({ spec }) => [spec.source.persistentVolumeName ?? '']);
    this.#attachmentsOfNode = grouped(lists.attachments, ({ spec }) => [spec.nodeName]);
  }

  claim(namespace: string, name: string): Stored<PersistentVolumeClaim> | undefined {
    return this.#claims.get(claimKey(namespace, name));
  }

  volume(name: string): Stored<PersistentVolume> | undefined {
    return this.#volumes.get(name);
  }

  node(name: string): Stored<Node> | undefined {
    return this.#nodes.get(name);
  }

  csiNode(name: string): Stored<CSINode> | undefined {
    return this.#csiNodes.get(name);
  }

  driver(name: string): Stored<CSIDriver> | undefined {
    return this.#drivers.get(name);
  }

  pod(namespace: string, name: string): Stored<Pod> | undefined {
    return this.lists.pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  }

  podsOf(namespace: string, claim: string): readonly Stored<Pod>[] {
    return this.#podsOfClaim.get(claimKey(namespace, claim)) ?? [];
  }

  attachmentsOf(volume: string): readonly Stored<VolumeAttachment>[] {
    return (volume === '' ? undefined : this.#attachmentsOfVolume.get(volume)) ?? [];
  }

  attachmentsAt(node: string): readonly Stored<VolumeAttachment>[] {
    return this.#attachmentsOfNode.get(node) ?? [];
  }
}

/** 'namespace/name', or 'name' of an object without a namespace. */
export const keyOf = ({ metadata: { namespace = '', name } }: Stored): string => (namespace === '' ? name : claimKey(namespace, name));

const byKey = <T extends KubeObject>(objects: readonly Stored<T>[]): Map<string, Stored<T>> => new Map(objects.map((object) => [keyOf(object), object]));

function grouped<T>(objects: readonly T[], keysOf: (object: T) => readonly string[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const object of objects) {
    for (const key of keysOf(object)) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [object]);
      else group.push(object);
    }
  }
  return groups;
}
