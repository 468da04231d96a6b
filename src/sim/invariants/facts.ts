import type {
  CSINode,
  LimitRange,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  ServiceAccount,
  StatefulSet,
  StorageClass,
  VolumeAttachment,
} from '../../api/generated/types.ts';
import type { VolumeIntent } from '../../api/kinds/mooring/volume-intent.ts';
import type { VolumeGroupSnapshotContent } from '../../api/kinds/snapshot/volume-group-snapshot.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../api/kinds/snapshot/volume-snapshot.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import type { CsiBackend, CsiEvent } from '../drivers/csi/backend.ts';
import type { DiskChange } from '../drivers/simulated-disk-driver.ts';
import type { MachineEvent } from '../host/simulated-machine.ts';

/** The kinds that the invariants observe, by the prefix of their keys in the store. */
export const watchedKinds = {
  volume: '/registry/persistentvolumes/',
  claim: '/registry/persistentvolumeclaims/',
  pod: '/registry/pods/',
  node: '/registry/nodes/',
  attachment: '/registry/storage.k8s.io/volumeattachments/',
  intent: '/registry/mooring.dev/volumeintents/',
  set: '/registry/apps/statefulsets/',
  class: '/registry/storage.k8s.io/storageclasses/',
  namespace: '/registry/namespaces/',
  quota: '/registry/resourcequotas/',
  limits: '/registry/limitranges/',
  account: '/registry/serviceaccounts/',
  csiNode: '/registry/storage.k8s.io/csinodes/',
  snapshot: '/registry/snapshot.storage.k8s.io/volumesnapshots/',
  content: '/registry/snapshot.storage.k8s.io/volumesnapshotcontents/',
  groupContent: '/registry/groupsnapshot.storage.k8s.io/volumegroupsnapshotcontents/',
} as const;

export type WatchedKind = keyof typeof watchedKinds;

export interface Watched {
  volume: Stored<PersistentVolume>;
  claim: Stored<PersistentVolumeClaim>;
  pod: Stored<Pod>;
  node: Stored<Node>;
  attachment: Stored<VolumeAttachment>;
  intent: Stored<VolumeIntent>;
  set: Stored<StatefulSet>;
  class: Stored<StorageClass>;
  namespace: Stored<Namespace>;
  quota: Stored<ResourceQuota>;
  limits: Stored<LimitRange>;
  account: Stored<ServiceAccount>;
  csiNode: Stored<CSINode>;
  snapshot: Stored<VolumeSnapshot>;
  content: Stored<VolumeSnapshotContent>;
  groupContent: Stored<VolumeGroupSnapshotContent>;
}

/** One object of a transaction, as it was before and as it is now. */
export type ObjectChange = {
  [K in WatchedKind]: {
    readonly type: K;
    readonly key: string;
    readonly revision: number;
    readonly before: Watched[K] | undefined;
    readonly after: Watched[K] | undefined;
  };
}[WatchedKind];

/** What an invariant checks: a change in the store, one at the backend, a driver call, or an answer of the server. */
export type ObservedChange =
  | ObjectChange
  | { readonly type: 'disk'; readonly change: DiskChange }
  | CsiChange
  | { readonly type: 'call'; readonly call: DriverCall }
  | { readonly type: 'expand-call'; readonly call: ExpandCall }
  | { readonly type: 'machine'; readonly node: string; readonly event: MachineEvent }
  /** `mounted`: the machine still had the disk mounted when the backend took it away. */
  | { readonly type: 'unplugged'; readonly node: string; readonly handle: string; readonly mounted: boolean }
  /** The scheduler has deleted a pod: as it was right before. */
  | { readonly type: 'scheduler-delete'; readonly key: string; readonly pod: Stored<Pod> }
  | { readonly type: 'fenced-write'; readonly lease: string; readonly epoch: number; readonly revision: number };

/** A change at the backend of a CSI driver behind sockets. */
export interface CsiChange {
  readonly type: 'csi';
  readonly backend: CsiBackend;
  /** Of the volume or the snapshot. */
  readonly id: string;
  readonly event: CsiEvent;
}

