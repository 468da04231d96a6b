import type { ConfigMap, CSIDriver, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret, VolumeAttachment } from '../../api/generated/types.ts';
import { configMapKind } from '../../api/kinds/core/config-map.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { secretKind } from '../../api/kinds/core/secret.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { csiSourceOf } from '../../api/volumes/csi-translation.ts';
import { attachmentNameOf, uniqueNameOf } from '../../storage/volumes/attachable.ts';
import { claimsOfPod, hasEnded } from '../../storage/volumes/pods.ts';
import type { Cache, Index } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { NodeAllocations } from '../allocations.ts';
import type { Host } from '../host.ts';
import { claimedVolume } from '../volumes/claimed-volume.ts';
import type { VolumeSnapshot } from '../volumes/volume-state.ts';
import { usedVolumes } from '../volumes/used-volumes.ts';
import { dependenciesOf, nodeOfPod } from './indexes.ts';

export interface NodeCachesOptions {
  readonly hosts: ReadonlyMap<string, Host>;
  readonly informers: Informers;
  readonly allocations: NodeAllocations;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** The caches, arranged so that everything about one pod or one node is found without looking at anything else. */
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
  /** Pods that wait for something, by what it is. */
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

  podsOn(node: string): readonly Pod[] {
    return this.#podsByNode.get(node);
  }

  /** Whether the node has taken it in: said already, or about to be. */
  isAdmitted({ metadata: { uid = '' }, status }: Pod, { name }: Host): boolean {
    return status.startTime !== undefined || this.#options.allocations.isAdmitted(name, uid);
  }

  /** Those that pods of the node have. */
  addresses(node: string): ReadonlySet<string> {
    const said = this.#podsByNode.get(node).flatMap((pod) => (hasEnded(pod) ? [] : (pod.status.podIP ?? [])));
    return new Set([...said, ...this.#options.allocations.addresses(node)]);
  }

  volumeSnapshot(pod: Pod, host: Host): VolumeSnapshot {
    const { allocations: holdings, sha256 } = this.#options;
    return {
      node: this.nodes.getKey(host.name),
      claim: (key) => this.#claims.getKey(key),
      volume: (name) => this.#volumes.getKey(name),
      configMap: (key) => this.#configMaps.getKey(key),
      secret: (key) => this.#secrets.getKey(key),
      attachRequired: (driver) => this.#isAttachRequired(driver),
      hasDriver: (driver) => host.drivers.some(({ name }) => name === driver),
      attachment: (source) => {
        const name = attachmentNameOf(source, host.name, sha256);
        return { name, object: this.#attachments.getKey(name) };
      },
      mayMount: (volume) => holdings.mayMount(host.name, volume),
      isMountedByOtherPod: (claim) => this.#podsByClaim.get(claim).some((other) => other.metadata.uid !== pod.metadata.uid && this.#isInside(other, host)),
    };
  }

  #isAttachRequired(driver: string): boolean {
    return this.#drivers.getKey(driver)?.spec.attachRequired !== false;
  }

  /** It has its volumes mounted on the node. */
  #isInside(pod: Pod, { name }: Host): boolean {
    if (pod.spec.nodeName !== name) return false;
    if (this.#options.allocations.assignment(name, pod.metadata.uid ?? '') !== undefined) return true;
    const hasSandbox = pod.status.conditions?.some(({ type, status }) => type === 'PodReadyToStartContainers' && status === 'True');
    return hasSandbox === true && !hasEnded(pod);
  }

  /** Volumes that pods of the node have mounted or wait for, if they have to be attached; as node statuses call them. */
  readonly volumesInUse = (node: string): readonly string[] => {
    const inUse = new Set(this.#options.allocations.mountedVolumes(node));
    for (const pod of this.#claimants.get(node)) for (const volume of this.#attachables(pod)) inUse.add(volume);
    return [...inUse].sort();
  };

  *#attachables(pod: Pod): Generator<string> {
    const claims = { claim: (key: string) => this.#claims.getKey(key), volume: (name: string) => this.#volumes.getKey(name) };
    for (const use of usedVolumes(pod)) {
      const claimed = claimedVolume(pod, use, claims);
      const source = claimed?.type === 'volume' ? csiSourceOf(claimed.volume) : undefined;
      if (source !== undefined && this.#isAttachRequired(source.driver)) yield uniqueNameOf(source);
    }
  }
}
