import type { ControllerLoop } from '../../client/controller/loop.ts';
import { RecordedEvents } from '../../client/events/event-dedup.ts';
import { cronJobController } from '../../controllers/workloads/cron-job/controller.ts';
import { daemonSetController } from '../../controllers/workloads/daemon-set/controller.ts';
import { deploymentController } from '../../controllers/workloads/deployment/controller.ts';
import { jobController } from '../../controllers/workloads/job/controller.ts';
import { ttlAfterFinished } from '../../controllers/workloads/ttl-after-finished/controller.ts';
import { jobOrphanPods } from '../../controllers/workloads/job/orphan-pods/controller.ts';
import { replicaSetController } from '../../controllers/workloads/replica-set/controller.ts';
import { replicaSets, replicationControllers } from '../../controllers/workloads/replica-set/variants.ts';
import { statefulSetController } from '../../controllers/workloads/stateful-set/controller.ts';
import type { ControllerContext } from './controller-context.ts';

/** The controllers that own pods. */
export function workloadLoops(context: ControllerContext): readonly ControllerLoop[] {
  const { as, recorderFor, run } = context;
  return [
    run(replicaSetController(replicaSets, { ...as('replicaset-controller'), recorder: recorderFor('replicaset-controller') })),
    run(replicaSetController(replicationControllers, { ...as('replication-controller'), recorder: recorderFor('replication-controller') })),
    run(deploymentController({ ...as('deployment-controller'), recorder: recorderFor('deployment-controller') })),
    run(statefulSetController({ ...as('statefulset-controller'), recorder: recorderFor('statefulset-controller') })),
    run(daemonSetController({ ...as('daemon-set-controller'), recorder: recorderFor('daemon-set-controller') })),
    ...batchLoops(context),
  ];
}

/** Jobs and CronJobs. */
function batchLoops({ as, recorderFor, run }: ControllerContext): readonly ControllerLoop[] {
  const [jobs, cronJobs] = [as('job-controller'), as('cronjob-controller')];
  const recordedEvents = new RecordedEvents(recorderFor('cronjob-controller'), cronJobs.clock);
  return [
    run(jobController({ ...jobs, recorder: recorderFor('job-controller') })),
    run(jobOrphanPods(jobs)),
    run(ttlAfterFinished(as('ttl-after-finished-controller'))),
    run(cronJobController({ ...cronJobs, recordedEvents })),
  ];
}
