import type { Loop } from '../machinery/loop.ts';
import { podGarbageCollector } from '../workloads/pod-garbage-collector/controller.ts';
import { eventSource as evictionEventSource } from '../workloads/taint-eviction/actions.ts';
import { taintEviction } from '../workloads/taint-eviction/controller.ts';
import type { Crew } from './controllers.ts';

/** What becomes of nodes, and of pods because of their nodes. */
export function nodeLoops({ as, recorderFor, run }: Crew): readonly Loop[] {
  return [
    run(taintEviction({ ...as('taint-eviction-controller'), recorder: recorderFor('taint-eviction-controller', evictionEventSource) })),
    run(podGarbageCollector(as('pod-garbage-collector'))),
  ];
}