/** A call of DeleteVolume: when it is made, and later, if it `arrives`, when the backend performs it. */
export interface DriverCall {
  readonly id: number;
  readonly deletes: string;
  readonly arrives: boolean;
}

/** A call of ControllerExpandVolume: when it is made, and when its answer arrives. */
export interface ExpandCall {
  readonly handle: string;
  readonly capacity: string;
  /** `refused`: for certain nothing was done. */
  readonly outcome: 'asked' | 'expanded' | 'refused' | 'unknown';
}

/** The real state of the cluster, independent of the components' caches. Updated with every change. */
export class Facts {
  readonly volumes = new Map<string, Stored<PersistentVolume>>();
  /** By 'namespace/name', as pods. */
  readonly claims = new Map<string, Stored<PersistentVolumeClaim>>();
  readonly pods = new Map<string, Stored<Pod>>();
  readonly nodes = new Map<string, Stored<Node>>();
  readonly attachments = new Map<string, Stored<VolumeAttachment>>();
  readonly intents = new Map<string, Stored<VolumeIntent>>();
  readonly sets = new Map<string, Stored<StatefulSet>>();
  readonly classes = new Map<string, Stored<StorageClass>>();
  readonly namespaces = new Map<string, Stored<Namespace>>();
  readonly quotas = new Map<string, Stored<ResourceQuota>>();
  readonly limitRanges = new Map<string, Stored<LimitRange>>();
  readonly accounts = new Map<string, Stored<ServiceAccount>>();
  readonly csiNodes = new Map<string, Stored<CSINode>>();
  readonly snapshots = new Map<string, Stored<VolumeSnapshot>>();
  readonly contents = new Map<string, Stored<VolumeSnapshotContent>>();
  readonly groupContents = new Map<string, Stored<VolumeGroupSnapshotContent>>();
  /** What CSI drivers behind sockets have, by their names. */
  readonly csi = new Map<string, CsiBackend>();
  /** Ids of volumes and snapshots whose objects are gone with the policy Retain. */
  readonly keptVolumes = new Set<string>();
  readonly keptSnapshots = new Set<string>();
  /** The names of volumes, by the handles of their disks. */
  readonly #volumesOfDisk = new Map<string, Set<string>>();
  /** Sizes, by handle. */
  readonly disks = new Map<string, string>();
  /** Where each disk is attached. */
  readonly attached = new Map<string, Set<string>>();
  /** When each node became ready, if it is. */
  readonly readySince = new Map<string, number>();
  /** Nodes that were ready, and then not ready or gone for a while. */
  readonly wavered = new Set<string>();
  /** Since when no node is ready; undefined: some node is. */
  allDownSince: number | undefined;
  /** When the last pod that used a disk on a node was deleted, by 'node handle'. */
  readonly unneededSince = new Map<string, number>();
  /** The current epoch of each lease: the revision at which its holder changed. */
  readonly epochs = new Map<string, number>();
  /** When components were paused: what one of them wrote afterwards, it had decided before. */
  readonly pauses: { readonly from: number; readonly until: number }[] = [];

  change(change: ObjectChange, now: number): void {
    const map = this.all(change.type) as Map<string, KubeObject>;
    if (change.after === undefined) map.delete(change.key);
    else map.set(change.key, change.after);
    if (change.type === 'volume') this.#indexVolume(change.before, change.after);
    if (change.after === undefined) this.#followRetained(change);
    if (change.type === 'node') this.#followNode(change.key, change.after, now);
    if (change.type === 'pod' && change.before !== undefined && change.after === undefined) this.#followUse(change.before, now);
  }

  changeDisk(change: DiskChange): void {
    if ('capacity' in change) this.disks.set(change.handle, change.capacity);
    if (change.type === 'deleted') this.disks.delete(change.handle);
    if (change.type === 'attached') this.nodesOf(change.handle).add(change.node);
    if (change.type === 'detached') this.nodesOf(change.handle).delete(change.node);
  }

  nodesOf(handle: string): Set<string> {
    return entryOf(this.attached, handle);
  }

