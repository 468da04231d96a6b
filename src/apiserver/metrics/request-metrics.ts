import type { RequestInfo } from '../../api/request-info.ts';
import type { Counter, Histogram, Metrics } from './metrics.ts';

/** The metrics of the HTTP layer, under Kubernetes' names. */
export class RequestMetrics {
  readonly encodings: Counter;
  readonly watchEvents: Counter;
  readonly watchesCutOff: Counter;
  readonly refused: Counter;
  inFlight = 0;
  /** So far. */
  handled = 0;
  watches = 0;
  /** Requests in the queues of flow control. */
  waiting: () => number = () => 0;
  readonly #requests: Counter;
  readonly #durations: Histogram;
  readonly #resources: ReadonlySet<string>;

  /** `resources`: 'apps/v1/deployments' of every kind served; only they become labels: clients can make up others. */
  constructor(metrics: Metrics, resources: ReadonlySet<string>) {
    this.#resources = resources;
    const labels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope'];
    this.#requests = metrics.counter('apiserver_request_total', 'Requests answered', [...labels, 'code']);
    this.#durations = metrics.histogram('apiserver_request_duration_seconds', 'Time to answer, watches not counted', { labelNames: labels, bounds: seconds });
    this.watchEvents = metrics.counter('apiserver_watch_events_total', 'Events sent to watches');
    this.encodings = metrics.counter('mooring_watch_encodings_total', 'Events encoded for watches: once for all watches that want the same form');
    this.watchesCutOff = metrics.counter('mooring_watches_cut_off_total', 'Watches ended because their client did not read');
    this.refused = metrics.counter('mooring_requests_refused_total', 'Requests and connections turned away at a limit', ['limit']);
    metrics.gauge('apiserver_current_inflight_requests', 'Requests under way, watches not counted', () => this.inFlight);
    metrics.gauge('mooring_requests_waiting', 'Requests that wait for their turn', () => this.waiting());
    metrics.gauge('apiserver_longrunning_requests', 'Watches open', () => this.watches);
  }

  /** `took`: seconds; undefined for a watch. */
  answered(info: RequestInfo | undefined, code: number, took: number | undefined): void {
    this.handled += 1;
    const [verb, group, version, resource, subresource, scope] = this.#labels(info);
    this.#requests.add(1, verb, group, version, resource, subresource, scope, String(code));
    if (took !== undefined) this.#durations.observe(took, verb, group, version, resource, subresource, scope);
  }

  #labels(info: RequestInfo | undefined): readonly [string, string, string, string, string, string] {
    if (info?.type !== 'resource') return ['GET', '', '', '', '', ''];
    const { verb, group, version, resource, subresource, namespace, name } = info;
    const label = verbLabels[verb] ?? 'other';
    if (!this.#resources.has(`${group}/${version}/${resource}`)) return [label, '', '', '', '', ''];
    const scope = name !== '' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster';
    return [label, group, version, resource, knownSubresources.has(subresource) ? subresource : '', scope];
  }
}

const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const verbLabels: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
};

const knownSubresources: ReadonlySet<string> = new Set([
  'status',
  'scale',
  'binding',
  'eviction',
  'token',
  'finalize',
  'log',
  'exec',
  'attach',
  'portforward',
  'resize',
]);
