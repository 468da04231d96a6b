import type { Node } from '../api/generated/types.ts';
import { formatDuration } from '../sim/scenario/language/duration.ts';
import { nameOf } from '../why/timeline/object-name.ts';
import { durationOf } from '../sim/scenario/language/duration.ts';
import type { RecordedChange } from '../sim/scenario/object-history.ts';
import { kubectlUser, pluralOf, type ScenarioCluster } from '../sim/scenario/scenario-cluster.ts';
import type { VirtualCluster } from './virtual-cluster.ts';

export interface QuietOptions {
  /** How long nothing is written. Default: 1m. */
  readonly for?: string;
  /** By when this time of rest has to be over. Default: 10m. */
  readonly within?: string;
}

/** The cluster did not come to rest. */
export class QuietError extends Error {
  override readonly name = 'QuietError';
}

const mostNamed = 20;

/** @throws QuietError */
export async function expectQuiet(virtual: VirtualCluster, options: QuietOptions): Promise<void> {
  const [restMs, withinMs] = [durationOf(options.for ?? '1m'), durationOf(options.within ?? '10m')];
  if (restMs > withinMs) throw new Error(`a rest of ${formatDuration(restMs)} cannot be over within ${formatDuration(withinMs)}`);
  const { world, cluster } = virtual;
  const end = world.clock.monotonic() + withinMs;
  const writes = new RecentWrites(cluster, restMs);
  const stop = cluster.history.onChange((changes) => writes.add(changes));
  try {
    for (let due = writes.restOver; due > world.clock.monotonic(); due = writes.restOver) {
      if (due > end) throw new QuietError(writes.report(`the cluster was not quiet for ${formatDuration(restMs)} within ${formatDuration(withinMs)}`));
      await virtual.run(() => world.sleep(due - world.clock.monotonic()));
    }
  } finally {
    stop();
  }
}

/** What components wrote, and when last. */
class RecentWrites {
  readonly #cluster: ScenarioCluster;
  readonly #restMs: number;
  /** How often, by what was written. */
  readonly #counts = new Map<string, number>();
  #last: number;

  constructor(cluster: ScenarioCluster, restMs: number) {
    this.#cluster = cluster;
    this.#restMs = restMs;
    this.#last = cluster.world.clock.monotonic();
  }

  /** When the cluster will have been quiet for long enough, if nothing is written until then. */
  get restOver(): number {
    return this.#last + this.#restMs;
  }

  add(changes: readonly RecordedChange[]): void {
    for (const change of changes) {
      const author = authorOf(this.#cluster, change);
      if (author === kubectlUser || isHeartbeat(change)) continue;
      this.#last = this.#cluster.world.clock.monotonic();
      const text = `${author ?? 'a component'}: ${nameOf(objectOf(change))} ${verbOf(change)}`;
      this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1);
    }
  }

  report(title: string): string {
    const lines = [...this.#counts].sort(([, a], [, b]) => b - a).map(([text, times]) => `  ${text}${times === 1 ? '' : `, ${times} times`}`);
    const more = lines.length > mostNamed ? [`  … and ${lines.length - mostNamed} more`] : [];
    return [`${title}; written meanwhile:`, ...lines.slice(0, mostNamed), ...more].join('\n');
  }
}

function objectOf({ before, after }: RecordedChange) {
  const object = after ?? before;
  if (object === undefined) throw new Error('a change without an object');
  return object;
}

const verbOf = ({ before, after }: RecordedChange): string => (before === undefined ? 'created' : after === undefined ? 'deleted' : 'changed');

function authorOf({ writers }: ScenarioCluster, change: RecordedChange): string | undefined {
  const object = objectOf(change);
  return writers.authorOf(change.revision) ?? writers.lastAuthorOf(object, pluralOf(object));
}

/** A kubelet's report that says nothing new. */
function isHeartbeat({ before, after }: RecordedChange): boolean {
  if (before?.kind !== 'Node' || after === undefined) return false;
  return essenceOf(before as Node) === essenceOf(after as Node);
}

const essenceOf = ({ metadata, spec, status }: Node): string =>
  JSON.stringify({
    metadata: { ...metadata, resourceVersion: '', managedFields: [] },
    spec,
    status: { ...status, conditions: status.conditions?.map((each) => ({ ...each, lastHeartbeatTime: '' })) },
  });
