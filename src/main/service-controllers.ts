import type { Kind } from '../api/kind.ts';
import type { Loop } from '../machinery/loop.ts';
import { eventSource as disruptionEventSource } from '../workloads/disruption/actions.ts';
import { disruption } from '../workloads/disruption/controller.ts';
import { endpointControllers } from '../workloads/endpoints/controller.ts';
import { controllerName as endpointsEventSource } from '../workloads/endpoints/legacy/actions.ts';
import { eventSource as mirrorEventSource } from '../workloads/endpoints/mirror/actions.ts';
import { eventSource as slicesEventSource } from '../workloads/endpoints/slices/actions.ts';
import type { ControllerName } from './controller-roles.ts';
import type { Crew } from './controllers.ts';

/** Who is behind a service, and how many of them may be missing. `kinds`: all that are served. */
export function serviceLoops(kinds: readonly Kind[], { as, recorderFor, run }: Crew): readonly Loop[] {
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
