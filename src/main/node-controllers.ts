import type { Loop } from '../machinery/loop.ts';
import { eventSource as nodeEventSource } from '../workloads/node-lifecycle/actions.ts';
import { nodeLifecycle } from '../workloads/node-lifecycle/controller.ts';
import { podGarbageCollector } from '../workloads/pod-garbage-collector/controller.ts';
import { eventSource as evictionEventSource } from '../workloads/taint-eviction/actions.ts';
import { taintEviction } from '../workloads/taint-eviction/controller.ts';
import type { Sign } from '../workloads/certificates/actions.ts';
import { certificates } from '../workloads/certificates/controller.ts';
import type { Crew } from './controllers.ts';

/** How nodes come to be trusted, what becomes of them, and of pods because of their nodes. */
export function nodeLoops({ sign }: { readonly sign?: Sign }, { as, recorderFor, run }: Crew): readonly Loop[] {
  return [
    run(certificates({ ...as('certificate-controller'), sign })),
    run(nodeLifecycle({ ...as('node-controller'), recorder: recorderFor('node-controller', nodeEventSource) })),
    run(taintEviction({ ...as('taint-eviction-controller'), recorder: recorderFor('taint-eviction-controller', evictionEventSource) })),
    run(podGarbageCollector(as('pod-garbage-collector'))),
  ];
}
