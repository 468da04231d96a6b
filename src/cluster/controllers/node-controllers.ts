import type { ControllerLoop } from '../../client/controller/loop.ts';
import { nodeLifecycle } from '../../controllers/cluster/node-lifecycle/controller.ts';
import { podGarbageCollector } from '../../controllers/cluster/pod-garbage-collector/controller.ts';
import { taintEviction } from '../../controllers/cluster/taint-eviction/controller.ts';
import type { Sign } from '../../controllers/cluster/certificates/actions.ts';
import { certificates } from '../../controllers/cluster/certificates/controller.ts';
import type { ControllerContext } from './controller-context.ts';

/** Certificates of nodes, their lifecycle, and eviction and garbage collection of their pods. */
export function nodeLoops({ sign }: { readonly sign?: Sign }, { as, recorderFor, run }: ControllerContext): readonly ControllerLoop[] {
  return [
    run(certificates({ ...as('certificate-controller'), sign })),
    run(nodeLifecycle({ ...as('node-controller'), recorder: recorderFor('node-controller') })),
    run(taintEviction({ ...as('taint-eviction-controller'), recorder: recorderFor('taint-eviction-controller') })),
    run(podGarbageCollector(as('pod-garbage-collector'))),
  ];
}
