import type { CSINode, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import { claimKey } from '../../storage/volumes/claim.ts';
import { isFree, type Volume } from '../../storage/volumes/volume.ts';
import {
  type ClusterEvent,
  type ClusterSnapshot,
  type CyclePlugin,
  type NodeInfo,
  type ObjectChange,
  type Plugin,
  type PluginFailure,
  pluginFailure,
  type PodInfo,
  type PreBindContext,
  type Rejection,
  rejection,
  type RejectionDetail,
  type RejectionReason,
} from '../framework.ts';
import { ObjectWaiters } from './object-waiters.ts';
import {
  type ConflictReason,
  findPodVolumes,
  fitsSingleClaim,
  likelyNodes,
  type PodVolumeClaims,
  podVolumeClaims,
  type VolumesSnapshot,
} from './find-pod-volumes.ts';
import { NodeLabelIndex } from './node-label-index.ts';
import { migratedPluginsOf } from './csi-migration.ts';
import { volumeTopologyOfTerms } from './volume-topology.ts';
import { assumePodVolumes, type PodVolumes, revertAssumedPodVolumes } from './pod-volumes.ts';
import { claimsOf } from './pod-claims.ts';
import { bindPodVolumes, type BoundClaim, confirmClaims } from './bind-pod-volumes.ts';
import { largestVolume, StorageCapacityIndex } from './storage-capacity-index.ts';
import { VolumeAssumeCache } from './assume-cache.ts';

const name = 'VolumeBinding';

export interface VolumeBindingOptions {
  /** PV and PVC are bound in one transaction: the API server is Mooring's own. */
  readonly bindsTogether: boolean;
  /** bindTimeoutSeconds: how long PreBind waits for the volumes. */
  readonly timeoutMs?: number;
}

/** VolumeBinding: a pod goes to a node that can access its volumes. Claims with WaitForFirstConsumer get their volume together with the pod's node. */
export function volumeBinding(options: VolumeBindingOptions): Plugin {
  const plugin = new VolumeBindingPlugin(options);
  return {
    name,
    preFilter: (pod, snapshot) => plugin.preFilter(pod, snapshot),
    observe: (change) => plugin.observe(change),
    queueingHints: {
      events: ['storageClass', 'claim', 'volume', 'node', 'csiNode', 'csiDriver', 'storageCapacity', 'pod'],
      hint: (pod, change) => plugin.queueingHint(pod, change),
    },
  };
}

const tenMinutes = 600_000;

/** The plugin's state across scheduling cycles. */
class VolumeBindingPlugin {
  readonly waiters = new ObjectWaiters();
  readonly nodeLabels = new NodeLabelIndex();
  readonly assumeCache = new VolumeAssumeCache(this.nodeLabels);
  readonly bindsTogether: boolean;
  readonly timeoutMs: number;
  readonly #capacities = new StorageCapacityIndex();
  /** By node: the in-tree plugins that its kubelet has migrated to CSI. Only nodes that have any. */
  readonly #migratedPlugins = new Map<string, ReadonlySet<string>>();
  /** The uid of the pod whose assumptions were reverted last. */
  #revertedPod: string | undefined;

  constructor({ bindsTogether, timeoutMs = tenMinutes }: VolumeBindingOptions) {
    this.bindsTogether = bindsTogether;
    this.timeoutMs = timeoutMs;
  }

  observe(change: ClusterEvent): void {
    switch (change.resource) {
      case 'volume':
        this.assumeCache.observeVolume(change);
        return this.#notifyVolume(change.after ?? change.before);
      case 'claim': {
        this.assumeCache.observeClaim(change);
        if (this.waiters.isEmpty) return;
        return this.waiters.notify(`pvc/${refKey((change.after ?? change.before).metadata)}`);
      }
      case 'node':
        this.nodeLabels.observe(change);
        return this.waiters.notify(`node/${(change.after ?? change.before).metadata.name}`);
      case 'csiNode':
        return this.#observeCsiNode(change);
      case 'storageCapacity':
        return this.#capacities.observe(change);
      default:
        return undefined;
    }
  }

  /** A pod that waits for provisioning knows the claim's name, not the PV's. */
  #notifyVolume(volume: Stored<PersistentVolume>): void {
    if (this.waiters.isEmpty) return;
    this.waiters.notify(`pv/${volume.metadata.name}`);
    const ref = volume.spec.claimRef;
    if (ref !== undefined) this.waiters.notify(`pvc/${refKey(ref)}`);
  }

  #observeCsiNode({ before, after }: ObjectChange<Stored<CSINode>>): void {
    const { name: nodeName } = (after ?? before).metadata;
    const plugins = after === undefined ? undefined : migratedPluginsOf(after);
    if (plugins === undefined || plugins.size === 0) this.#migratedPlugins.delete(nodeName);
    else this.#migratedPlugins.set(nodeName, plugins);
  }

  isMigratedOn(plugin: string, nodeName: string): boolean {
    return this.#migratedPlugins.get(nodeName)?.has(plugin) ?? false;
  }

  preFilter(pod: PodInfo, { views }: ClusterSnapshot): 'skip' | Rejection | CyclePlugin {
    const { assumeCache } = this;
    const claims = claimsOf(pod, {
      apiClaim: (key) => assumeCache.apiClaim(key),
      claim: (key) => assumeCache.claim(key),
      storageClass: (className) => views.storageClass.getKey(className),
    });
    if (claims.type === 'none') return 'skip';
    if (claims.type === 'refused') return rejection('unresolvable', name, claims.reason);
    const snapshot: VolumesSnapshot = {
      volume: (volumeName) => assumeCache.volume(volumeName),
      volumesWithClaimRef: (key) => assumeCache.volumesWithClaimRef(key),
      candidatesFor: (claim) => assumeCache.candidatesFor(claim),
      reportsCapacity: (driver) => views.csiDriver.getKey(driver)?.spec.storageCapacity === true,
      hasEnoughCapacity: (className, bytes, labels) => this.#capacities.hasEnoughCapacity(className, bytes, labels),
      isMigratedOn: (plugin, nodeName) => this.isMigratedOn(plugin, nodeName),
    };
    return new VolumeBindingCycle(pod, podVolumeClaims(claims, snapshot), this);
  }

  revert(volumes: PodVolumes, { uid }: PodInfo): void {
    const keys = revertAssumedPodVolumes(volumes, this.assumeCache);
    if (keys.length > 0) this.#revertedPod = uid;
    for (const key of keys) this.waiters.notify(key);
  }

  /** The nodes that can access the volume. Undefined: too costly to enumerate. */
  nodesThatReach({ nodes }: Volume): ReadonlySet<string> | undefined {
    const topology = volumeTopologyOfTerms(nodes);
    if (topology.type === 'anywhere' || topology.terms.length > maxTopologyTerms) return undefined;
    const [first] = topology.terms;
    if (topology.terms.length === 1 && first !== undefined) return this.nodeLabels.nodesWith(first.label, first.value);
    return new Set(topology.terms.flatMap(({ label, value }) => [...this.nodeLabels.nodesWith(label, value)]));
  }

  queueingHint(pod: PodInfo, change: ClusterEvent): boolean {
    switch (change.resource) {
      case 'storageClass':
        return change.after !== undefined && (change.before === undefined || hasDifferentTopology(change.before, change.after));
      case 'claim':
        return this.#claimHint(pod, change);
      case 'volume':
        return this.#volumeHint(pod, change);
      case 'node':
        return change.after !== undefined && (change.before === undefined || !semanticallyEqual(change.before.metadata.labels, change.after.metadata.labels));
      case 'csiNode':
        return change.after !== undefined && (change.before === undefined || migratedPluginsText(change.before) !== migratedPluginsText(change.after));
      case 'csiDriver':
        // Capacity is no longer checked.
        return change.before?.spec.storageCapacity === true && change.after?.spec.storageCapacity !== true;
      case 'pod':
        // Its binding failed, and its assumed volumes are free again.
        return change.after === undefined && change.before?.metadata.uid === this.#revertedPod;
      case 'storageCapacity': {
        if (change.after === undefined || change.before === undefined) return change.after !== undefined;
        const [before, after] = [largestVolume(change.before), largestVolume(change.after)];
        return after !== undefined && (before === undefined || after > before);
      }
      default:
        return false;
    }
  }

  /** A claim of the pod; or a claim that released a PV which is now free. */
  #claimHint({ claims }: PodInfo, { before, after }: ObjectChange<PersistentVolumeClaim>): boolean {
    if (after !== undefined && claims.includes(refKey(after.metadata))) return true;
    const released = before?.spec.volumeName === after?.spec.volumeName ? undefined : this.assumeCache.volume(before?.spec.volumeName ?? '');
    return released !== undefined && isFree(released);
  }

  /** A PV that belonged to another claim before and after does not help. */
  #volumeHint({ claims }: PodInfo, { before, after }: ObjectChange<PersistentVolume>): boolean {
    if (after !== undefined && after.spec.claimRef === undefined) return true;
    const names = new Set([before, after].flatMap((volume) => (volume?.spec.claimRef === undefined ? [] : [refKey(volume.spec.claimRef)])));
    return claims.some((key) => names.has(key) || this.assumeCache.claim(key)?.volumeName === (after ?? before)?.metadata.name);
  }
}

