import { untypedKind, type Kind } from '../kind.ts';
import { controllerRevisionKind } from './apps/controller-revision.ts';
import { cronJobKind } from './batch/cron-job.ts';
import { daemonSetKind } from './apps/daemon-set.ts';
import { deploymentKind } from './apps/deployment.ts';
import { jobKind } from './batch/job.ts';
import { podKind } from './pod/pod.ts';
import { podTemplateKind } from './pod/pod-template.ts';
import { replicaSetKind } from './apps/replica-set.ts';
import { replicationControllerKind } from './apps/replication-controller.ts';
import { statefulSetKind } from './apps/stateful-set.ts';

export { controllerRevisionKind, cronJobKind, daemonSetKind, deploymentKind, jobKind, podKind, replicaSetKind, statefulSetKind };

/** Pods, and what makes them. */
export const workloadKinds: readonly Kind[] = [
  untypedKind(podKind),
  untypedKind(podTemplateKind),
  untypedKind(controllerRevisionKind),
  untypedKind(daemonSetKind),
  untypedKind(deploymentKind),
  untypedKind(replicaSetKind),
  untypedKind(replicationControllerKind),
  untypedKind(statefulSetKind),
  untypedKind(cronJobKind),
  untypedKind(jobKind),
];
