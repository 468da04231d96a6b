import type { Metrics } from '../../apiserver/metrics/metrics.ts';
import type { Store } from '../../store/contract.ts';

export function countStore(metrics: Metrics, store: Store): void {
  const gauges = {
    mooring_store_keys: ['Keys in the store', 'keys'],
    mooring_store_live_bytes: ['Bytes of the newest value of every key', 'liveBytes'],
    mooring_store_history_revisions: ['Revisions since the compacted one', 'historyRevisions'],
    mooring_store_history_bytes: ['Bytes that only older revisions hold', 'historyBytes'],
    mooring_store_disk_bytes: ['Bytes on disk', 'diskBytes'],
    mooring_store_watchers: ['Watches on the store', 'watchers'],
  } as const;
  for (const [name, [help, stat]] of Object.entries(gauges)) metrics.gauge(name, help, () => store.stats()[stat]);
}