  volumesOf(handle: string): readonly PersistentVolume[] {
    return Array.from(this.#volumesOfDisk.get(handle) ?? []).flatMap((name) => this.volumes.get(name) ?? []);
  }

  claimByUid(uid: string | undefined, key: string): PersistentVolumeClaim | undefined {
    const claim = this.claims.get(key);
    return claim?.metadata.uid === uid ? claim : undefined;
  }

  /** The disks of a pod's bound claims. */
  disksOf(pod: Pod): readonly { readonly handle: string; readonly volume: PersistentVolume; readonly claim: PersistentVolumeClaim }[] {
    return (pod.spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => {
      const claim = this.claims.get(`${pod.metadata.namespace}/${persistentVolumeClaim?.claimName}`);
      const volume = claim === undefined ? undefined : this.volumes.get(claim.spec.volumeName ?? '');
      const handle = volume?.spec.csi?.volumeHandle;
      return claim === undefined || volume === undefined || handle === undefined || volume.spec.claimRef?.uid !== claim.metadata.uid
        ? []
        : [{ handle, volume, claim }];
    });
  }

  /** Pods that run on a node with a disk. */
  *runningOn(node: string, handle: string): Generator<Pod> {
    for (const pod of this.pods.values())
      if (pod.spec.nodeName === node && isRunning(pod) && this.disksOf(pod).some((disk) => disk.handle === handle)) yield pod;
  }

  all(type: WatchedKind): ReadonlyMap<string, KubeObject> {
    switch (type) {
      case 'volume':
        return this.volumes;
      case 'claim':
        return this.claims;
      case 'pod':
        return this.pods;
      case 'node':
        return this.nodes;
      case 'attachment':
        return this.attachments;
      case 'intent':
        return this.intents;
      case 'set':
        return this.sets;
      case 'class':
        return this.classes;
      case 'namespace':
        return this.namespaces;
      case 'quota':
        return this.quotas;
      case 'limits':
        return this.limitRanges;
      case 'account':
        return this.accounts;
      case 'csiNode':
        return this.csiNodes;
      case 'snapshot':
        return this.snapshots;
      case 'content':
        return this.contents;
      case 'groupContent':
        return this.groupContents;
    }
  }

  #indexVolume(before: Stored<PersistentVolume> | undefined, after: Stored<PersistentVolume> | undefined): void {
    const [was, is] = [before?.spec.csi?.volumeHandle, after?.spec.csi?.volumeHandle];
    if (before !== undefined && was !== undefined) this.#volumesOfDisk.get(was)?.delete(before.metadata.name);
    if (after !== undefined && is !== undefined) entryOf(this.#volumesOfDisk, is).add(after.metadata.name);
  }

  #followRetained({ type, before }: ObjectChange): void {
    if (type === 'volume' && before?.spec.persistentVolumeReclaimPolicy === 'Retain') this.keptVolumes.add(before.spec.csi?.volumeHandle ?? '');
    if (type === 'content' && before?.spec.deletionPolicy === 'Retain') this.keptSnapshots.add(before.status?.snapshotHandle ?? '');
  }

  #followNode(name: string, node: Node | undefined, now: number): void {
    const isReady = node?.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
    if (!isReady) {
      if (this.readySince.delete(name)) this.wavered.add(name);
    } else if (!this.readySince.has(name)) this.readySince.set(name, now);
    this.allDownSince = this.readySince.size > 0 || this.nodes.size === 0 ? undefined : (this.allDownSince ?? now);
  }

  #followUse(pod: Pod, now: number): void {
    for (const { handle } of this.disksOf(pod)) this.unneededSince.set(`${pod.spec.nodeName} ${handle}`, now);
  }
}

function entryOf<K>(map: Map<K, Set<string>>, key: K): Set<string> {
  let found = map.get(key);
  if (found === undefined) map.set(key, (found = new Set()));
  return found;
}

export const isRunning = ({ status }: Pod): boolean => status.containerStatuses?.some(({ state }) => state?.running !== undefined) ?? false;

/** A driver deletes only the volumes that it provisioned, as external provisioners do. */
export const isProvisioned = ({ metadata }: PersistentVolume): boolean => metadata.annotations?.['pv.kubernetes.io/provisioned-by'] !== undefined;

export const claimKeyOf = ({ spec }: PersistentVolume): string => `${spec.claimRef?.namespace}/${spec.claimRef?.name}`;
