import type { Outcome } from '../../client/controller/loop.ts';

export interface SlowStart {
  /** The size of the first batch; 1 if absent. */
  readonly first?: number;
  /** The largest batch. */
  readonly most?: number;
}

/**
 * Performs one item, then two, then four at a time, and stops after the first batch with a failure: if a quota refuses the first of a
 * thousand pods, the other 999 requests are saved (slowStartBatch in Kubernetes). Returns the worst outcome of the last batch.
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

/** `deposed` ends the controller; `retry` needs time and outweighs `conflict`, which needs a newer cache. */
function worst(outcomes: readonly Outcome[]): Outcome {
  if (outcomes.includes('deposed')) return 'deposed';
  return outcomes.find((outcome) => typeof outcome === 'object') ?? outcomes.find((outcome) => outcome !== 'done') ?? 'done';
}
