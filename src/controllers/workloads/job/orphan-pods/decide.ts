import type { Job, Pod } from '../../../../api/generated/types.ts';
import { isFinished } from '../../../../api/kinds/batch/job-conditions.ts';
import { controllerOf } from '../../../pods/ownership.ts';
import { isTracked } from '../tracked-pod.ts';
import type { OrphanPodAction, OrphanPodDecision } from './actions.ts';

export interface OrphanPodSnapshot {
  readonly pod: Pod;
  /** The one that its owner references name as its controller, by uid. */
  readonly job: Job | undefined;
}

/** Somebody else's controller, unless it is this name. */
const OUR_NAME = 'kubernetes.io/job-controller';

/**
 * A pod that waits to be counted by a job that no longer counts would wait forever: it is let go. That its job does not exist is asked of
 * the server: a pod that was let go too early would be run again.
 */
export function decideOrphanPod({ pod, job }: OrphanPodSnapshot): OrphanPodDecision {
  const release: OrphanPodAction = { do: 'release', pod };
  const controller = controllerOf(pod);
  if (!isTracked(pod)) return decided('NotTracked', 'nobody wants to count it');
  if (controller === undefined) return decided('NoController', 'it belongs to no job', release);
  if (controller.kind !== 'Job' || controller.apiVersion !== 'batch/v1') return decided('OtherController', `it belongs to a ${controller.kind}`);
  if (job === undefined) {
    const { name, uid } = controller;
    return decided('JobGone', `its job ${name} is gone`, { do: 'confirmJobGone', job: { namespace: pod.metadata.namespace, name, uid } }, release);
  }
  if ((job.spec.managedBy ?? OUR_NAME) !== OUR_NAME) return decided('ManagedElsewhere', `${job.spec.managedBy} takes care of its job`);
  return isFinished(job.status) ? decided('JobFinished', 'its job has ended', release) : decided('JobCounts', 'its job will count it');
}

const decided = (code: string, text: string, ...actions: readonly OrphanPodAction[]): OrphanPodDecision => ({ actions, reasons: [{ code, text }] });
