import type { Violation } from '../invariants/observer.ts';
import { namespaceLeftUndone } from '../invariants/admission.ts';
import { idlePod, leftUndone } from '../invariants/end-state.ts';
import type { FuzzPlan } from './plan/plan.ts';
import type { FuzzWorld } from './fuzz-world.ts';

/** The cluster is quiet if nothing changes for so long: longer than any backoff. */
const usualQuietMs = 150_000;
const quietWithinMs = 1_800_000;

/** Without faults nothing has to be waited for but grace periods. */
const quietSoonMs = 30_000;

/** Waits until the cluster is quiet with nothing left to do: a forced detach takes six minutes. */
export async function settle({ observer, world, plan, agents, csi }: FuzzWorld, quietMs = usualQuietMs): Promise<Violation | undefined> {
  const deadline = world.clock.monotonic() + quietWithinMs;
  // In a confluent world every pod runs in the end, though the scheduler may wait ten minutes for a volume.
  const undone = () =>
    leftUndone(observer.facts) ??
    agents.leftUndone() ??
    csi?.leftUndone(observer.facts) ??
    namespaceLeftUndone(observer.facts) ??
    (plan.settings.confluent ? idlePod(observer.facts) : undefined);
  const began = world.clock.monotonic();
  let [counted, since] = [observer.changes, world.clock.monotonic()];
  while (world.clock.monotonic() < deadline) {
    await world.sleep(10_000);
    if (observer.changes !== counted) [counted, since] = [observer.changes, world.clock.monotonic()];
    else if (world.clock.monotonic() - since >= quietMs && undone() === undefined)
      return isCalm(plan) && since - began > quietSoonMs
        ? { invariant: 'without faults, the system is quiet soon', what: `the last change came after ${Math.round((since - began) / 1000)} s` }
        : undefined;
  }
  const minutes = quietWithinMs / 60_000;
  const left = undone();
  if (left !== undefined) return { invariant: 'once faults stop, nothing is left undone', what: `${left}, after ${minutes} minutes` };
  return { invariant: 'once faults stop, the system is quiet within a bound', what: `something still changes after ${minutes} minutes` };
}

const isCalm = ({ faults, settings }: FuzzPlan): boolean => settings.confluent && faults.length === 0;