/** Provisioner and binding mode are immutable, but a class may be deleted and created again. */
const hasDifferentTopology = (before: StorageClass, after: StorageClass): boolean =>
  before.provisioner !== after.provisioner ||
  before.volumeBindingMode !== after.volumeBindingMode ||
  !semanticallyEqual(before.allowedTopologies, after.allowedTopologies);

const refKey = ({ namespace = '', name: claimName = '' }: { readonly namespace?: string; readonly name?: string }): string => claimKey(namespace, claimName);
const migratedPluginsText = (node: CSINode): string => [...migratedPluginsOf(node)].join();

/** Beyond this, enumerating the nodes costs more than filtering them. */
const maxTopologyTerms = 16;

class VolumeBindingCycle implements CyclePlugin {
  readonly likely?: ReadonlySet<string>;
  readonly #pod: PodInfo;
  readonly #claims: PodVolumeClaims;
  readonly #plugin: VolumeBindingPlugin;
  readonly #rejections = new Map<string, Rejection>();
  #volumes: PodVolumes | undefined;

  constructor(pod: PodInfo, claims: PodVolumeClaims, plugin: VolumeBindingPlugin) {
    this.#pod = pod;
    this.#claims = claims;
    this.#plugin = plugin;
    const likely = likelyNodes(claims, (volume) => plugin.nodesThatReach(volume));
    if (likely !== undefined) this.likely = likely;
  }

