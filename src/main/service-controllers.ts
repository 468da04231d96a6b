import type { Kind } from '../api/kind.ts';
import type { Loop } from '../machinery/loop.ts';
import { eventSource as disruptionEventSource } from '../workloads/disruption/actions.ts';
import { disruption } from '../workloads/disruption/controller.ts';
import type { Crew } from './controllers.ts';

/** Who is behind a service, and how many of them may be missing. `kinds`: all that are served. */
export function serviceLoops(kinds: readonly Kind[], { as, recorderFor, run }: Crew): readonly Loop[] {
  const { budgets, pods } = disruption({ ...as('disruption-controller'), kinds, recorder: recorderFor('disruption-controller', disruptionEventSource) });
  return [run(budgets), run(pods)];
}
