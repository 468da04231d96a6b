import type { ConfigMap, CSIDriver, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret, VolumeAttachment } from '../../api/generated/types.ts';
import { configMapKind } from '../../api/kinds/core/config-map.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { secretKind } from '../../api/kinds/core/secret.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { Stored } from '../../api/stored.ts';
import { csiSourceOf } from '../../api/volumes/csi-translation.ts';
import { attachmentNameOf, uniqueNameOf } from '../../storage/volumes/attachable.ts';
import { claimsOfPod, hasEnded } from '../../storage/volumes/pods.ts';
import type { Cache, Index } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { NodeAllocations } from '../allocations.ts';
import type { Host } from '../host.ts';
import { withAllocatedResources } from '../pods/allocated-resources.ts';
import type { VolumesInUse } from '../volumes-in-use.ts';
import { updatePeriodMs } from '../volumes/attach-limit.ts';
import { claimedVolume } from '../volumes/claimed-volume.ts';
import type { VolumeSnapshot } from '../volumes/volume-state.ts';
import { usedVolumes } from '../volumes/used-volumes.ts';
import { dependenciesOf, nodeOfPod } from './indexes.ts';

export interface NodeCachesOptions {
  readonly hosts: ReadonlyMap<string, Host>;
  readonly informers: Informers;
  readonly allocations: NodeAllocations;
  readonly inUse: VolumesInUse;
  /** Of a single node: whether the CSI driver has registered by its socket. */
  readonly isRegistered?: (driver: string) => boolean;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** The informers' caches of one agent, indexed so that everything about one pod or one node is found without a scan. */
export class NodeCaches {
  readonly pods: Cache<Pod>;
  readonly nodes: Cache<Node>;
  readonly #claims: Cache<PersistentVolumeClaim>;
  readonly #volumes: Cache<PersistentVolume>;
  readonly #attachments: Cache<VolumeAttachment>;
  readonly #drivers: Cache<CSIDriver>;
  readonly #configMaps: Cache<ConfigMap>;
  readonly #secrets: Cache<Secret>;
  readonly #podsByNode: Index<Pod>;
  readonly #podsByClaim: Index<Pod>;
  /** By node: pods that use claims, and have not ended. */
  readonly #claimants: Index<Pod>;
  /** Pods that wait for something, by `dependency`. */
  readonly waitingPods: Index<Pod>;
  readonly #options: NodeCachesOptions;

  constructor(options: NodeCachesOptions) {
    const { informers } = options;
    this.#options = options;
    this.pods = informers.cache(podKind);
    this.nodes = informers.cache(nodeKind);
    this.#claims = informers.cache(persistentVolumeClaimKind);
    this.#volumes = informers.cache(persistentVolumeKind);
    this.#attachments = informers.cache(volumeAttachmentKind);
    this.#drivers = informers.cache(csiDriverKind);
    this.#configMaps = informers.cache(configMapKind);
    this.#secrets = informers.cache(secretKind);
    this.#podsByNode = this.pods.addIndex(nodeOfPod);
    this.#podsByClaim = this.pods.addIndex(claimsOfPod);
    this.#claimants = this.pods.addIndex((pod) => (claimsOfPod(pod).length === 0 || hasEnded(pod) ? [] : nodeOfPod(pod)));
    this.waitingPods = this.pods.addIndex(dependenciesOf);
  }

  hostOf({ spec: { nodeName = '' } }: Pod): Host | undefined {
    return this.#options.hosts.get(nodeName);
  }

  podsOn(node: string): readonly Stored<Pod>[] {
    return this.#podsByNode.get(node);
  }

  /** Pods of the node that use a claim. */
  podsUsing(claim: string, node: string): readonly Stored<Pod>[] {
    return this.#podsByClaim.get(claim).filter(({ spec }) => spec.nodeName === node);
  }

  /** Whether the node has admitted the pod: its status says so, or is about to. */
  isAdmitted({ metadata: { uid }, status }: Stored<Pod>, { name }: Host): boolean {
    return status.startTime !== undefined || this.#options.allocations.isAdmitted(name, uid);
  }

  /** The other pods that count against the node's capacity, with what they have been given of it. */
  admittedPodsExcept(uid: string, host: Host): readonly Stored<Pod>[] {
    return this.#podsByNode
      .get(host.name)
      .filter((other) => other.metadata.uid !== uid && this.isAdmitted(other, host) && !hasEnded(other))
      .map((other) => (this.#options.allocations.isResized(host.name, other.metadata) ? other : withAllocatedResources(other)));
  }

  /** Addresses that other pods of the node have. */
  addressesExcept(uid: string, node: string): Set<string> {
    const addresses = new Set<string>();
    for (const [other, address] of this.#options.allocations.addresses(node)) if (other !== uid) addresses.add(address);
    for (const pod of this.#podsByNode.get(node)) {
      if (pod.metadata.uid !== uid && pod.status.podIP !== undefined && !hasEnded(pod)) addresses.add(pod.status.podIP);
    }
    return addresses;
  }

  readonly config = {
    configMap: (key: string): Stored<ConfigMap> | undefined => this.#configMaps.getKey(key),
    secret: (key: string): Stored<Secret> | undefined => this.#secrets.getKey(key),
  };

  /** What the node knows when it is to mount volumes, but for `isMountedByOtherPod`: that is known to the component that mounts. */
  volumeSnapshot(host: Host): Omit<VolumeSnapshot, 'isMountedByOtherPod'> {
    const { inUse, sha256 } = this.#options;
    return {
      node: this.nodes.getKey(host.name),
      claim: (key) => this.#claims.getKey(key),
      volume: (name) => this.#volumes.getKey(name),
      ...this.config,
      attachRequired: (driver) => this.#isAttachRequired(driver),
      hasChangingLimit: (driver) => updatePeriodMs(this.#drivers.getKey(driver)) !== undefined,
      hasDriver: (driver) => host.drivers.some(({ name }) => name === driver) || this.#options.isRegistered?.(driver) === true,
      attachment: (source) => {
        const name = attachmentNameOf(source, host.name, sha256);
        return { name, object: this.#attachments.getKey(name) };
      },
      mayMount: (volume) => inUse.mayMount(host.name, volume),
    };
  }

  #isAttachRequired(driver: string): boolean {
    return this.#drivers.getKey(driver)?.spec.attachRequired !== false;
  }

  /** Attachable volumes that pods of the node use or wait for, as node statuses name them. */
  attachableVolumes(node: string): ReadonlySet<string> {
    return new Set(this.#claimants.get(node).flatMap((pod) => [...this.#attachablesOf(pod)]));
  }

  *#attachablesOf(pod: Stored<Pod>): Generator<string> {
    const claims = { claim: (key: string) => this.#claims.getKey(key), volume: (name: string) => this.#volumes.getKey(name) };
    for (const use of usedVolumes(pod)) {
      const claimed = claimedVolume(pod, use, claims);
      const source = claimed?.type === 'volume' ? csiSourceOf(claimed.volume) : undefined;
      if (source !== undefined && this.#isAttachRequired(source.driver)) yield uniqueNameOf(source);
    }
  }
}
