import type { Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { SortedList } from '../../../storage/volumes/sorted-list.ts';
import { type Change, keyOf } from '../../../client/informers/cache.ts';

/** The finished pods beyond the limit: evicted ones first, then the oldest. Terminating pods do not count. */
export class FinishedPods {
  readonly #kept: number;
  readonly #finished = new SortedList<Finished>(byRemoval);

  constructor(kept: number) {
    this.#kept = kept;
  }

  change({ before, after }: Change<Pod>): void {
    if (before !== undefined && isCounted(before)) this.#finished.remove(finishedOf(before));
    if (after !== undefined && isCounted(after)) this.#finished.add(finishedOf(after));
  }

  /** Keys of pods beyond the limit, a batch at a time: each deletion asks again. */
  surplus(): readonly string[] {
    const count = Math.min(this.#finished.size - this.#kept, atOnce);
    const keys: string[] = [];
    if (count <= 0) return keys;
    for (const { key } of this.#finished.from(() => false)) if (keys.push(key) >= count) break;
    return keys;
  }
}

interface Finished {
  readonly key: string;
  readonly name: string;
  readonly isEvicted: boolean;
  readonly created: string;
}

const finishedOf = ({ metadata, status }: Stored<Pod>): Finished => ({
  key: keyOf(metadata),
  name: metadata.name,
  isEvicted: status.phase === 'Failed' && status.reason === 'Evicted',
  created: metadata.creationTimestamp ?? '',
});

const isCounted = ({ metadata, status }: Pod): boolean => metadata.deletionTimestamp === undefined && !unfinished.has(status.phase ?? '');

const unfinished: ReadonlySet<string> = new Set(['Pending', 'Running', 'Unknown']);
const atOnce = 64;

function byRemoval(a: Finished, b: Finished): number {
  return Number(b.isEvicted) - Number(a.isEvicted) || compare(a.created, b.created) || compare(a.name, b.name) || compare(a.key, b.key);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