  filter(node: NodeInfo): Rejection | PluginFailure | undefined {
    if (fitsSingleClaim(this.#claims, node)) return undefined;
    const result = findPodVolumes(this.#claims, node);
    switch (result.type) {
      case 'found':
        return undefined;
      case 'failed':
        return pluginFailure(name, result.message);
      case 'conflict':
        return this.#reject(result.conflicts);
    }
  }

  /** Shared by all nodes with the same conflicts. */
  #reject(conflicts: readonly ConflictReason[]): Rejection {
    const key = conflicts.join();
    let known = this.#rejections.get(key);
    if (known === undefined) {
      known = { code: 'unresolvable', plugin: name, reasons: conflicts.map((conflict) => reasonFor(conflict, this.#pod.pod, this.#claims)) };
      this.#rejections.set(key, known);
    }
    return known;
  }

  reserve(node: NodeInfo): PluginFailure | undefined {
    // The scheduling cycle is synchronous: the result is the one of Filter.
    const result = findPodVolumes(this.#claims, node);
    if (result.type !== 'found') return pluginFailure(name, `no pod volume found for node "${node.name}"`);
    const assumed = assumePodVolumes(result, node.name, this.#plugin.assumeCache);
    if ('failed' in assumed) return pluginFailure(name, assumed.failed);
    this.#volumes = assumed.volumes;
    return undefined;
  }

  unreserve(): void {
    const volumes = this.#volumes;
    this.#volumes = undefined;
    if (volumes !== undefined) this.#plugin.revert(volumes, this.#pod);
  }

  preBindPreFlight(): boolean {
    return this.#volumes !== undefined && (this.#volumes.staticBindings.length > 0 || this.#volumes.dynamicProvisions.length > 0);
  }

  async preBind(_: NodeInfo, context: PreBindContext): Promise<PluginFailure | undefined> {
    const volumes = this.#volumes;
    if (volumes === undefined) return undefined;
    const why = (this.preBindPreFlight() ? await this.#bind(volumes, context) : undefined) ?? (await confirmClaims(this.#claimsToConfirm(volumes), context));
    return why === undefined ? undefined : pluginFailure(name, why);
  }

  #claimsToConfirm({ staticBindings, dynamicProvisions }: PodVolumes): readonly BoundClaim[] {
    return [...this.#claims.bound, ...staticBindings, ...dynamicProvisions].map(({ claim }) => claim);
  }

  #bind(volumes: PodVolumes, context: PreBindContext): Promise<string | undefined> {
    const { assumeCache, nodeLabels, waiters, bindsTogether, timeoutMs } = this.#plugin;
    const isMigratedOn = (plugin: string, nodeName: string) => this.#plugin.isMigratedOn(plugin, nodeName);
    return bindPodVolumes(volumes, {
      assumeCache,
      nodeLabels,
      waiters,
      bindsTogether,
      timeoutMs,
      isMigratedOn,
      framework: context,
      pod: this.#pod,
    });
  }
}

const texts: Readonly<Record<ConflictReason, { readonly text: string; readonly rule: string }>> = {
  nodeAffinity: { text: "node(s) didn't match PersistentVolume's node affinity", rule: 'volumeNodeAffinity' },
  noVolume: { text: "node(s) didn't find available persistent volumes to bind", rule: 'noVolumeToBind' },
  notEnoughSpace: { text: 'node(s) did not have enough free storage', rule: 'storageCapacity' },
  volumeMissing: { text: 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)', rule: 'volumeMissing' },
};

function reasonFor(conflict: ConflictReason, pod: Pod, claims: PodVolumeClaims): RejectionReason {
  return { ...texts[conflict], detail: () => details[conflict](claims, pod) };
}

const listed = (names: readonly string[]): string => names.map((each) => `"${each}"`).join(', ');

const details: Readonly<Record<ConflictReason, (claims: PodVolumeClaims, pod: Pod) => RejectionDetail>> = {
  nodeAffinity: ({ bound }) => {
    const tied = bound.flatMap(({ volume }) => (volume?.nodes === undefined ? [] : [volume.name]));
    return {
      found: `cannot access ${tied.length === 1 ? 'volume' : 'all of the volumes'} ${listed(tied)}`,
      wanted: `labels that match ${tied.length === 1 ? "the volume's" : "the volumes'"} node affinity`,
      ...(tied.length === 1 ? { object: `pv/${tied[0] ?? ''}` } : {}),
    };
  },
  noVolume: ({ delayed }) => {
    const [first] = delayed;
    const node = delayed.find(({ claim }) => claim.selectedNode !== undefined)?.claim.selectedNode;
    const claims = listed(delayed.map(({ claim }) => claim.name));
    if (node !== undefined) return { found: `is not node "${node}", the selected node of claim ${claims}`, wanted: `to be node "${node}"` };
    return {
      found: `can access no free volume that matches claim ${claims}, and none can be provisioned`,
      wanted: `a free volume of class "${first?.claim.className ?? ''}" that the node can access`,
      ...(delayed.length === 1 ? { object: `pvc/${first?.claim.name ?? ''}` } : {}),
    };
  },
  notEnoughSpace: ({ delayed }) => ({
    found: `has access to no storage with enough capacity for claim ${listed(delayed.map(({ claim }) => claim.name))}`,
    wanted: `more capacity in class "${delayed[0]?.claim.className ?? ''}", as reported by its driver`,
  }),
  volumeMissing: ({ bound }) => {
    const missing = bound.filter(({ volume }) => volume === undefined).map(({ claim }) => claim.volumeName);
    return {
      found: `is not usable: volume ${listed(missing)} does not exist`,
      wanted: `volume ${listed(missing)} created again`,
      object: `pv/${missing[0] ?? ''}`,
    };
  },
};
