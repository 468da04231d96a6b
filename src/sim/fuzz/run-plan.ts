import { loadCel } from '../../api/cel/environment.ts';
import type { Violation } from '../invariants/observer.ts';
import { Prng } from '../world/prng.ts';
import { describeAction, type TimedAction } from './plan/user-actions.ts';
import { actionsEndMs } from './plan/draw-actions.ts';
import { UserActionPerformer } from './perform-user-action.ts';
import { simulate } from '../world/world.ts';
import type { Entry } from '../../store/contract.ts';
import type { SimulatedServer } from '../cluster/simulated-server.ts';
import { describeFault } from './plan/faults.ts';
import { StoredObjects, wrongAtRest } from '../invariants/at-rest.ts';
import { endState } from '../invariants/end-state.ts';
import type { FuzzPlan } from './plan/plan.ts';
import { FuzzWorld } from './fuzz-world.ts';
import { changedSince } from './changed-entries.ts';
import { settle } from './settle.ts';
import { Follower, readPages } from './follower.ts';
import { untypedKind } from '../../api/kind.ts';
import { replicaSetKind } from '../../api/kinds/apps/replica-set.ts';
import { eventKind } from '../../api/kinds/core/event.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';

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
  // The server loads it with the first snapshot, and real I/O has no place in simulated time.
  if (plan.settings.csi !== undefined) await loadCel();
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

/** Of events there are many, and new ones all the time. */
const [followedKinds, pagedKind] = [[untypedKind(podKind), untypedKind(replicaSetKind)], untypedKind(eventKind)];

async function runActions(running: FuzzWorld): Promise<Violation | undefined> {
  const { plan, world } = running;
  await running.start();
  const followers = followedKinds.map((kind) => new Follower({ world, client: running.client, kind, ...running.conduct }));
  const began = world.clock.monotonic();
  const until = (at: number) => world.sleep(began + at - world.clock.monotonic());
  for (const fault of plan.faults) {
    world.timers.after(fault.at, () => {
      running.timeline.add('fault', describeFault(fault));
      running.inflict(fault);
    });
  }
  void readPages({ world, client: running.client, kind: pagedKind, ...running.conduct }, actionsEndMs);
  const actors = (['user', 'admin', 'autoscaler', 'intruder', 'developer'] as const).map((who) =>
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
  return restless ?? (await checkRest(running, followers)) ?? (checksRestart(plan) ? await checkRestart(running) : undefined);
}

/** Each person performs one action after the other. */
async function act(running: FuzzWorld, actions: readonly TimedAction[], until: (at: number) => Promise<void>): Promise<void> {
  const { world, client, disks, machines, timeline, conduct } = running;
  const performer = new UserActionPerformer({ world, client, disks, machines, write: () => running.csi?.writeAll(), ...conduct });
  for (const { at, who, action } of actions) {
    await until(at);
    timeline.add(who, describeAction(action));
    const ending = await performer.perform(action);
    if (ending !== 'done') timeline.add(who, `${describeAction(action)}: ${ending}`);
  }
}

const checksRestart = ({ seed }: FuzzPlan): boolean => new Prng(seed).chance(0.4);

async function checkRest({ cluster }: FuzzWorld, followers: readonly Follower[]): Promise<Violation | undefined> {
  const missed = (await Promise.all(followers.map((follower) => follower.difference()))).find((each) => each !== undefined);
  if (missed !== undefined) return { invariant: 'lists and watches tell the same', what: missed };
  const wrong = wrongAtRest(new StoredObjects(await entriesOf(cluster.server)));
  return wrong === undefined ? undefined : { invariant: 'once quiet, every object says what is', what: wrong };
}

/** Restarted components find nothing to do, and a restarted server has what it had: no state was in memory alone. */
async function checkRestart(running: FuzzWorld): Promise<Violation | undefined> {
  const { server } = running.cluster;
  const before = await entriesOf(server);
  await running.restartServer();
  const lost = changedSince(before, await entriesOf(server));
  if (lost !== undefined) return { invariant: 'once quiet, a restarted server has what it had', what: lost };
  running.restart();
  await running.world.sleep(60_000);
  const written = changedSince(before.filter(isAtRest), (await entriesOf(server)).filter(isAtRest), running.hasClockAhead);
  return written === undefined ? undefined : { invariant: 'once quiet, restarted components find nothing to do', what: written };
}

const entriesOf = async ({ store }: SimulatedServer): Promise<readonly Entry[]> => (await store?.range({ from: '/', to: '0' }))?.entries ?? [];

/** Nodes report, leaders renew, and events are told, also when nothing happens; drivers that restart register with their nodes again, in any order. */
const isAtRest = ({ key }: Entry): boolean =>
  key.startsWith('/registry/') && !/^\/registry\/(nodes|coordination\.k8s\.io|events|events\.k8s\.io|storage\.k8s\.io\/csinodes)\//.test(key);
