import { erased, type Kind } from '../../kind.ts';
import { controllerRevisionKind } from './controller-revision.ts';
import { cronJobKind } from './cron-job.ts';
import { daemonSetKind } from './daemon-set.ts';
import { deploymentKind } from './deployment.ts';
import { jobKind } from './job.ts';
import { podKind } from './pod.ts';
import { replicaSetKind } from './replica-set.ts';
import { replicationControllerKind } from './replication-controller.ts';
import { statefulSetKind } from './stateful-set.ts';

export { controllerRevisionKind, cronJobKind, daemonSetKind, deploymentKind, jobKind, podKind, replicaSetKind, statefulSetKind };

/** Pods, and what makes them. */
export const workloadKinds: readonly Kind[] = [
  erased(podKind),
  erased(controllerRevisionKind),
  erased(daemonSetKind),
  erased(deploymentKind),
  erased(replicaSetKind),
  erased(replicationControllerKind),
  erased(statefulSetKind),
  erased(cronJobKind),
  erased(jobKind),
];
