import type { Job, Pod } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import { isFinished } from '../../../../api/kinds/batch/job-conditions.ts';
import { controllerOf } from '../../../pods/ownership.ts';
import { isTracked } from '../tracked-pod.ts';
import type { OrphanPodAction, OrphanPodDecision } from './actions.ts';

export interface OrphanPodSnapshot {
  readonly pod: Stored<Pod>;
  /** Its controller, by uid. */
  readonly job: Stored<Job> | undefined;
}

/** With any other `spec.managedBy`, another controller handles the Job. */
const OUR_NAME = 'kubernetes.io/job-controller';

/**
 * A tracked pod of a Job that does not count any more would keep its finalizer for ever, so it is removed here. The server has to confirm
 * that the Job does not exist: a pod that is released too early would be run again.
 */
export function decideOrphanPod({ pod, job }: OrphanPodSnapshot): OrphanPodDecision {
  const release: OrphanPodAction = { do: 'release', pod };
  const controller = controllerOf(pod);
  if (!isTracked(pod)) return decided('NotTracked', 'it has no tracking finalizer');
  if (controller === undefined) return decided('NoController', 'it belongs to no job', release);
  if (controller.kind !== 'Job' || controller.apiVersion !== 'batch/v1') return decided('OtherController', `it belongs to a ${controller.kind}`);
  if (job === undefined) {
    const { name, uid } = controller;
    return decided('JobGone', `its job ${name} is gone`, { do: 'confirmJobGone', job: { namespace: pod.metadata.namespace, name, uid } }, release);
  }
  if ((job.spec.managedBy ?? OUR_NAME) !== OUR_NAME) return decided('ManagedElsewhere', `${job.spec.managedBy} manages its job`);
  return isFinished(job.status) ? decided('JobFinished', 'its job has ended', release) : decided('JobCounts', 'its job will count it');
}

const decided = (code: string, text: string, ...actions: readonly OrphanPodAction[]): OrphanPodDecision => ({ actions, reasons: [{ code, text }] });
