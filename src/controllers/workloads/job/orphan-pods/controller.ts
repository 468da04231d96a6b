import type { Job, Pod } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import { isFinished } from '../../../../api/kinds/batch/job-conditions.ts';
import { jobKind } from '../../../../api/kinds/batch/job.ts';
import { podKind } from '../../../../api/kinds/pod/pod.ts';
import { type Change, keyOf } from '../../../../client/informers/cache.ts';
import type { Client } from '../../../../client/client.ts';
import { confirmGone } from '../../../../client/controller/confirm.ts';
import type { Informers } from '../../../../client/informers/informers.ts';
import { defineController } from '../../../../client/controller/define-controller.ts';
import { type Controller, source } from '../../../../client/controller/loop.ts';
import { controllerOf, controllerUid } from '../../../pods/ownership.ts';
import { releasePod } from '../perform.ts';
import { isTracked } from '../tracked-pod.ts';
import type { OrphanPodAction } from './actions.ts';
import { decideOrphanPod, type OrphanPodSnapshot } from './decide.ts';

export interface JobOrphanPodsOptions {
  readonly client: Client;
  readonly informers: Informers;
}

/** Removes the tracking finalizer of pods that no Job will count. Keys are those of pods: 'namespace/name'. */
export function jobOrphanPods({ client, informers }: JobOrphanPodsOptions): Controller<string, OrphanPodSnapshot, OrphanPodAction> {
  const [jobs, pods] = [informers.cache(jobKind), informers.cache(podKind)];
  const podsByOwner = pods.addIndex(controllerUid);
  return defineController({
    name: 'job-orphans',
    sources: [
      source(podKind, ({ after }) => (after !== undefined && isTracked(after) ? [keyOf(after.metadata)] : [])),
      source(jobKind, (change) => (isOver(change) ? podsByOwner.get(change.before?.metadata.uid ?? '').map(({ metadata }) => keyOf(metadata)) : [])),
    ],
    snapshot(key) {
      const pod = pods.getKey(key);
      return pod === undefined ? undefined : { pod, job: jobOf(pod, (ref) => jobs.get(ref)) };
    },
    decide: decideOrphanPod,
    actions: {
      release: ({ pod }) => releasePod(pod, client),
      confirmJobGone: ({ job }) => confirmGone(client, jobKind, job),
    },
    parallelism: 16,
  });
}

/** The Job counts no more pods: it was deleted, replaced or has ended. */
const isOver = ({ before, after }: Change<Job>): boolean =>
  before !== undefined && (after === undefined || after.metadata.uid !== before.metadata.uid || isFinished(after.status));

function jobOf(pod: Stored<Pod>, jobNamed: (ref: { namespace: string | undefined; name: string }) => Stored<Job> | undefined): Stored<Job> | undefined {
  const controller = controllerOf(pod);
  const job = controller === undefined ? undefined : jobNamed({ namespace: pod.metadata.namespace, name: controller.name });
  return job?.metadata.uid === controller?.uid ? job : undefined;
}
