import { compareQuantities } from '../../api/quantity.ts';
import { matchesLabels, type Requirement } from '../../api/selectors/label-selector.ts';
import { type AccessModes, countModes, offersModes } from './access-modes.ts';
import { zero } from '../../api/volumes/capacity.ts';
import type { Claim } from './claim.ts';
import { Groups } from './groups.ts';
import { matchVolume } from './match.ts';
import type { WrittenSelector } from './selectors.ts';
import { SortedList } from './sorted-list.ts';
import { isFree, isVolumeBoundToClaim, type Volume } from './volume.ts';

/**
 * All volumes, indexed so that a claim finds its best match without a scan.
 *
 * The best match is as in Kubernetes: volumes are grouped by their sets of access modes, and sets with fewer modes come
 * first. Within a group a volume whose claimRef names the claim wins, otherwise the smallest free one that fits. (So a free
 * volume with fewer modes wins over a reserved one with more.) The order among equals, which is random in Kubernetes, is by
 * name here.
 */
export class VolumeIndex {
  readonly #volumes = new Map<string, Volume>();
  /** Free volumes by class, volume mode and attributes class, then by access modes. */
  readonly #buckets = new Map<string, Map<AccessModes, VolumeBucket>>();
  /** Volumes with a claimRef, by the claim's key. */
  readonly #byClaim = new Groups<Volume>();

  get(name: string): Volume | undefined {
    return this.#volumes.get(name);
  }

  all(): Iterable<Volume> {
    return this.#volumes.values();
  }

  get size(): number {
    return this.#volumes.size;
  }

  /** Adds the volume, or replaces the one of that name. */
  set(volume: Volume): void {
    this.#remove(volume.name);
    this.#volumes.set(volume.name, volume);
    if (volume.claim !== undefined) {
      this.#byClaim.add(volume.claim.key, volume);
    } else if (isFree(volume)) {
      const byModes = entryOf(this.#buckets, bucketKey(volume), () => new Map<AccessModes, VolumeBucket>());
      entryOf(byModes, volume.accessModes, () => new VolumeBucket()).add(volume);
    }
  }

  delete(name: string): void {
    this.#remove(name);
    this.#volumes.delete(name);
  }

  /** From the indexes, not from `#volumes`. */
  #remove(name: string): void {
    const volume = this.#volumes.get(name);
    if (volume === undefined) return;
    if (volume.claim !== undefined) this.#byClaim.remove(volume.claim.key, volume);
    else if (isFree(volume)) this.#removeFromBucket(volume);
  }

  /** The volumes whose claimRef names this claim, whatever their uid says. */
  withClaimRef(claimKey: string): Iterable<Volume> {
    return this.#byClaim.of(claimKey);
  }

  /** The best match for a claim that names no volume. */
  bestFit(claim: Claim, { reservedOnly, isTaken = () => false }: FitOptions): Volume | undefined {
    let best: Candidate | undefined;
    for (const volume of this.withClaimRef(claim.key)) {
      if (isVolumeBoundToClaim(volume, claim) && matchVolume(claim, volume) === 'fits')
        best = better(best, { volume, rank: 2 * countModes(volume.accessModes) });
    }
    if (reservedOnly) return best?.volume;
    for (const [modes, bucket] of this.#buckets.get(bucketKey(claim)) ?? []) {
      const rank = 2 * countModes(modes) + 1;
      if ((best !== undefined && best.rank < rank) || !offersModes(modes, claim.accessModes)) continue;
      const volume = bucket.smallestFor(claim, isTaken);
      if (volume !== undefined) best = better(best, { volume, rank });
    }
    return best?.volume;
  }

  #removeFromBucket(volume: Volume): void {
    const key = bucketKey(volume);
    const byModes = this.#buckets.get(key);
    const bucket = byModes?.get(volume.accessModes);
    if (byModes === undefined || bucket === undefined) return;
    bucket.remove(volume);
    if (bucket.empty) byModes.delete(volume.accessModes);
    if (byModes.size === 0) this.#buckets.delete(key);
  }
}

/** `rank`: fewer access modes first, and among as many a reserved volume before a free one. */
interface Candidate {
  readonly volume: Volume;
  readonly rank: number;
}

function better(best: Candidate | undefined, other: Candidate): Candidate {
  if (best === undefined || other.rank < best.rank) return other;
  return other.rank === best.rank && bySize(other.volume, best.volume) < 0 ? other : best;
}

