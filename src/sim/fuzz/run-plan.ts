import type { Violation } from '../invariants/observer.ts';
import { Prng } from '../world/prng.ts';
import { describeAction, type TimedAction } from './plan/user-actions.ts';
import { actionsEndMs } from './plan/draw-actions.ts';
import { UserActionPerformer } from './perform-user-action.ts';
import { simulate, type SimulatedWorld } from '../world/world.ts';
import { describeFault } from './plan/faults.ts';
import { endState } from '../invariants/end-state.ts';
import type { FuzzPlan } from './plan/plan.ts';
import { FuzzWorld } from './fuzz-world.ts';
import { settle } from './settle.ts';

export interface RunOutcome {
  /** The first violation; undefined: there was none. */
  readonly violation: Violation | undefined;
  /** What happened, and the component that did it. */
  readonly timeline: readonly string[];
  readonly steps: number;
}

const mostSteps = 1_000_000;

/** Runs a world to its end, or to the first violation. A confluent world also runs without faults, and has to end in the same state. */
export async function runPlan(plan: FuzzPlan): Promise<RunOutcome> {
  const real = await runOnce(plan);
  if (real.violation !== undefined || !plan.settings.confluent || plan.faults.length === 0) return real;
  const ideal = await runOnce({ ...plan, faults: [] });
  if (ideal.violation !== undefined) return ideal;
  const [here, there] = [difference(real.end, ideal.end), difference(ideal.end, real.end)];
  if (here.length === 0 && there.length === 0) return real;
  const what = `with faults: ${here.join('; ') || 'nothing more'}. Without: ${there.join('; ') || 'nothing more'}`;
  return { ...real, violation: { invariant: 'once faults stop, the cluster ends as it would have without them', what } };
}

/** The lines of `one` that `other` lacks, each as often as it is missing. */
function difference(one: readonly string[], other: readonly string[]): readonly string[] {
  const left = [...other];
  return one.filter((line) => {
    const index = left.indexOf(line);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

async function runOnce(plan: FuzzPlan): Promise<RunOutcome & { readonly end: readonly string[] }> {
  const result: { violation: Violation | undefined; running?: FuzzWorld; steps: number; end: readonly string[] } = { violation: undefined, steps: 0, end: [] };
  try {
    await simulate(
      plan.seed,
      async (world) => {
        const violated = new Promise<void>((resolve) => {
          result.running = new FuzzWorld(world, plan, {
            onViolation: (violation) => {
              result.violation ??= violation;
              resolve();
            },
          });
        });
        if (result.running !== undefined) await Promise.race([violated, runActions(result.running).then((found) => void (result.violation ??= found))]);
        result.end = result.running === undefined ? [] : endState(result.running.observer.facts);
        result.steps = world.steps;
      },
      { steps: mostSteps, keepsLog: false },
    );
  } catch (error) {
    result.violation ??= { invariant: 'the simulation ends', what: error instanceof Error ? error.message : String(error) };
  }
  const { violation, running, steps, end } = result;
  if (violation !== undefined) running?.timeline.add('VIOLATION', `${violation.invariant}: ${violation.what}`);
  return { violation, timeline: running?.timeline.lines ?? [], steps, end };
}

async function runActions(running: FuzzWorld): Promise<Violation | undefined> {
  const { plan, world } = running;
  await running.start();
  const began = world.clock.monotonic();
  const until = (at: number) => world.sleep(began + at - world.clock.monotonic());
  for (const fault of plan.faults) {
    world.timers.after(fault.at, () => {
      running.timeline.add('fault', describeFault(fault));
      running.inflict(fault);
    });
  }
  const actors = (['user', 'admin', 'autoscaler', 'intruder'] as const).map((who) =>
    act(
      running,
      plan.actions.filter((action) => action.who === who),
      until,
    ),
  );
  await until(actionsEndMs);
  await running.heal();
  await Promise.all(actors);
  const restless = await settle(running);
  if (restless !== undefined) return restless;
  return checksRestart(plan) ? await checkRestart(running, world) : undefined;
}

/** Each person performs one action after the other. */
async function act(running: FuzzWorld, actions: readonly TimedAction[], until: (at: number) => Promise<void>): Promise<void> {
  const { world, client, disks, machines, timeline } = running;
  const performer = new UserActionPerformer({ world, client, disks, machines });
  for (const { at, who, action } of actions) {
    await until(at);
    timeline.add(who, describeAction(action));
    const ending = await performer.perform(action);
    if (ending !== 'done') timeline.add(who, `${describeAction(action)}: ${ending}`);
  }
}

const checksRestart = ({ seed }: FuzzPlan): boolean => new Prng(seed).chance(0.4);

/** Restarted components find nothing to do: no state was in memory alone. */
async function checkRestart(running: FuzzWorld, world: SimulatedWorld): Promise<Violation | undefined> {
  const before = endState(running.observer.facts);
  running.restart();
  await world.sleep(60_000);
  const after = endState(running.observer.facts);
  const added = difference(after, before);
  return added.length === 0 ? undefined : { invariant: 'once quiet, restarted components find nothing to do', what: added.join('; ') };
}
