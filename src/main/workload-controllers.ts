import type { Loop } from '../machinery/loop.ts';
import { Tellings } from '../machinery/tellings.ts';
import { cronJobController, eventSource as cronJobEventSource } from '../workloads/cron-job/controller.ts';
import { daemonSetController, eventSource as daemonSetEventSource } from '../workloads/daemon-set/controller.ts';
import { deploymentController, eventSource as deploymentEventSource } from '../workloads/deployment/controller.ts';
import { eventSource as jobEventSource, jobController } from '../workloads/job/controller.ts';
import { jobExpiry } from '../workloads/job/expiry/controller.ts';
import { jobOrphans } from '../workloads/job/orphans/controller.ts';
import { replicaSetController, eventSource as replicaSetEventSource } from '../workloads/replica-set/controller.ts';
import { eventSource as statefulSetEventSource } from '../workloads/stateful-set/actions.ts';
import { statefulSets } from '../workloads/stateful-set/controller.ts';
import type { Crew } from './controllers.ts';

/** Those who own pods. */
export function workloadLoops(crew: Crew): readonly Loop[] {
  const { as, recorderFor, run } = crew;
  return [
    run(replicaSetController({ ...as('replicaset-controller'), recorder: recorderFor('replicaset-controller', replicaSetEventSource) })),
    run(deploymentController({ ...as('deployment-controller'), recorder: recorderFor('deployment-controller', deploymentEventSource) })),
    run(statefulSets({ ...as('statefulset-controller'), recorder: recorderFor('statefulset-controller', statefulSetEventSource) })),
    run(daemonSetController({ ...as('daemon-set-controller'), recorder: recorderFor('daemon-set-controller', daemonSetEventSource) })),
    ...batchLoops(crew),
  ];
}

/** Work that comes to an end. */
function batchLoops({ as, recorderFor, run }: Crew): readonly Loop[] {
  const [jobs, cronJobs] = [as('job-controller'), as('cronjob-controller')];
  const tellings = new Tellings(recorderFor('cronjob-controller', cronJobEventSource), cronJobs.clock);
  return [
    run(jobController({ ...jobs, recorder: recorderFor('job-controller', jobEventSource) })),
    run(jobOrphans(jobs)),
    run(jobExpiry(as('ttl-after-finished-controller'))),
    run(cronJobController({ ...cronJobs, tellings })),
  ];
}
