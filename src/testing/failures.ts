import { nearestName } from '../api/nearest-name.ts';
import type { DriverErrorCode } from '../drivers/contract.ts';
import { durationOf } from '../sim/scenario/language/duration.ts';
import { type BackendCall, type ScriptStep } from '../sim/scenario/language/script-step.ts';
import type { ScenarioCluster } from '../sim/scenario/scenario-cluster.ts';

/** What fails, and for how long: '5m'. Without `for` it lasts until it is recovered, or the cluster is restored. */
export type Failure =
  /** The machine loses its connection: its pods run on, and nothing is heard of it. */
  | { readonly node: string; readonly for?: string }
  /** Every node of the zone, and the backends' calls for disks there. */
  | { readonly zone: string; readonly for?: string }
  /** Calls of a storage backend: `times` of them, or all. `code` is CSI's; default: Internal. */
  | {
      readonly backend: string;
      readonly call?: BackendCall;
      readonly code?: DriverErrorCode;
      readonly message?: string;
      readonly times?: number;
      readonly for?: string;
    }
  /** The API server does not answer, and every watch is cut. */
  | { readonly api: string }
  /** A process is killed, and starts again with empty memory after this time; default: 10s. */
  | { readonly process: 'controllers' | 'scheduler'; readonly for?: string };

interface FailureSteps {
  readonly begin: ScriptStep;
  /** Undefined: it ends by itself. */
  readonly end: ScriptStep | undefined;
}

const lasting = ({ for: duration }: { readonly for?: string }) => (duration === undefined ? {} : { forMs: durationOf(duration) });

/** @throws Error if the cluster has no such node, zone or backend; PhraseError for an invalid time */
export function stepsOf(failure: Failure, cluster: ScenarioCluster): FailureSteps {
  if ('node' in failure) {
    const node = known('node', failure.node, cluster.hosts.keys());
    return { begin: { type: 'node dies', node, ...lasting(failure) }, end: { type: 'node returns', node } };
  }
  if ('zone' in failure) {
    const zones = Array.from(cluster.hosts.keys()).flatMap((node) => cluster.zoneOf(node) ?? []);
    const zone = known('zone', failure.zone, zones);
    return { begin: { type: 'zone goes dark', zone, ...lasting(failure) }, end: { type: 'zone returns', zone } };
  }
  if ('backend' in failure) {
    const { call = 'every', code = 'Internal', message = 'the backend failed', times } = failure;
    const driver = known('backend', failure.backend, cluster.backends.keys());
    const fault = { driver, call, code, message, ...(times === undefined ? {} : { times }), ...lasting(failure) };
    return { begin: { type: 'backend fails', ...fault }, end: { type: 'backend recovers', driver } };
  }
  if ('api' in failure) return { begin: { type: 'process crashes', process: 'server', forMs: durationOf(failure.api) }, end: undefined };
  return { begin: { type: 'process crashes', process: failure.process, forMs: durationOf(failure.for ?? '10s') }, end: undefined };
}

function known(what: string, name: string, names: Iterable<string>): string {
  const all = [...new Set(names)];
  if (all.includes(name)) return name;
  const near = nearestName(name, all);
  throw new Error(`there is no ${what} "${name}"; ${near === undefined ? `there are ${all.join(', ')}` : `did you mean "${near}"?`}`);
}
