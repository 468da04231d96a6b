import type { Fault } from './plan/faults.ts';
import type { TimedAction } from './plan/user-actions.ts';
import type { FuzzPlan } from './plan/plan.ts';
import { reduce } from '../world/delta-debugging.ts';
import { type RunOutcome, runPlan } from './run-plan.ts';

export interface FuzzFailure {
  readonly plan: FuzzPlan;
  readonly outcome: RunOutcome;
}

/** The most runs in search of a smaller world. */
const mostRuns = 200;

/**
 * Finds a smaller world that breaks the same invariant: first without whole kinds of faults, then without ever smaller parts of what is left. If the failure
 * needed faults, the smaller one does too: a world in which a pod waits only because its claim is never created proves nothing.
 */
export async function shrink(found: FuzzFailure, run: (plan: FuzzPlan) => Promise<RunOutcome> = runPlan): Promise<FuzzFailure> {
  let best = found;
  let runs = 0;
  const attempt = (plan: FuzzPlan): Promise<RunOutcome> => {
    runs++;
    return run(plan);
  };
  const isSame = ({ violation }: RunOutcome): boolean => violation?.invariant === found.outcome.violation?.invariant;
  const takesFaults = found.plan.faults.length > 0 && !isSame(await attempt({ ...found.plan, faults: [] }));
  /** Whether this world breaks the same invariant; if so, it becomes the best. */
  const breaks = async (plan: FuzzPlan): Promise<boolean> => {
    if (runs >= mostRuns || (takesFaults && plan.faults.length === 0)) return false;
    const outcome = await attempt(plan);
    if (!isSame(outcome) || (takesFaults && isSame(await attempt({ ...plan, faults: [] })))) return false;
    best = { plan, outcome };
    return true;
  };
  for (const kind of new Set(found.plan.faults.map((fault) => fault.kind))) {
    const faults = best.plan.faults.filter((fault) => fault.kind !== kind);
    await breaks({ ...best.plan, faults });
  }
  const items: readonly Item[] = [...best.plan.faults.map((fault) => ({ fault })), ...best.plan.actions.map((action) => ({ action }))];
  await reduce(items, (left) => breaks({ ...best.plan, ...parted(left) }));
  return best;
}

type Item = { readonly fault: Fault } | { readonly action: TimedAction };

const parted = (items: readonly Item[]): Pick<FuzzPlan, 'faults' | 'actions'> => ({
  faults: items.flatMap((item) => ('fault' in item ? item.fault : [])),
  actions: items.flatMap((item) => ('action' in item ? item.action : [])),
});
