import type { Kind } from '../../api/kind.ts';
import type { ControllerLoop } from '../../client/controller/loop.ts';
import { eventSource as disruptionEventSource } from '../../controllers/cluster/disruption/actions.ts';
import { disruption } from '../../controllers/cluster/disruption/controller.ts';
import { endpointControllers } from '../../controllers/cluster/endpoints/controller.ts';
import { controllerName as endpointsEventSource } from '../../controllers/cluster/endpoints/legacy/actions.ts';
import { eventSource as mirrorEventSource } from '../../controllers/cluster/endpoints/mirror/actions.ts';
import { eventSource as slicesEventSource } from '../../controllers/cluster/endpoints/slices/actions.ts';
import type { ControllerName } from '../access/controller-roles.ts';
import type { ControllerContext } from './controller-context.ts';

/** Endpoints of Services and PodDisruptionBudgets. `kinds`: all that are served. */
export function serviceLoops(kinds: readonly Kind[], { as, recorderFor, run }: ControllerContext): readonly ControllerLoop[] {
  const { budgets, pods } = disruption({ ...as('disruption-controller'), kinds, recorder: recorderFor('disruption-controller', disruptionEventSource) });
  const actor = (name: ControllerName, component: string) => ({ ...as(name), recorder: recorderFor(name, component) });
  const { slices, endpoints, mirror } = endpointControllers({
    ...as('endpointslice-controller'),
    slices: actor('endpointslice-controller', slicesEventSource),
    endpoints: actor('endpoint-controller', endpointsEventSource),
    mirror: actor('endpointslicemirroring-controller', mirrorEventSource),
  });
  return [run(budgets), run(pods), run(slices), run(endpoints), run(mirror)];
}
