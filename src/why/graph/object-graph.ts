import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { NodePool } from '../../api/kinds/karpenter/node-pool.ts';
import type { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from '../../api/kinds/snapshot/volume-snapshot.ts';
import type { Stored } from '../../api/stored.ts';
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  Deployment,
  Job,
  Namespace,
  Node,
  Pod,
  ReplicaSet,
  ResourceQuota,
  StatefulSet,
  StorageClass,
  VolumeAttachment,
} from '../../api/generated/types.ts';
import { type Claim, readClaim } from '../../storage/volumes/claim.ts';
import type { VolumeIntent } from '../../api/volumes/intent.ts';
import { volumeNameOf } from '../../api/volumes/intent.ts';
import { claimsOfPod } from '../../storage/volumes/pods.ts';
import { matchesNode } from '../../storage/volumes/topology.ts';
import { VolumesView } from '../../storage/volumes/view.ts';
import { readVolume, type Volume } from '../../storage/volumes/volume.ts';
import type { ObjectList, ClusterObjects } from './cluster-objects.ts';

/** The objects, indexed by the references between them. */
export class ObjectGraph {
  readonly now: number;
  readonly claims: readonly Claim[];
  readonly volumes: readonly Volume[];
  readonly pods: readonly Stored<Pod>[];
  readonly nodes: readonly Stored<Node>[];
  readonly classes: readonly Stored<StorageClass>[];
  readonly attachments: readonly Stored<VolumeAttachment>[];
  readonly drivers: readonly Stored<CSIDriver>[];
  readonly csiNodes: readonly Stored<CSINode>[];
  readonly capacities: readonly CSIStorageCapacity[];
  readonly namespaces: readonly Stored<Namespace>[];
  readonly sets: readonly Stored<StatefulSet>[];
  readonly deployments: readonly Stored<Deployment>[];
  readonly replicaSets: readonly Stored<ReplicaSet>[];
  readonly jobs: readonly Stored<Job>[];
  readonly quotas: readonly Stored<ResourceQuota>[];
  readonly snapshots: readonly Stored<VolumeSnapshot>[];
  readonly snapshotContents: readonly Stored<VolumeSnapshotContent>[];
  readonly snapshotClasses: readonly Stored<VolumeSnapshotClass>[];
  readonly nodePools: readonly Stored<NodePool>[];
  readonly nodeClaims: readonly Stored<NodeClaim>[];
  /** The pods on nodes; those of all namespaces if `wasRead('placed')`. */
  readonly placed: readonly Stored<Pod>[];
  readonly #objects: ClusterObjects;
  readonly #view = new VolumesView();
  readonly #podsByClaim = new Map<string, Stored<Pod>[]>();
  readonly #podsByOwner = new Map<string, Stored<Pod>[]>();
  readonly #reachable = new Map<string, boolean>();

  constructor(objects: ClusterObjects, now: number) {
    this.#objects = objects;
    this.now = now;
    this.claims = (objects.claims ?? []).map(readClaim);
    this.volumes = (objects.volumes ?? []).map(readVolume);
    this.pods = objects.pods ?? [];
    this.nodes = objects.nodes ?? [];
    this.classes = objects.classes ?? [];
    this.attachments = objects.attachments ?? [];
    this.drivers = objects.drivers ?? [];
    this.csiNodes = objects.csiNodes ?? [];
    this.capacities = objects.capacities ?? [];
    this.namespaces = objects.namespaces ?? [];
    this.sets = objects.sets ?? [];
    this.deployments = objects.deployments ?? [];
    this.replicaSets = objects.replicaSets ?? [];
    this.jobs = objects.jobs ?? [];
    this.quotas = objects.quotas ?? [];
    this.snapshots = objects.snapshots ?? [];
    this.snapshotContents = objects.snapshotContents ?? [];
    this.snapshotClasses = objects.snapshotClasses ?? [];
    this.nodePools = objects.nodePools ?? [];
    this.nodeClaims = objects.nodeClaims ?? [];
    this.placed = (objects.placed ?? this.pods).filter(
      ({ spec, status }) => (spec.nodeName ?? '') !== '' && status.phase !== 'Succeeded' && status.phase !== 'Failed',
    );
    for (const { object } of this.claims) this.#view.changeClaim(undefined, object);
    for (const { object } of this.volumes) this.#view.changeVolume(undefined, object);
    for (const pod of this.pods) {
      for (const key of new Set(claimsOfPod(pod))) this.#podsByClaim.set(key, [...(this.#podsByClaim.get(key) ?? []), pod]);
      const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
      if (owner !== undefined) this.#podsByOwner.set(owner, [...(this.#podsByOwner.get(owner) ?? []), pod]);
    }
  }

  /** Only if a list was read does the absence of an object mean anything. */
  wasRead(list: ObjectList): boolean {
    return this.#objects[list] !== undefined;
  }

  claim(key: string): Claim | undefined {
    return this.#view.claim(key);
  }

  volume(name: string): Volume | undefined {
    return this.#view.volumes.get(name);
  }

  /** The claim that was bound to the volume, also if the volume's claimRef was changed since. */
  ownerOf(volumeName: string): Claim | undefined {
    return this.#view.ownerOf(volumeName);
  }

  class(name: string): Stored<StorageClass> | undefined {
    return this.classes.find(({ metadata }) => metadata.name === name);
  }

  node(name: string): Stored<Node> | undefined {
    return this.nodes.find(({ metadata }) => metadata.name === name);
  }

  /** Whether any node can reach the volume. */
  isReachable({ nodes, object }: Volume): boolean {
    if (nodes === undefined) return true;
    // Thousands of volumes share a few node affinities.
    const place = JSON.stringify(object.spec.nodeAffinity);
    let answer = this.#reachable.get(place);
    if (answer === undefined) {
      answer = this.nodes.some(({ metadata: { name, labels } }) => matchesNode(nodes, { name, labels }));
      this.#reachable.set(place, answer);
    }
    return answer;
  }

  podsUsing(key: string): readonly Stored<Pod>[] {
    return this.#podsByClaim.get(key) ?? [];
  }

  /** The pods whose controller has this uid. */
  podsOwnedBy(uid: string): readonly Stored<Pod>[] {
    return this.#podsByOwner.get(uid) ?? [];
  }

  attachmentsOf(volumeName: string): readonly Stored<VolumeAttachment>[] {
    return this.attachments.filter(({ spec }) => spec.source.persistentVolumeName === volumeName);
  }

  csiDriver(name: string): Stored<CSIDriver> | undefined {
    return this.drivers.find(({ metadata }) => metadata.name === name);
  }

  csiNode(name: string): Stored<CSINode> | undefined {
    return this.csiNodes.find(({ metadata }) => metadata.name === name);
  }

  /** Names of the nodes on which the CSI driver is registered. */
  nodesWithDriver(name: string): readonly string[] {
    return this.csiNodes.flatMap(({ metadata, spec }) => (spec.drivers?.some((driver) => driver.name === name) ? metadata.name : []));
  }

  intentFor(volumeName: string): VolumeIntent | undefined {
    return this.#objects.intents?.find((intent) => volumeNameOf(intent) === volumeName);
  }

  /** The last lines of the container's log; undefined: they were not read. */
  logOf({ metadata }: Stored<Pod>, container: string): readonly string[] | undefined {
    return this.#objects.logs?.find((log) => log.podUid === metadata.uid && log.container === container)?.lines;
  }

  /** The volume that the binder would choose for the claim. */
  bestFit(claim: Claim, options: { readonly reservedOnly: boolean }): Volume | undefined {
    return this.#view.bestFit(claim, options);
  }
}
