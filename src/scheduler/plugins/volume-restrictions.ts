import type { PersistentVolumeClaim, Pod, Volume } from '../../api/generated/types.ts';
import { claimKey } from '../../storage/volumes/claim.ts';
import {
  type ClusterEvent,
  type ClusterSnapshot,
  type CyclePlugin,
  type NodeInfo,
  type Plugin,
  type PodInfo,
  type Rejection,
  rejection,
} from '../framework.ts';
import { claimMissing } from '../volume-binding/pod-claims.ts';

const name = 'VolumeRestrictions';

/** VolumeRestrictions: one pod per ReadWriteOncePod claim, and one writer per inline disk on a node. */
export const volumeRestrictions: Plugin = {
  name,
  preFilter: (pod, snapshot) => {
    const disks = (pod.pod.spec.volumes ?? []).filter(isDisk);
    const exclusive = exclusiveClaims(pod, snapshot);
    if ('code' in exclusive) return exclusive;
    const users = exclusive.filter((key) => snapshot.claimUsers(key) > 0).length;
    return disks.length === 0 && users === 0 ? 'skip' : new Restrictions(disks, new Set(exclusive), users);
  },
  queueingHints: { events: ['pod', 'node', 'claim'], hint: queueingHint },
};

/** The pod's ReadWriteOncePod claims. */
function exclusiveClaims({ pod, namespace }: PodInfo, { views }: ClusterSnapshot): readonly string[] | Rejection {
  const keys = new Set<string>();
  for (const { persistentVolumeClaim } of pod.spec.volumes ?? []) {
    if (persistentVolumeClaim === undefined) continue;
    const key = claimKey(namespace, persistentVolumeClaim.claimName);
    const claim = views.claim.getKey(key);
    if (claim === undefined) return rejection('unresolvable', name, claimMissing(persistentVolumeClaim.claimName));
    if (isExclusive(claim)) keys.add(key);
  }
  return [...keys];
}

const isExclusive = ({ spec }: PersistentVolumeClaim): boolean => spec.accessModes?.includes('ReadWriteOncePod') === true;

const diskTaken = rejection('unschedulable', name, {
  text: 'node(s) had no available disk',
  rule: 'diskConflict',
  detail: () => ({ found: 'has a pod that uses the same disk', wanted: 'that pod deleted, or read-only use by both' }),
});

class Restrictions implements CyclePlugin {
  readonly #disks: readonly Volume[];
  readonly #exclusive: ReadonlySet<string>;
  readonly #claimTaken: Rejection;
  /** How many other pods use the exclusive claims. */
  #users: number;

  constructor(disks: readonly Volume[], exclusive: ReadonlySet<string>, users: number) {
    this.#disks = disks;
    this.#exclusive = exclusive;
    this.#users = users;
    this.#claimTaken = rejection('unschedulable', name, {
      text: 'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
      rule: 'readWriteOncePod',
      detail: () => ({ found: `is not usable: another pod uses the ReadWriteOncePod claim ${[...exclusive].join(', ')}`, wanted: 'that pod deleted' }),
    });
  }

  filter({ pods }: NodeInfo): Rejection | undefined {
    for (const disk of this.#disks) if (pods.some(({ pod }) => sharesDisk(disk, pod))) return diskTaken;
    return this.#users > 0 ? this.#claimTaken : undefined;
  }

  addPod(pod: PodInfo): void {
    this.#users += this.#countIn(pod);
  }

  removePod(pod: PodInfo): void {
    this.#users -= this.#countIn(pod);
  }

  clone(): Restrictions {
    return new Restrictions(this.#disks, this.#exclusive, this.#users);
  }

  #countIn({ namedClaims }: PodInfo): number {
    return namedClaims.reduce((count, key) => count + (this.#exclusive.has(key) ? 1 : 0), 0);
  }
}

const isDisk = ({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: Volume): boolean =>
  gcePersistentDisk !== undefined || awsElasticBlockStore !== undefined || iscsi !== undefined || rbd !== undefined;

const sharesDisk = (disk: Volume, { spec }: Pod): boolean => (spec.volumes ?? []).some((other) => isSameDisk(disk, other));

/** Read-only users of a disk do not conflict, except on EBS. */
function isSameDisk(a: Volume, b: Volume): boolean {
  const onlyRead = (x: { readonly readOnly?: boolean }, y: { readonly readOnly?: boolean }) => x.readOnly === true && y.readOnly === true;
  if (a.gcePersistentDisk !== undefined && b.gcePersistentDisk !== undefined) {
    if (a.gcePersistentDisk.pdName === b.gcePersistentDisk.pdName && !onlyRead(a.gcePersistentDisk, b.gcePersistentDisk)) return true;
  }
  if (a.awsElasticBlockStore !== undefined && a.awsElasticBlockStore.volumeID === b.awsElasticBlockStore?.volumeID) return true;
  if (a.iscsi !== undefined && b.iscsi !== undefined && a.iscsi.iqn === b.iscsi.iqn && !onlyRead(a.iscsi, b.iscsi)) return true;
  if (a.rbd === undefined || b.rbd === undefined || onlyRead(a.rbd, b.rbd)) return false;
  const monitors = new Set(b.rbd.monitors);
  return a.rbd.pool === b.rbd.pool && a.rbd.image === b.rbd.image && (a.rbd.monitors ?? []).some((monitor) => monitors.has(monitor));
}

function queueingHint(pod: PodInfo, change: ClusterEvent): boolean {
  switch (change.resource) {
    case 'pod':
      return change.before !== undefined && change.after === undefined && releasesVolume(change.before, pod);
    case 'node':
      return change.before === undefined;
    case 'claim':
      if (change.after === undefined || !pod.namedClaims.includes(keyOf(change.after))) return false;
      // Access modes are immutable, but a claim may be deleted and created again.
      return change.before === undefined || (isExclusive(change.before) && !isExclusive(change.after));
    default:
      return false;
  }
}

const keyOf = ({ metadata }: { readonly metadata: { readonly namespace?: string; readonly name?: string } }): string =>
  claimKey(metadata.namespace ?? '', metadata.name ?? '');

/** The deleted pod used a disk or claim that the rejected pod needs. */
function releasesVolume(gone: Pod, { pod, namedClaims }: PodInfo): boolean {
  if ((pod.spec.volumes ?? []).some((volume) => isDisk(volume) && sharesDisk(volume, gone))) return true;
  const namespace = gone.metadata.namespace ?? '';
  return (gone.spec.volumes ?? []).some(({ persistentVolumeClaim: used }) => used !== undefined && namedClaims.includes(claimKey(namespace, used.claimName)));
}
