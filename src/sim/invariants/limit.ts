import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import { type ObservedChange, claimKeyOf, type Facts } from './facts.ts';
import { type DisturbedUntil, type Invariant, neverDisturbed, cachesCurrentMs } from './invariant.ts';

/** The attach limit of the driver in the node's CSINode. */
export function withinLimit(limit: number | undefined, disturbedUntil: DisturbedUntil = neverDisturbed): Invariant {
  const uncounted = new UncountedClaims();
  const early = new EarlyPods(disturbedUntil);
  const unseen = new UnseenAttachments(disturbedUntil);
  return {
    name: "no attach count exceeds the node's limit",
    check: (change, facts, now) => {
      if (limit === undefined) return undefined;
      uncounted.observe(change, facts, now);
      early.observe(change, now);
      unseen.observe(change, facts, now);
      if (change.type !== 'disk' || change.change.type !== 'attached') return undefined;
      const { node } = change.change;
      const counted = Array.from(facts.attached).filter(
        ([handle, nodes]) => nodes.has(node) && !uncounted.has(handle, facts) && !early.wants(handle, node, facts) && !unseen.has(handle, node),
      );
      return counted.length <= limit ? undefined : `${counted.length} disks are attached to node ${node}, whose limit is ${limit}`;
    },
  };
}

/** The scheduler's cache may be so old. */
const knownMs = 120_000;

/**
 * A pod has a node, the volume of its claim does not exist yet, and the StorageClass is deleted: then the scheduler cannot know that the claim will need a
 * disk of this driver, and does not count it for the next pod. Neither does Kubernetes (v1.36.4, `getCSIDriverInfoFromSC`).
 */
class UncountedClaims {
  /** By uid, like `#boundAt`. */
  readonly #claims = new Set<string>();
  readonly #boundAt = new Map<string, number>();
  /** Deleted WaitForFirstConsumer classes, with the time when they were created again. For claims of other classes, no pod is scheduled before the volume exists. */
  readonly #deletedClasses = new Map<string, number | undefined>();

