import type { CSINode, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, VolumeAttachment } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { csiSourceOf, csiSourceOfInline, migratedPluginOf } from '../../api/volumes/csi-translation.ts';
import { claimKey } from '../../storage/volumes/claim.ts';
import { claimsOfPod } from '../../storage/volumes/pods.ts';
import { csiDriverOf } from '../../api/volumes/csi-migration.ts';
import { classOfClaim, nameOfClass } from '../../api/volumes/storage-class.ts';
import { entryOf } from '../../storage/volumes/volume-index.ts';
import {
  type ClusterEvent,
  type ClusterSnapshot,
  type CyclePlugin,
  type NodeInfo,
  type ObjectChange,
  type Plugin,
  type PodInfo,
  type Rejection,
  rejection,
} from '../framework.ts';
import { isMigratable } from '../volume-binding/csi-migration.ts';

const name = 'NodeVolumeLimits';

/** NodeVolumeLimits: at most CSINode's allocatable.count volumes of a driver on a node. */
export function nodeVolumeLimits(): Plugin {
  const limits = new AttachLimits();
  return {
    name,
    preFilter: (pod, snapshot) => (usesAttachable(pod.pod) ? new VolumeLimitsCycle(volumesOf(pod.pod, snapshot.views), limits, snapshot.views) : 'skip'),
    observe: (change) => limits.observe(change),
    queueingHints: { events: ['csiNode', 'node', 'pod', 'claim', 'volume', 'storageClass', 'attachment'], hint: queueingHint },
  };
}

type Views = ClusterSnapshot['views'];

/** Drivers by volume ('<driver>/<handle>'). */
type Attachables = ReadonlyMap<string, string>;

const usesAttachable = ({ spec }: Pod): boolean =>
  (spec.volumes ?? []).some(
    (volume) => volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined || csiSourceOfInline(volume) !== undefined,
  );

/** The volumes of a pod that count against a node's limit, those that are not provisioned yet included. */
export function volumesOf(pod: Pod, views: Pick<Views, 'claim' | 'volume' | 'storageClass'>): Attachables {
  const found = new Map<string, string>();
  addVolumes(pod, views, found);
  return found;
}

/** A claim that does not exist counts for nothing. */
function addVolumes({ metadata, spec }: Pod, views: Pick<Views, 'claim' | 'volume' | 'storageClass'>, found: Map<string, string>): void {
  const { namespace = '', name: podName = '' } = metadata;
  for (const volume of spec.volumes ?? []) {
    const { persistentVolumeClaim, ephemeral } = volume;
    const claimName = persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? undefined : `${podName}-${volume.name}`);
    const source = claimName === undefined ? csiSourceOfInline(volume) : sourceOfClaim(views.claim.getKey(claimKey(namespace, claimName)), views);
    if (source !== undefined && source.driver !== '' && source.handle !== '') found.set(`${source.driver}/${source.handle}`, source.driver);
  }
}

type Source = { readonly driver: string; readonly handle: string } | undefined;

function sourceOfClaim(claim: PersistentVolumeClaim | undefined, views: Pick<Views, 'volume' | 'storageClass'>): Source {
  if (claim === undefined) return undefined;
  const volume = claim.spec.volumeName === undefined ? undefined : views.volume.getKey(claim.spec.volumeName);
  return volume === undefined ? sourceToProvision(claim, views.storageClass.getKey(nameOfClass(classOfClaim(claim)))) : sourceOfVolume(volume);
}

function sourceOfVolume(volume: PersistentVolume): Source {
  if (volume.spec.csi !== undefined) return { driver: volume.spec.csi.driver, handle: volume.spec.csi.volumeHandle };
  const plugin = migratedPluginOf(volume);
  return plugin === undefined || !isMigratable(plugin) ? undefined : csiSourceOf(volume);
}

/** A volume that is not provisioned yet counts too. No driver has such a handle. */
function sourceToProvision({ metadata }: PersistentVolumeClaim, storageClass: StorageClass | undefined): Source {
  if (storageClass === undefined) return undefined;
  const { provisioner } = storageClass;
  const handle = `to be made for ${claimKey(metadata.namespace ?? '', metadata.name ?? '')}`;
  const successor = csiDriverOf(provisioner);
  if (successor === undefined) return { driver: provisioner, handle };
  return isMigratable(provisioner) ? { driver: successor, handle } : undefined;
}

/** The limits of nodes, and their VolumeAttachments. */
class AttachLimits {
  /** By node, then by driver. Only nodes with a limit. */
  readonly #limits = new Map<string, ReadonlyMap<string, number>>();
  /** By node, then by name. */
  readonly #attachments = new Map<string, Map<string, VolumeAttachment>>();

  observe(change: ClusterEvent): void {
    if (change.resource === 'csiNode') this.#observeNode(change);
    else if (change.resource === 'attachment') this.#observeAttachment(change);
  }

  #observeNode({ before, after }: ObjectChange<Stored<CSINode>>): void {
    const nodeName = (after ?? before).metadata.name;
    const limits = after === undefined ? noLimits : limitsOf(after);
    if (limits.size === 0) this.#limits.delete(nodeName);
    else this.#limits.set(nodeName, limits);
  }

  #observeAttachment({ before, after }: ObjectChange<Stored<VolumeAttachment>>): void {
    if (before !== undefined) {
      const attached = this.#attachments.get(before.spec.nodeName);
      attached?.delete(before.metadata.name);
      if (attached?.size === 0) this.#attachments.delete(before.spec.nodeName);
    }
    if (after !== undefined) entryOf(this.#attachments, after.spec.nodeName, () => new Map<string, VolumeAttachment>()).set(after.metadata.name, after);
  }

  of(nodeName: string): ReadonlyMap<string, number> | undefined {
    return this.#limits.get(nodeName);
  }

  attachmentsTo(nodeName: string): ReadonlyMap<string, VolumeAttachment> {
    return this.#attachments.get(nodeName) ?? noAttachments;
  }
}

