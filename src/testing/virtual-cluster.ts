import { loadLibraries } from '../apiserver/create-api.ts';
import type { Kind } from '../api/kind.ts';
import { nodeKind } from '../api/kinds/core/node.ts';
import type { Transport } from '../client/transport.ts';
import type { Host } from '../node/host.ts';
import type { AssertionContext } from '../sim/scenario/assertions.ts';
import { hostLike } from '../sim/scenario/hosts.ts';
import type { DriverPlan } from '../sim/scenario/language/scenario.ts';
import type { ScriptStep } from '../sim/scenario/language/script-step.ts';
import { ScenarioCluster } from '../sim/scenario/scenario-cluster.ts';
import { ScriptRunner } from '../sim/scenario/script-runner.ts';
import type { AdoptedDisk } from '../sim/scenario/simulated-backend.ts';
import { runUntilSettled, SimulatedWorld } from '../sim/world/world.ts';
import type { StoreContent } from '../store/memory/memory-store.ts';
import type { ClusterConnection } from './connection.ts';

export interface VirtualClusterPlan {
  readonly hosts: readonly Host[];
  readonly drivers: readonly DriverPlan[];
  readonly seed: number;
}

/** The whole of a cluster at a moment: its objects, disks and nodes, and the time. */
export interface ClusterState {
  readonly content: StoreContent;
  readonly hosts: readonly Host[];
  readonly disks: ReadonlyMap<string, readonly AdoptedDisk[]>;
  readonly now: number;
  /** Of the world that goes on from here: one that draws the random numbers of an earlier one would give two objects the same uid. */
  readonly seed: number;
}

interface Running {
  readonly world: SimulatedWorld;
  readonly cluster: ScenarioCluster;
  readonly runner: ScriptRunner;
  readonly seed: number;
}

/** A call that needs more steps is taken for one that never ends. */
const mostSteps = 20_000_000;
/** Each process is the only one of its kind: it leads at once, and renewals would be most of what happens in an hour. */
const timing = { leaseMs: 60_000, renewWithinMs: 45_000, retryMs: 10_000 };
/** Long enough for all caches to have the nodes. */
const settleMs = 3_000;
const everything = { from: '', to: '\uffff' };

/** A simulated cluster that a test drives from outside: its time passes while a call of the test waits for something, and stands still in between. */
export class VirtualCluster implements ClusterConnection {
  readonly #plan: VirtualClusterPlan;
  #running: Running | undefined;
  /** Why the runner refused its last step. */
  #refusal: string | undefined;

  private constructor(plan: VirtualClusterPlan) {
    this.#plan = plan;
  }

  static async start(plan: VirtualClusterPlan): Promise<VirtualCluster> {
    const virtual = new VirtualCluster(plan);
    await virtual.#start(plan.seed, undefined);
    return virtual;
  }

  get cluster(): ScenarioCluster {
    return this.#current.cluster;
  }

  get world(): SimulatedWorld {
    return this.#current.world;
  }

  get transport(): Transport {
    return this.cluster.transport;
  }

  get facts(): AssertionContext {
    const { history, backends, cloud } = this.cluster;
    return { history, backends, cloud, zoneOf: (node) => this.cluster.zoneOf(node), now: () => this.world.clock.now() };
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    return await runUntilSettled(this.world, work(), mostSteps);
  }

  prepare({ group }: Kind): Promise<void> {
    return loadLibraries(group);
  }

  onChange(_: unknown, listener: () => void): () => void {
    return this.cluster.history.onChange(listener);
  }

  /** @throws Error if the cluster refuses it */
  async perform(step: ScriptStep): Promise<void> {
    this.#refusal = undefined;
    await this.run(() => this.#current.runner.perform(step));
    const refusal: string | undefined = this.#refusal;
    if (refusal !== undefined) throw new Error(refusal);
  }

  async state(): Promise<ClusterState> {
    const { world, cluster, seed } = this.#current;
    const { entries, revision } = await this.run(() => cluster.store.range(everything));
    return {
      content: { entries, revision },
      // Those of removed nodes would register again.
      hosts: [...cluster.hosts.values()].filter(({ name }) => cluster.history.get(nodeKind, { name }) !== undefined),
      disks: new Map(Array.from(cluster.backends, ([driver, backend]) => [driver, backend.inventory()])),
      now: world.clock.now(),
      seed: seed + 1,
    };
  }

  /** Every process ends and starts again, with empty memory, on the state: nothing of what happened since is left. */
  async restore(state: ClusterState): Promise<void> {
    await this.#start(state.seed, state);
  }

  /** All that there was is in memory. */
  stop(): void {
    this.#running = undefined;
  }

  async #start(seed: number, state: ClusterState | undefined): Promise<void> {
    const { drivers } = this.#plan;
    const hosts = state?.hosts ?? this.#plan.hosts;
    const world = new SimulatedWorld(seed, { keepsLog: false, ...(state === undefined ? {} : { begin: state.now }) });
    const options = {
      hosts,
      drivers,
      content: state?.content,
      timing,
      onBackendCall: () => undefined,
      adopt: (backends: ScenarioCluster['backends']) => {
        for (const [driver, disks] of state?.disks ?? []) for (const disk of disks) backends.get(driver)?.adopt(disk);
      },
    };
    const cluster = await runUntilSettled(world, ScenarioCluster.build(world, options), mostSteps);
    const runner = new ScriptRunner({
      cluster,
      note: () => undefined,
      refused: (message) => void (this.#refusal = message),
      newHost: (name, zone) => hostLike(hosts[0], { name, zone, number: cluster.hosts.size + 1, drivers }),
    });
    cluster.start();
    this.#running = { world, cluster, runner, seed };
    if (state === undefined) await this.run(() => world.sleep(settleMs));
  }

  get #current(): Running {
    if (this.#running === undefined) throw new Error('the cluster is stopped');
    return this.#running;
  }
}
