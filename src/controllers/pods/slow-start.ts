import type { Outcome } from '../../client/controller/loop.ts';

export interface SlowStart {
  /** How many are tried first; 1 unless said. */
  readonly first?: number;
  /** How many are under way at most. */
  readonly most?: number;
}

/**
 * Does one, then two, then four at a time, and stops behind the first batch in which one did not succeed: if the first of a
 * thousand pods is refused (a quota), the other 999 requests are spared. Returns what stopped it; `done`: all are done.
 */
export async function slowStart<T>(items: readonly T[], perform: (item: T) => Promise<Outcome>, { first = 1, most = 500 }: SlowStart = {}): Promise<Outcome> {
  let size = first;
  for (let from = 0; from < items.length; ) {
    const outcomes = await Promise.all(items.slice(from, from + size).map(perform));
    const failed = worst(outcomes);
    if (failed !== 'done') return failed;
    from += size;
    size = Math.min(size * 2, most);
  }
  return 'done';
}

/** Deposed ends everything; a failure that needs time outweighs one that needs fresh news. */
function worst(outcomes: readonly Outcome[]): Outcome {
  if (outcomes.includes('deposed')) return 'deposed';
  return outcomes.find((outcome) => typeof outcome === 'object') ?? outcomes.find((outcome) => outcome !== 'done') ?? 'done';
}
