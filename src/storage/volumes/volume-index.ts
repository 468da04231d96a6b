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
 * All volumes, arranged so that a claim finds the one it gets without looking at the others.
 *
 * Which one that is, as in Kubernetes: volumes are grouped by their sets of access modes, and sets with fewer modes come
 * first. Within a group a volume that points at the claim wins, otherwise the smallest free one that fits. (So a free
 * volume with fewer modes wins over a reserved one with more.) What Kubernetes leaves to chance, the order among
 * equals, is by name here.
 */
export class VolumeIndex {
  readonly #volumes = new Map<string, Volume>();
  /** Free volumes by class, volume mode and attributes class, then by access modes. */
  readonly #buckets = new Map<string, Map<AccessModes, VolumeBucket>>();
  /** Volumes that point at a claim, by its key. */
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

  /** The volume is so now, whatever it was before. */
  set(volume: Volume): void {
    this.#remove(volume.name);
    this.#volumes.set(volume.name, volume);
    if (volume.claim !== undefined) {
      this.#byClaim.add(volume.claim.key, volume);
    } else if (isFree(volume)) {
      const shelves = entryOf(this.#buckets, bucketKey(volume), () => new Map<AccessModes, VolumeBucket>());
      entryOf(shelves, volume.accessModes, () => new VolumeBucket()).add(volume);
    }
  }

  delete(name: string): void {
    this.#remove(name);
    this.#volumes.delete(name);
  }

  /** From wherever a claim could find it. */
  #remove(name: string): void {
    const volume = this.#volumes.get(name);
    if (volume === undefined) return;
    if (volume.claim !== undefined) this.#byClaim.remove(volume.claim.key, volume);
    else if (isFree(volume)) this.#removeFromBucket(volume);
  }

  /** The volumes whose claimRef names this claim, rightly or not. */
  withClaimRef(claimKey: string): Iterable<Volume> {
    return this.#byClaim.of(claimKey);
  }

  /** The volume that a claim gets which names none. */
  bestFit(claim: Claim, { reservedOnly, isTaken: isPromised = () => false }: FitOptions): Volume | undefined {
    let best: Candidate | undefined;
    for (const volume of this.withClaimRef(claim.key)) {
      if (isVolumeBoundToClaim(volume, claim) && matchVolume(claim, volume) === 'fits')
        best = better(best, { volume, rank: 2 * countModes(volume.accessModes) });
    }
    if (reservedOnly) return best?.volume;
    for (const [modes, shelf] of this.#buckets.get(bucketKey(claim)) ?? []) {
      const rank = 2 * countModes(modes) + 1;
      if ((best !== undefined && best.rank < rank) || !offersModes(modes, claim.accessModes)) continue;
      const volume = shelf.smallestFor(claim, isPromised);
      if (volume !== undefined) best = better(best, { volume, rank });
    }
    return best?.volume;
  }

  #removeFromBucket(volume: Volume): void {
    const key = bucketKey(volume);
    const shelves = this.#buckets.get(key);
    const shelf = shelves?.get(volume.accessModes);
    if (shelves === undefined || shelf === undefined) return;
    shelf.remove(volume);
    if (shelf.empty) shelves.delete(volume.accessModes);
    if (shelves.size === 0) this.#buckets.delete(key);
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
  /** Free volumes that look free only because somebody cleared their claimRef: claims that were bound to them get them back. */
  readonly isTaken?: (volumeName: string) => boolean;
}

/** What claim and volume must agree on exactly. */
export const bucketKey = (of: Pick<Volume, 'className' | 'volumeMode' | 'attributesClass'>): string =>
  `${of.className}\n${of.volumeMode}\n${of.attributesClass}`;

/** Free volumes that differ only in size, labels, and in the claims that may take them. */
class VolumeBucket {
  /** By claim selector: there are few different ones, and each is asked only once for a claim. */
  readonly #bySelector = new Map<string, { readonly claims: WrittenSelector; readonly row: SortedVolumes }>();

  get empty(): boolean {
    return this.#bySelector.size === 0;
  }

  add(volume: Volume): void {
    entryOf(this.#bySelector, volume.claimSelector.text, () => ({ claims: volume.claimSelector, row: new SortedVolumes() })).row.add(volume);
  }

  remove(volume: Volume): void {
    const found = this.#bySelector.get(volume.claimSelector.text);
    found?.row.remove(volume);
    if (found?.row.empty === true) this.#bySelector.delete(volume.claimSelector.text);
  }

  smallestFor(claim: Claim, isPromised: (name: string) => boolean): Volume | undefined {
    let best: Volume | undefined;
    for (const { claims, row } of this.#bySelector.values()) {
      if (claims.type === 'valid' && matchesLabels(claims.selector, claim.labels)) best = smaller(best, row.smallestFor(claim, isPromised));
    }
    return best;
  }
}

/** Volumes in order of capacity; and those with a certain label, likewise, for claims that select by labels. */
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

  smallestFor(claim: Claim, isPromised: (name: string) => boolean): Volume | undefined {
    if (claim.selector.type === 'invalid') return undefined;
    const { selector } = claim.selector;
    const isTooSmall = (volume: Volume) => compareQuantities(volume.capacity ?? zero, claim.request) < 0;
    let best: Volume | undefined;
    for (const list of this.#listsFor(selector.type === 'requirements' ? selector.requirements : [])) {
      for (const volume of list.from(isTooSmall)) {
        if (!matchesLabels(selector, volume.labels) || isPromised(volume.name)) continue;
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

/** The smallest first; of those of one size, in the order of their names. */
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
