import { isFinished } from '../../api/kinds/workloads/job-conditions.ts';
import { jobKind } from '../../api/kinds/workloads/job.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import { keyOf } from '../../machinery/cache.ts';
import type { Informers } from '../../machinery/informers.ts';
import { type Controller, source } from '../../machinery/loop.ts';
import { Orphans } from '../pods/orphans.ts';
import { controllerUid } from '../pods/ownership.ts';
import { ownersOf } from '../pods/waking.ts';
import type { Action } from './actions.ts';
import { decideJob, type Snapshot } from './decide.ts';
import { type Means, Performer } from './perform.ts';

export interface JobOptions extends Means {
  readonly informers: Informers;
}

/** The component that Kubernetes names in these events. */
export const eventSource = 'job-controller';

/** Runs pods until enough of them have succeeded. Keys are those of jobs: 'namespace/name'. */
export function jobController({ informers, ...means }: JobOptions): Controller<string, Snapshot, Action> {
  const jobs = informers.cache(jobKind);
  const podsByOwner = informers.cache(podKind).addIndex(controllerUid);
  const orphans = new Orphans(informers.cache(podKind));
  const performer = new Performer(means);
  return {
    name: 'job',
    sources: [
      source(jobKind, ({ before, after }) => {
        const isOver = after === undefined || after.metadata.uid !== before?.metadata.uid || isFinished(after.status);
        if (isOver) performer.failures.delete(before?.metadata.uid ?? '');
        return [keyOf((after ?? before)?.metadata ?? {})];
      }),
      source(podKind, (change) => ownersOf(change, { kind: jobKind.kind, inNamespace: (namespace) => jobs.inNamespace(namespace) })),
    ],
    snapshot(key) {
      const job = jobs.getKey(key);
      if (job === undefined) return undefined;
      const { uid = '', namespace } = job.metadata;
      return { job, candidates: [...podsByOwner.get(uid), ...orphans.near(namespace, job.spec.selector)], backoff: performer.failures.get(uid) };
    },
    decide: decideJob,
    perform: (action) => performer.perform(action),
    parallelism: 16,
    backoff: { firstMs: 1_000, longestMs: 60_000 },
  };
}
