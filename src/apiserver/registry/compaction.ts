/** How much history the store keeps: enough to resume an interrupted watch, within bounds (etcd: auto-compaction). */
import type { Store, StoreStats } from '../../store/contract.ts';
import type { Cancel, World } from '../../world/world.ts';

export interface HistoryLimits {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  readonly maxRevisions: number;
  /** Kept regardless of the other limits. */
  readonly minRevisions: number;
}

export const defaultHistory: HistoryLimits = { maxAgeMs: 5 * 60_000, maxBytes: 64 * 1024 * 1024, maxRevisions: 100_000, minRevisions: 1_000 };

const CHECK_EVERY_MS = 10_000;

interface Sample {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly revision: number;
}

/** Compacts the store every 10 seconds, until it is cancelled. */
export function compactPeriodically(deps: { readonly store: Store; readonly world: World }, limits = defaultHistory): Cancel {
  const { store, world } = deps;
  let samples: readonly Sample[] = [{ at: world.clock.monotonic(), revision: store.revision() }];
  let cancelled = false;
  let cancelTimer: Cancel = () => undefined;

  const check = async (): Promise<void> => {
    const now = world.clock.monotonic();
    samples = addSample(samples, { at: now, revision: store.revision() });
    const target = compactionTarget({ samples, now, revision: store.revision(), compacted: store.compactedRevision(), stats: store.stats() }, limits);
    samples = samples.filter((sample) => sample.revision > target);
    try {
      if (target > store.compactedRevision()) await store.compact(target);
    } catch (error) {
      world.log.warn('cannot compact the store', { revision: target, error: String(error) });
    }
  };
  const schedule = (): void => {
    if (!cancelled) cancelTimer = world.timers.after(CHECK_EVERY_MS, () => void check().then(schedule));
  };
  schedule();
  return () => {
    cancelled = true;
    cancelTimer();
  };
}

/** Pure. A store without writes adds no samples: only the time of its last revision counts. */
export function addSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  return samples.at(-1)?.revision === sample.revision ? samples : [...samples, sample];
}

export interface CompactionSnapshot {
  /** Oldest first. */
  readonly samples: readonly Sample[];
  readonly now: number;
  readonly revision: number;
  readonly compacted: number;
  readonly stats: Pick<StoreStats, 'historyRevisions' | 'historyBytes'>;
}

/** Pure: the revision to compact to; the compacted one if nothing is due. */
export function compactionTarget({ samples, now, revision, compacted, stats }: CompactionSnapshot, limits: HistoryLimits): number {
  const aged = samples.findLast((sample) => now - sample.at >= limits.maxAgeMs)?.revision ?? 0;
  const counted = revision - limits.maxRevisions;
  const share = stats.historyBytes <= limits.maxBytes ? 0 : 1 - limits.maxBytes / stats.historyBytes;
  const sized = share === 0 ? 0 : compacted + Math.ceil(stats.historyRevisions * share);
  return Math.max(compacted, Math.min(Math.max(aged, counted, sized), revision - limits.minRevisions));
}
