import type { Job, Pod } from '../../../api/generated/types.ts';
import { isFinished } from '../../../api/kinds/workloads/job-conditions.ts';
import { jobKind } from '../../../api/kinds/workloads/job.ts';
import { podKind } from '../../../api/kinds/workloads/pod.ts';
import { type Change, keyOf } from '../../../machinery/cache.ts';
import type { Client } from '../../../machinery/client.ts';
import { confirmGone } from '../../../machinery/confirm.ts';
import type { Informers } from '../../../machinery/informers.ts';
import { type Controller, source } from '../../../machinery/loop.ts';
import { controllerOf, controllerUid } from '../../pods/ownership.ts';
import { releasePod } from '../perform.ts';
import { isTracked } from '../tracked-pod.ts';
import type { Action } from './actions.ts';
import { decideOrphan, type Snapshot } from './decide.ts';

export interface JobOrphansOptions {
  readonly client: Client;
  readonly informers: Informers;
}

/** Lets pods go that no job will ever count. Keys are those of pods: 'namespace/name'. */
export function jobOrphans({ client, informers }: JobOrphansOptions): Controller<string, Snapshot, Action> {
  const [jobs, pods] = [informers.cache(jobKind), informers.cache(podKind)];
  const podsByOwner = pods.addIndex(controllerUid);
  return {
    name: 'job-orphans',
    sources: [
      source(podKind, ({ after }) => (after !== undefined && isTracked(after) ? [keyOf(after.metadata)] : [])),
      source(jobKind, (change) => (isOver(change) ? podsByOwner.get(change.before?.metadata.uid ?? '').map(({ metadata }) => keyOf(metadata)) : [])),
    ],
    snapshot(key) {
      const pod = pods.getKey(key);
      return pod === undefined ? undefined : { pod, job: jobOf(pod, (ref) => jobs.get(ref)) };
    },
    decide: decideOrphan,
    perform: (action) => (action.do === 'release' ? releasePod(action.pod, client) : confirmGone(client, jobKind, action.job)),
    parallelism: 16,
  };
}

/** It counts no more pods: gone, replaced or ended. */
const isOver = ({ before, after }: Change<Job>): boolean =>
  before !== undefined && (after === undefined || after.metadata.uid !== before.metadata.uid || isFinished(after.status));

function jobOf(pod: Pod, jobNamed: (ref: { namespace: string | undefined; name: string }) => Job | undefined): Job | undefined {
  const controller = controllerOf(pod);
  const job = controller === undefined ? undefined : jobNamed({ namespace: pod.metadata.namespace, name: controller.name });
  return job?.metadata.uid === controller?.uid ? job : undefined;
}