  has(handle: string, facts: Facts): boolean {
    return facts.volumesOf(handle).some(({ spec }) => this.#claims.has(spec.claimRef?.uid ?? ''));
  }

  observe(change: ObservedChange, facts: Facts, now: number): void {
    switch (change.type) {
      case 'class':
        if (change.after !== undefined) {
          if (change.before === undefined && this.#deletedClasses.has(change.key)) this.#deletedClasses.set(change.key, now);
          return;
        }
        if (change.before?.volumeBindingMode === 'WaitForFirstConsumer') this.#deletedClasses.set(change.key, undefined);
        for (const [key, claim] of facts.claims) this.#consider(key, claim, { facts, now });
        return;
      case 'claim':
        if (change.after === undefined) return;
        if (hasVolume(change.after) && change.before !== undefined && !hasVolume(change.before)) this.#boundAt.set(change.after.metadata.uid, now);
        return this.#consider(change.key, change.after, { facts, now });
      case 'volume': {
        const key = change.after === undefined ? '' : claimKeyOf(change.after);
        const claim = facts.claims.get(key);
        if (claim !== undefined) this.#consider(key, claim, { facts, now });
        return;
      }
      default:
    }
  }

  #consider(key: string, claim: PersistentVolumeClaim, { facts, now }: { readonly facts: Facts; readonly now: number }): void {
    const { uid = '', annotations } = claim.metadata;
    const name = claim.spec.storageClassName ?? '';
    const mayBeMissing = this.#deletedClasses.has(name) && (!facts.classes.has(name) || now - (this.#deletedClasses.get(name) ?? now) < knownMs);
    const mayBeWithoutVolume = !hasVolume(claim) || now - (this.#boundAt.get(uid) ?? -Infinity) < knownMs;
    if (!mayBeMissing || !mayBeWithoutVolume) return;
    // The scheduler has chosen a node or a volume for it.
    const isAwaited =
      annotations?.['volume.kubernetes.io/selected-node'] !== undefined || Array.from(facts.volumes.values()).some((volume) => claimKeyOf(volume) === key);
    if (isAwaited) this.#claims.add(uid);
  }
}

/** So long it takes at most until the scheduler's cache has a returning node with its CSINode, without faults. */
const joinsMs = 5_000;

/**
 * A node was removed and joined again. A scheduler that has the node but not its CSINode in its cache knows no limit; Kubernetes (v1.36.4,
 * `NodeVolumeLimits`) does not wait for it either. So pods that were scheduled right after the return, or while faults disturbed the scheduler, do not count.
 */
class EarlyPods {
  readonly #disturbedUntil: DisturbedUntil;
  readonly #nodes = new Set<string>();
  readonly #returnedAt = new Map<string, number>();
  /** By uid. */
  readonly #pods = new Set<string>();

  constructor(disturbedUntil: DisturbedUntil) {
    this.#disturbedUntil = disturbedUntil;
  }

  wants(handle: string, node: string, facts: Facts): boolean {
    return Array.from(facts.pods.values()).some(
      (pod) => pod.spec.nodeName === node && this.#pods.has(pod.metadata.uid) && facts.disksOf(pod).some((disk) => disk.handle === handle),
    );
  }

  observe(change: ObservedChange, now: number): void {
    if (change.type === 'node' && change.before === undefined) {
      if (this.#nodes.has(change.key)) this.#returnedAt.set(change.key, now);
      this.#nodes.add(change.key);
    }
    if (change.type !== 'pod' || change.after?.spec.nodeName === undefined || change.before?.spec.nodeName === change.after.spec.nodeName) return;
    const returnedAt = this.#returnedAt.get(change.after.spec.nodeName);
    if (returnedAt === undefined) return;
    if (now - returnedAt < joinsMs || now - this.#disturbedUntil('scheduler') < cachesCurrentMs) this.#pods.add(change.after.metadata.uid);
  }
}

/** A watch that failed again and again is opened again after so long. */
const watchBackoffMs = 30_000;

/**
 * The scheduler counts a disk that no pod of the node uses by its VolumeAttachment. While faults disturb the scheduler, and until its watches are open again, its
 * cache may have current pods and no VolumeAttachments, as in Kubernetes (v1.36.4, `NodeVolumeLimits`). A pod that is scheduled then makes such disks uncounted.
 */
class UnseenAttachments {
  readonly #disturbedUntil: DisturbedUntil;
  /** 'node handle'. */
  readonly #disks = new Set<string>();

  constructor(disturbedUntil: DisturbedUntil) {
    this.#disturbedUntil = disturbedUntil;
  }

  has(handle: string, node: string): boolean {
    return this.#disks.has(`${node} ${handle}`);
  }

  observe(change: ObservedChange, facts: Facts, now: number): void {
    if (change.type === 'disk' && change.change.type === 'detached') this.#disks.delete(`${change.change.node} ${change.change.handle}`);
    if (change.type !== 'pod' || now - this.#disturbedUntil('scheduler') >= watchBackoffMs) return;
    const node = change.after?.spec.nodeName;
    if (node === undefined || change.before?.spec.nodeName === node) return;
    const used = new Set(Array.from(facts.pods.values()).flatMap((pod) => (usesNode(pod, node) ? facts.disksOf(pod).map(({ handle }) => handle) : [])));
    for (const [handle, nodes] of facts.attached) if (nodes.has(node) && !used.has(handle)) this.#disks.add(`${node} ${handle}`);
  }
}

/** Pods that have ended do not count for the scheduler. */
const usesNode = ({ spec, status }: Pod, node: string): boolean => spec.nodeName === node && status.phase !== 'Succeeded' && status.phase !== 'Failed';

const hasVolume = ({ spec }: PersistentVolumeClaim): boolean => (spec.volumeName ?? '') !== '';