const noLimits: ReadonlyMap<string, number> = new Map();
const noAttachments: ReadonlyMap<string, VolumeAttachment> = new Map();

function limitsOf({ spec }: CSINode): ReadonlyMap<string, number> {
  return new Map((spec.drivers ?? []).flatMap(({ name: driver, allocatable }) => (allocatable?.count === undefined ? [] : [[driver, allocatable.count]])));
}

class VolumeLimitsCycle implements CyclePlugin {
  readonly #wanted: Attachables;
  readonly #limits: AttachLimits;
  readonly #views: Views;
  /** By driver and limit. */
  readonly #rejections = new Map<string, Rejection>();

  constructor(wanted: Attachables, limits: AttachLimits, views: Views) {
    this.#wanted = wanted;
    this.#limits = limits;
    this.#views = views;
  }

  filter(node: NodeInfo): Rejection | undefined {
    const limits = this.#limits.of(node.name);
    if (limits === undefined || this.#wanted.size === 0 || !this.#mayExceed(node, limits)) return undefined;
    const { used, counts } = this.#presentOn(node);
    for (const driver of new Set(this.#wanted.values())) {
      const limit = limits.get(driver);
      if (limit === undefined) continue;
      let more = 0;
      for (const [volume, each] of this.#wanted) if (each === driver && !used.has(volume)) more++;
      if (more > 0 && (counts.get(driver) ?? 0) + more > limit) return this.#reject(driver, limit);
    }
    return undefined;
  }

  /** An upper bound without claim lookups: most nodes are far from their limit. */
  #mayExceed({ name: nodeName, pods }: NodeInfo, limits: ReadonlyMap<string, number>): boolean {
    let least = Number.POSITIVE_INFINITY;
    for (const driver of this.#wanted.values()) least = Math.min(least, limits.get(driver) ?? Number.POSITIVE_INFINITY);
    let most = this.#wanted.size + this.#limits.attachmentsTo(nodeName).size;
    for (const { pod } of pods) most += pod.spec.volumes?.length ?? 0;
    return most > least;
  }

  /** The volumes in use by pods of the node, and the number per driver. Attached volumes without a pod count too. */
  #presentOn({ name: nodeName, pods }: NodeInfo): { readonly used: Attachables; readonly counts: ReadonlyMap<string, number> } {
    const used = new Map<string, string>();
    for (const { pod } of pods) addVolumes(pod, this.#views, used);
    const all = new Map(used);
    for (const { spec } of this.#limits.attachmentsTo(nodeName).values()) {
      const handle = this.#views.volume.getKey(spec.source.persistentVolumeName ?? '')?.spec.csi?.volumeHandle;
      if (spec.attacher !== '' && handle !== undefined) all.set(`${spec.attacher}/${handle}`, spec.attacher);
    }
    const counts = new Map<string, number>();
    for (const driver of all.values()) counts.set(driver, (counts.get(driver) ?? 0) + 1);
    return { used, counts };
  }

  #reject(driver: string, limit: number): Rejection {
    return entryOf(this.#rejections, `${driver}/${limit}`, () =>
      rejection('unschedulable', name, {
        text: 'node(s) exceed max volume count',
        rule: 'volumeLimit',
        detail: () => ({ found: `would exceed its limit of ${limit} volumes of driver "${driver}"`, wanted: 'fewer volumes, or a higher limit' }),
      }),
    );
  }
}

function queueingHint(pod: PodInfo, change: ClusterEvent): boolean {
  switch (change.resource) {
    case 'csiNode':
      return change.before === undefined || isRaised(limitsOf(change.before), change.after === undefined ? noLimits : limitsOf(change.after));
    case 'node':
      // Without a CSINode, it has no limit.
      return change.before === undefined;
    case 'pod':
      if (change.after === undefined) return change.before !== undefined && usesAttachable(change.before);
      // A volume that is attached already does not count again.
      return change.before === undefined && claimsOfPod(change.after).some((key) => pod.claims.includes(key));
    case 'claim':
      // A deleted claim does not count any more.
      return change.after === undefined || pod.claims.includes(claimKey(change.after.metadata.namespace ?? '', change.after.metadata.name));
    case 'storageClass':
      return change.before !== undefined && change.before.provisioner !== change.after?.provisioner;
    case 'volume':
      // A claim whose PV does not exist counts for its class's driver.
      return driverOf(change.before) !== driverOf(change.after) || (change.before === undefined && driverOf(change.after) === undefined);
    case 'attachment':
      // After a list, an informer shows a later VolumeAttachment of the same name as an update.
      return change.before !== undefined && !attachesSame(change.before, change.after);
    default:
      return false;
  }
}

function attachesSame(before: VolumeAttachment, after: VolumeAttachment | undefined): boolean {
  return before.spec.nodeName === after?.spec.nodeName && before.spec.source.persistentVolumeName === after.spec.source.persistentVolumeName;
}

const driverOf = (volume: PersistentVolume | undefined): string | undefined => (volume === undefined ? undefined : sourceOfVolume(volume)?.driver);

/** A driver without a count has no limit. */
function isRaised(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): boolean {
  return [...before].some(([driver, limit]) => (after.get(driver) ?? Number.POSITIVE_INFINITY) > limit);
}
