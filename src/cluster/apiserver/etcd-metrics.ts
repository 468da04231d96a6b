import type { Metrics } from '../../apiserver/metrics/metrics.ts';
import type { EtcdEvent } from '../../store/etcd/activity.ts';
import type { EtcdStore } from '../../store/etcd/etcd-store.ts';

/** In seconds; Kubernetes' of etcd_request_duration_seconds. */
const bounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const waitBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3];

/** The metrics of the store etcd: docs/HIGH-AVAILABILITY.md lists them. */
export function countEtcd(metrics: Metrics, store: EtcdStore): void {
  const calls = metrics.histogram('etcd_request_duration_seconds', 'Calls to a member of etcd', { labelNames: ['operation'], bounds });
  const errors = metrics.counter('etcd_request_errors_total', 'Calls to a member of etcd that failed', ['operation', 'code']);
  const waits = metrics.histogram('mooring_etcd_mirror_wait_seconds', 'How long reads and writes waited until this server had the revision of etcd', {
    labelNames: ['of'],
    bounds: waitBounds,
  });
  const directReads = metrics.counter('mooring_etcd_direct_reads_total', 'Reads that went to etcd itself, since this server was behind it');
  const undecided = metrics.counter('mooring_etcd_undecided_total', 'Transactions that were sent to etcd, and got no answer');
  const watches = metrics.counter('mooring_etcd_watches_total', 'How often the watch of etcd has begun');
  const reloads = metrics.counter('mooring_etcd_reloads_total', 'How often all objects were read again, since events of etcd were lost');
  const compactions = metrics.counter('mooring_etcd_compactions_total', 'Compactions of etcd by this server, or known to it', ['by']);
  let compacted = 0;
  metrics.gauge('mooring_etcd_compacted_revision', 'The revision that etcd was last compacted to, as far as this server knows', () => compacted);
  metrics.gauge('mooring_etcd_mirror_lag_revisions', 'How many revisions this server is behind the newest that etcd has named', () => store.lag());
  metrics.gauge('mooring_etcd_available', '0: etcd does not answer, or refuses writes', () => (store.writeProblem() === undefined ? 1 : 0));
  store.observe((event: EtcdEvent) => {
    switch (event.type) {
      case 'call':
        calls.observe(event.seconds, event.operation);
        if (event.code !== 'OK') errors.add(1, event.operation, event.code);
        return;
      case 'wait':
        return waits.observe(event.seconds, event.of);
      case 'direct-read':
        return directReads.add(1);
      case 'undecided':
        return undecided.add(1);
      case 'watch':
        return watches.add(1);
      case 'reload':
        return reloads.add(1);
      case 'compaction':
        compacted = Math.max(compacted, event.revision);
        return compactions.add(1, event.isOwn ? 'this-server' : 'another');
    }
  });
}
