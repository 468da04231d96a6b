import type { PersistentVolumeClaim } from '../../api/generated/types.ts';
import { type ObservedChange, claimKeyOf, type Facts } from './facts.ts';
import { type DisturbedUntil, type Invariant, neverDisturbed, newsMs } from './invariant.ts';

/** What a driver can attach to a node, as its CSINode says. */
export function withinLimit(limit: number | undefined, disturbedUntil: DisturbedUntil = neverDisturbed): Invariant {
  const uncounted = new UncountedClaims();
  const early = new EarlyPods(disturbedUntil);
  return {
    name: "no attach count exceeds the node's limit",
    check: (change, facts, now) => {
      if (limit === undefined) return undefined;
      uncounted.observe(change, facts, now);
      early.observe(change, now);
      if (change.type !== 'disk' || change.change.type !== 'attached') return undefined;
      const { node } = change.change;
      const counted = Array.from(facts.attached).filter(
        ([handle, nodes]) => nodes.has(node) && !uncounted.has(handle, facts) && !early.wants(handle, node, facts),
      );
      return counted.length <= limit ? undefined : `${counted.length} disks are attached to node ${node}, which takes ${limit}`;
    },
  };
}

/** What a scheduler knows may be so old. */
const knownMs = 120_000;

/**
 * A pod was given a place, the volume of its claim is not there yet, and the class is deleted: nobody can tell any more that the claim will need a disk
 * of this driver. So schedulers do not count it when the next pod comes; Kubernetes (v1.36.4, `getCSIDriverInfoFromSC`) does not either.
 */
class UncountedClaims {
  /** By uid, as those that follow. */
  readonly #claims = new Set<string>();
  readonly #boundAt = new Map<string, number>();
  /** Classes that waited for pods, and were deleted: when they came back, if they did. Nobody is given a place for a claim of the others before its volume is there. */
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
        if (hasVolume(change.after) && change.before !== undefined && !hasVolume(change.before)) this.#boundAt.set(change.after.metadata.uid ?? '', now);
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
    // Somebody has chosen a node for it, or a volume.
    const isAwaited =
      annotations?.['volume.kubernetes.io/selected-node'] !== undefined || Array.from(facts.volumes.values()).some((volume) => claimKeyOf(volume) === key);
    if (isAwaited) this.#claims.add(uid);
  }
}

/** So long it takes at most until all has arrived that a node which comes back says, if nothing is in the way. */
const joinsMs = 5_000;

/**
 * A node was removed and came back. A scheduler that hears of the node before it hears of its CSINode knows no limit; Kubernetes (v1.36.4, `NodeVolumeLimits`)
 * does not wait for one either. So pods that got a place there right after its return, or while the scheduler heard little, are not held against it.
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
      (pod) => pod.spec.nodeName === node && this.#pods.has(pod.metadata.uid ?? '') && facts.disksOf(pod).some((disk) => disk.handle === handle),
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
    if (now - returnedAt < joinsMs || now - this.#disturbedUntil('scheduler') < newsMs) this.#pods.add(change.after.metadata.uid ?? '');
  }
}

const hasVolume = ({ spec }: PersistentVolumeClaim): boolean => (spec.volumeName ?? '') !== '';
