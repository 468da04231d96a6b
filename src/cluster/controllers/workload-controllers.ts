import type { ControllerLoop } from '../../client/controller/loop.ts';
import { RecordedEvents } from '../../client/events/event-dedup.ts';
import { cronJobController, eventSource as cronJobEventSource } from '../../controllers/workloads/cron-job/controller.ts';
import { daemonSetController, eventSource as daemonSetEventSource } from '../../controllers/workloads/daemon-set/controller.ts';
import { deploymentController, eventSource as deploymentEventSource } from '../../controllers/workloads/deployment/controller.ts';
import { eventSource as jobEventSource, jobController } from '../../controllers/workloads/job/controller.ts';
import { ttlAfterFinished } from '../../controllers/workloads/ttl-after-finished/controller.ts';
import { jobOrphanPods } from '../../controllers/workloads/job/orphan-pods/controller.ts';
import { replicaSetController, eventSource as replicaSetEventSource } from '../../controllers/workloads/replica-set/controller.ts';
import { eventSource as statefulSetEventSource } from '../../controllers/workloads/stateful-set/actions.ts';
import { statefulSetController } from '../../controllers/workloads/stateful-set/controller.ts';
import type { ControllerContext } from './controller-context.ts';

/** The controllers that own pods. */
export function workloadLoops(context: ControllerContext): readonly ControllerLoop[] {
  const { as, recorderFor, run } = context;
  return [
    run(replicaSetController({ ...as('replicaset-controller'), recorder: recorderFor('replicaset-controller', replicaSetEventSource) })),
    run(deploymentController({ ...as('deployment-controller'), recorder: recorderFor('deployment-controller', deploymentEventSource) })),
    run(statefulSetController({ ...as('statefulset-controller'), recorder: recorderFor('statefulset-controller', statefulSetEventSource) })),
    run(daemonSetController({ ...as('daemon-set-controller'), recorder: recorderFor('daemon-set-controller', daemonSetEventSource) })),
    ...batchLoops(context),
  ];
}

/** Jobs and CronJobs. */
function batchLoops({ as, recorderFor, run }: ControllerContext): readonly ControllerLoop[] {
  const [jobs, cronJobs] = [as('job-controller'), as('cronjob-controller')];
  const recordedEvents = new RecordedEvents(recorderFor('cronjob-controller', cronJobEventSource), cronJobs.clock);
  return [
    run(jobController({ ...jobs, recorder: recorderFor('job-controller', jobEventSource) })),
    run(jobOrphanPods(jobs)),
    run(ttlAfterFinished(as('ttl-after-finished-controller'))),
    run(cronJobController({ ...cronJobs, recordedEvents })),
  ];
}