export interface FitOptions {
  /** Free volumes are left to the scheduler. */
  readonly reservedOnly: boolean;
  /** A volume that only looks free: a bind of it is in flight, or a user cleared the claimRef of its owner. */
  readonly isTaken?: (volumeName: string) => boolean;
}

/** The fields in which claim and volume must be equal. */
export const bucketKey = (of: Pick<Volume, 'className' | 'volumeMode' | 'attributesClass'>): string =>
  `${of.className}\n${of.volumeMode}\n${of.attributesClass}`;

/** Free volumes that differ only in size, labels, and claim selector. */
class VolumeBucket {
  /** By claim selector: there are few different ones, and each is matched only once for a claim. */
  readonly #bySelector = new Map<string, { readonly claims: WrittenSelector; readonly sorted: SortedVolumes }>();

  get empty(): boolean {
    return this.#bySelector.size === 0;
  }

  add(volume: Volume): void {
    entryOf(this.#bySelector, volume.claimSelector.text, () => ({ claims: volume.claimSelector, sorted: new SortedVolumes() })).sorted.add(volume);
  }

  remove(volume: Volume): void {
    const found = this.#bySelector.get(volume.claimSelector.text);
    found?.sorted.remove(volume);
    if (found?.sorted.empty === true) this.#bySelector.delete(volume.claimSelector.text);
  }

  smallestFor(claim: Claim, isTaken: (name: string) => boolean): Volume | undefined {
    let best: Volume | undefined;
    for (const { claims, sorted } of this.#bySelector.values()) {
      if (claims.type === 'valid' && matchesLabels(claims.selector, claim.labels)) best = smaller(best, sorted.smallestFor(claim, isTaken));
    }
    return best;
  }
}

/** Volumes in order of capacity; the same for each label, for claims that select by labels. */
class SortedVolumes {
  readonly #all = new SortedList(bySize);
  readonly #labelled = new Map<string, SortedList<Volume>>();

  get empty(): boolean {
    return this.#all.size === 0;
  }

  add(volume: Volume): void {
    this.#all.add(volume);
    for (const label of labelsOf(volume)) entryOf(this.#labelled, label, () => new SortedList(bySize)).add(volume);
  }

  remove(volume: Volume): void {
    this.#all.remove(volume);
    for (const label of labelsOf(volume)) {
      const list = this.#labelled.get(label);
      list?.remove(volume);
      if (list?.size === 0) this.#labelled.delete(label);
    }
  }

  smallestFor(claim: Claim, isTaken: (name: string) => boolean): Volume | undefined {
    if (claim.selector.type === 'invalid') return undefined;
    const { selector } = claim.selector;
    const isTooSmall = (volume: Volume) => compareQuantities(volume.capacity ?? zero, claim.request) < 0;
    let best: Volume | undefined;
    for (const list of this.#listsFor(selector.type === 'requirements' ? selector.requirements : [])) {
      for (const volume of list.from(isTooSmall)) {
        if (!matchesLabels(selector, volume.labels) || isTaken(volume.name)) continue;
        best = smaller(best, volume);
        break;
      }
    }
    return best;
  }

  /** The shortest lists that hold every volume which meets the requirements. */
  #listsFor(requirements: readonly Requirement[]): readonly SortedList<Volume>[] {
    let [best, length]: [readonly SortedList<Volume>[], number] = [[this.#all], this.#all.size];
    for (const { key, operator, values } of requirements) {
      if (operator !== '=' && operator !== '==' && operator !== 'in') continue;
      const lists = values.flatMap((value) => this.#labelled.get(labelText(key, value)) ?? []);
      const total = lists.reduce((sum, list) => sum + list.size, 0);
      if (total < length) [best, length] = [lists, total];
    }
    return best;
  }
}

const labelText = (key: string, value: string): string => `${key}=${value}`;
const labelsOf = (volume: Volume): string[] => Object.entries(volume.labels ?? {}).map(([key, value]) => labelText(key, value));

/** By size, then by name. */
export function bySize(a: Volume, b: Volume): number {
  const difference = compareQuantities(a.capacity ?? zero, b.capacity ?? zero);
  return difference === 0 ? (a.name < b.name ? -1 : a.name > b.name ? 1 : 0) : difference;
}

function smaller(best: Volume | undefined, other: Volume | undefined): Volume | undefined {
  if (best === undefined || other === undefined) return best ?? other;
  return bySize(other, best) < 0 ? other : best;
}

/** The entry of a map, made if it is not there yet. */
export function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
