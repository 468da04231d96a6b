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
    this.#podsOfClaim = podsByClaim(lists.pods);
    this.#attachmentsOfVolume = attachmentsByVolume(lists.attachments);
    this.#attachmentsOfNode = attachmentsByNode(lists.attachments);
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
    return this.#podsOfClaim.get(claimKey(namespace, claim)) ?? none;
  }

  attachmentsOf(volume: string): readonly Stored<VolumeAttachment>[] {
    return (volume === '' ? undefined : this.#attachmentsOfVolume.get(volume)) ?? none;
  }

  attachmentsAt(node: string): readonly Stored<VolumeAttachment>[] {
    return this.#attachmentsOfNode.get(node) ?? [];
  }
}

/** The same for all that have none: rows compare what they were made of. */
const none: readonly never[] = [];

/** 'namespace/name', or 'name' of an object without a namespace. */
export const keyOf = ({ metadata: { namespace = '', name } }: Stored): string => (namespace === '' ? name : claimKey(namespace, name));

/** An index of a list that did not change is that of the view before: of thousands of claims, one changes at a time. */
function memoized<List extends object, Made>(make: (list: List) => Made): (list: List) => Made {
  const made = new WeakMap<List, Made>();
  return (list) => {
    const known = made.get(list);
    if (known !== undefined) return known;
    const index = make(list);
    made.set(list, index);
    return index;
  };
}

const keyIndex = memoized((objects: readonly Stored[]): ReadonlyMap<string, Stored> => new Map(objects.map((object) => [keyOf(object), object])));
const byKey = <T extends KubeObject>(objects: readonly Stored<T>[]) => keyIndex(objects) as ReadonlyMap<string, Stored<T>>;

const podsByClaim = memoized((pods: StorageLists['pods']) => grouped(pods, claimsOfPod));
const attachmentsByVolume = memoized((attachments: StorageLists['attachments']) =>
  grouped(attachments, ({ spec }) => [spec.source.persistentVolumeName ?? '']),
);
const attachmentsByNode = memoized((attachments: StorageLists['attachments']) => grouped(attachments, ({ spec }) => [spec.nodeName]));

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
