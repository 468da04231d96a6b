import type { Kind } from '../../api/kind.ts';
import type { ControllerLoop } from '../../client/controller/loop.ts';
import { disruption } from '../../controllers/cluster/disruption/controller.ts';
import { endpointControllers } from '../../controllers/cluster/endpoints/controller.ts';
import type { ControllerContext } from './controller-context.ts';
import type { EventfulController } from './event-sources.ts';

/** Endpoints of Services and PodDisruptionBudgets. `kinds`: all that are served. */
export function serviceLoops(kinds: readonly Kind[], { as, recorderFor, run }: ControllerContext): readonly ControllerLoop[] {
  const { budgets, pods } = disruption({ ...as('disruption-controller'), kinds, recorder: recorderFor('disruption-controller') });
  const actor = (name: EventfulController) => ({ ...as(name), recorder: recorderFor(name) });
  const { slices, endpoints, mirror } = endpointControllers({
    ...as('endpointslice-controller'),
    slices: actor('endpointslice-controller'),
    endpoints: actor('endpoint-controller'),
    mirror: actor('endpointslicemirroring-controller'),
  });
  return [run(budgets), run(pods), run(slices), run(endpoints), run(mirror)];
}
