import type { Loop } from '../machinery/loop.ts';
import { deploymentController, eventSource as deploymentEventSource } from '../workloads/deployment/controller.ts';
import { replicaSetController, eventSource as replicaSetEventSource } from '../workloads/replica-set/controller.ts';
import { eventSource as statefulSetEventSource } from '../workloads/stateful-set/actions.ts';
import { statefulSets } from '../workloads/stateful-set/controller.ts';
import type { Crew } from './controllers.ts';

/** Those who own pods. */
export function workloadLoops({ as, recorderFor, run }: Crew): readonly Loop[] {
  return [
    run(replicaSetController({ ...as('replicaset-controller'), recorder: recorderFor('replicaset-controller', replicaSetEventSource) })),
    run(deploymentController({ ...as('deployment-controller'), recorder: recorderFor('deployment-controller', deploymentEventSource) })),
    run(statefulSets({ ...as('statefulset-controller'), recorder: recorderFor('statefulset-controller', statefulSetEventSource) })),
  ];
}
