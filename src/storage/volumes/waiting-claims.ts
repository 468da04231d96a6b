import { compareQuantities } from '../../api/quantity.ts';
import { matchesLabels } from '../../api/selectors/label-selector.ts';
import { type AccessModes, offersModes } from './access-modes.ts';
import { zero } from '../../api/volumes/capacity.ts';
import type { Claim } from './claim.ts';
import type { WrittenSelector } from './selectors.ts';
import { SortedList } from './sorted-list.ts';
import type { Volume } from './volume.ts';
import { entryOf, bucketKey } from './volume-index.ts';

/**
 * The claims that wait for any volume: the mirror of `VolumeIndex`. A new volume finds the claims that it could satisfy without a
 * scan: the largest that fits first, among equals the oldest.
 */
export class WaitingClaims {
  readonly #claims = new Map<string, Claim>();
  /** By class, volume mode and attributes class, then by requested modes, then by selector. */
  readonly #queues = new Map<string, Map<AccessModes, Map<string, Queue>>>();

  get(key: string): Claim | undefined {
    return this.#claims.get(key);
  }

  get size(): number {
    return this.#claims.size;
  }

  set(claim: Claim): void {
    this.delete(claim.key);
    this.#claims.set(claim.key, claim);
    const byModes = entryOf(this.#queues, bucketKey(claim), () => new Map<AccessModes, Map<string, Queue>>());
    const bySelector = entryOf(byModes, claim.accessModes, () => new Map<string, Queue>());
    entryOf(bySelector, claim.selector.text, () => ({ volumes: claim.selector, claims: new SortedList(bySizeThenYouth) })).claims.add(claim);
  }

  delete(key: string): void {
    const claim = this.#claims.get(key);
    if (claim === undefined) return;
    this.#claims.delete(key);
    const bucket = bucketKey(claim);
    const byModes = this.#queues.get(bucket);
    const bySelector = byModes?.get(claim.accessModes);
    const queue = bySelector?.get(claim.selector.text);
    if (byModes === undefined || bySelector === undefined || queue === undefined) return;
    queue.claims.remove(claim);
    if (queue.claims.size === 0) bySelector.delete(claim.selector.text);
    if (bySelector.size === 0) byModes.delete(claim.accessModes);
    if (byModes.size === 0) this.#queues.delete(bucket);
  }

  /** The claims that a free volume could satisfy, best first; found one by one, on demand. */
  *candidatesFor(volume: Volume): Generator<Claim, void, undefined> {
    const heads = this.#queuesFor(volume).flatMap((queue) => {
      const claims = queue.downFrom((claim) => compareQuantities(claim.request, volume.capacity ?? zero) <= 0);
      return advance({ claims, head: undefined, volume });
    });
    while (heads.length > 0) {
      const best = heads.reduce((a, b) => (bySizeThenYouth(b.head, a.head) > 0 ? b : a));
      yield best.head;
      heads.splice(heads.indexOf(best), 1, ...advance(best));
    }
  }

  #queuesFor(volume: Volume): readonly SortedList<Claim>[] {
    const found: SortedList<Claim>[] = [];
    for (const [modes, bySelector] of this.#queues.get(bucketKey(volume)) ?? []) {
      if (!offersModes(volume.accessModes, modes)) continue;
      for (const { volumes, claims } of bySelector.values()) {
        if (volumes.type === 'valid' && matchesLabels(volumes.selector, volume.labels)) found.push(claims);
      }
    }
    return found;
  }
}

interface Queue {
  /** The volumes that these claims select. */
  readonly volumes: WrittenSelector;
  readonly claims: SortedList<Claim>;
}

interface Reader<Head> {
  readonly claims: Iterator<Claim, void, undefined>;
  readonly head: Head;
  readonly volume: Volume;
}

/** Moves to the next claim that the volume admits; nothing if there is none. */
function advance({ claims, volume }: Reader<unknown>): Reader<Claim>[] {
  const { claimSelector } = volume;
  if (claimSelector.type === 'invalid') return [];
  for (let next = claims.next(); next.done !== true; next = claims.next()) {
    if (matchesLabels(claimSelector.selector, next.value.labels)) return [{ claims, head: next.value, volume }];
  }
  return [];
}

/** The last in this order is the first to be served: the largest, and of those the oldest. */
function bySizeThenYouth(a: Claim, b: Claim): number {
  const difference = compareQuantities(a.request, b.request);
  if (difference !== 0) return difference;
  if (a.created !== b.created) return a.created < b.created ? 1 : -1;
  return a.key < b.key ? 1 : a.key > b.key ? -1 : 0;
}
