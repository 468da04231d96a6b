/** Runs a scenario: the same file and seed give the same report. */
import { ApiError } from '../../api/status.ts';
import { loadCel } from '../../api/cel/environment.ts';
import { regions } from '../../cloud/engine/regions.ts';
import { ebsDriverName } from '../../drivers/aws-ebs/driver.ts';
import { simulate, SimulationError } from '../world/world.ts';
import type { SimulatedWorld } from '../world/world.ts';
import { checkNames } from './language/check-names.ts';
import type { ClusterCopy } from './cluster-copy.ts';
import { ScriptRunner } from './script-runner.ts';
import { hostLike, hostsOf } from './hosts.ts';
import { Assertions } from './assertions.ts';
import { ScenarioFileError, type LocatedYaml } from './language/located-yaml.ts';
import { Narrator } from './narrator.ts';
import { WaitReasons } from './wait-reasons.ts';
import { endTables, type ScenarioReport } from './report.ts';
import { adoptDisks, driversOfCopy, fillStore, hostsOfCopy, unreachableNodes } from './restore-copy.ts';
import type { Manifest, Scenario } from './language/scenario.ts';
import { ScenarioCluster, type ScenarioClusterOptions, kubectlUser } from './scenario-cluster.ts';
import { ScenarioTimeline } from './scenario-timeline.ts';

const zoneLabel = 'topology.kubernetes.io/zone';

/** Enough for more than a month of a large cluster. */
const mostSteps = 200_000_000;

export interface RunOptions {
  readonly seed: number;
  /** The cluster to start from; absent: the scenario's own. */
  readonly copy?: ClusterCopy | undefined;
}

/** @throws ScenarioFileError if the server refuses one of the scenario's objects */
export async function runScenario(scenario: Scenario, { seed, copy }: RunOptions): Promise<ScenarioReport> {
  const setup = copy === undefined ? setupOf(scenario) : setupOfCopy(copy, scenario);
  checkNames(scenario, namesOf(setup));
  // The definitions of the autoscaler have rules in CEL. Real time passes while it is loaded: not within a simulation.
  if (setup.cloud !== undefined) await loadCel();
  const limits = { steps: mostSteps, ...(copy === undefined ? {} : { begin: copy.takenAt }) };
  try {
    return await simulate(seed, (world) => new ScenarioRun(world, scenario, setup).play(seed), limits);
  } catch (error) {
    if (error instanceof SimulationError && error.cause instanceof ScenarioFileError) throw error.cause;
    throw error;
  }
}

/** What the cluster is built from. */
interface ClusterSetup extends Omit<ScenarioClusterOptions, 'onBackendCall'> {
  /** A copy has a past: the first actions of its controllers belong to the report. A new cluster is started before the report begins. */
  readonly hasPast: boolean;
}

const setupOf = ({ cluster }: Scenario): ClusterSetup => ({
  hosts: hostsOf(cluster, cluster.nodes),
  drivers: cluster.drivers,
  cloud: cluster.cloud,
  hasPast: false,
});

const setupOfCopy = (copy: ClusterCopy, { cluster }: Scenario): ClusterSetup => ({
  hosts: hostsOfCopy(copy),
  drivers: driversOfCopy(copy, cluster.drivers),
  fill: (store) => fillStore(store, copy),
  unreachable: unreachableNodes(copy),
  adopt: (backends) => adoptDisks(copy, backends),
  hasPast: true,
});

const namesOf = ({ hosts, drivers, cloud }: ClusterSetup) => ({
  nodes: hosts.map(({ name }) => name),
  zones: [...new Set([...hosts.flatMap(({ labels }) => labels[zoneLabel] ?? []), ...(regions.get(cloud?.region ?? '')?.zones.map(({ name }) => name) ?? [])])],
  drivers: [...drivers.map(({ name }) => name), ...(cloud === undefined ? [] : [ebsDriverName])],
});

class ScenarioRun {
  readonly #world: SimulatedWorld;
  readonly #scenario: Scenario;
  readonly #setup: ClusterSetup;
  readonly #timeline = new ScenarioTimeline();
  /** The beginning of the report; undefined: the cluster is still starting. */
  #begin: number | undefined;

  constructor(world: SimulatedWorld, scenario: Scenario, setup: ClusterSetup) {
    this.#world = world;
    this.#scenario = scenario;
    this.#setup = setup;
  }

  async play(seed: number): Promise<ScenarioReport> {
    const { lastsMs, expectations } = this.#scenario;
    const { hosts, drivers } = this.#setup;
    const narrator = new Narrator(this.#timeline, () => this.#begin);
    const cluster = await ScenarioCluster.build(this.#world, {
      ...this.#setup,
      onBackendCall: (call) => narrator.backendCalled(call),
      onEc2Call: (call) => narrator.ec2Called(call),
    });
    const runner = new ScriptRunner({
      cluster,
      note: (text) => {
        narrator.flush();
        this.#timeline.add({ at: this.#now(), type: 'happening', who: kubectlUser, about: '', what: text });
      },
      refused: (message) => this.#timeline.add({ at: this.#now(), type: 'failure', who: kubectlUser, about: '', what: `refused: ${message}` }),
      newHost: (name, zone) => hostLike(hosts[0], { name, zone, number: cluster.hosts.size + 1, drivers }),
    });
    if (!this.#setup.hasPast) await this.#startCluster(cluster, runner);
    const begin = this.#world.clock.monotonic();
    this.#begin = begin;
    const context = {
      history: cluster.history,
      backends: cluster.backends,
      cloud: cluster.cloud,
      zoneOf: (node: string) => cluster.zoneOf(node),
      now: () => this.#world.clock.now(),
    };
    const assertions = new Assertions(expectations, context);
    const reasons = new WaitReasons(cluster, this.#timeline, begin);
    narrator.follow(cluster, () => {
      assertions.check(this.#now());
      reasons.changed();
    });
    if (this.#setup.hasPast) cluster.start();
    for (const manifest of this.#scenario.objects) await applyOrFail(runner, manifest);
    await this.#follow({ runner, assertions, narrator });
    assertions.end(lastsMs);
    return {
      seed,
      lastsMs,
      timeline: this.#timeline.entries,
      dropped: this.#timeline.dropped,
      end: endTables(cluster.history, this.#world.clock.now()),
      verdicts: assertions.verdicts,
    };
  }

  async #startCluster(cluster: ScenarioCluster, runner: ScriptRunner): Promise<void> {
    cluster.start();
    for (const { name, taints } of this.#scenario.cluster.nodes) for (const taint of taints) await runner.perform({ type: 'taint', node: name, taint });
    await this.#world.sleep(settleMs);
  }

  /** From one relevant time to the next, until the end. Expectations of a time are checked before the script's steps at that time. */
  async #follow({
    runner,
    assertions,
    narrator,
  }: {
    readonly runner: ScriptRunner;
    readonly assertions: Assertions;
    readonly narrator: Narrator;
  }): Promise<void> {
    const { script, expectations, lastsMs } = this.#scenario;
    const checkTimes = expectations.flatMap(({ when }) => ('ms' in when ? [when.ms] : 'fromMs' in when ? [when.fromMs] : []));
    const moments = [...new Set([...script.map(({ atMs }) => atMs), ...checkTimes, lastsMs])].sort((a, b) => a - b);
    for (const moment of moments) {
      await this.#world.sleep(moment - this.#now());
      assertions.checkAt(moment);
      for (const { atMs, step, text } of script) {
        if (atMs !== moment) continue;
        narrator.flush();
        this.#timeline.add({ at: moment, type: 'happening', who: kubectlUser, about: '', what: text });
        await runner.perform(step);
      }
    }
  }

  #now(): number {
    return this.#world.clock.monotonic() - (this.#begin ?? 0);
  }
}

/** Long enough for all caches to have the new nodes. */
const settleMs = 3_000;

/** A refusal of the server becomes an error at the manifest's position in the file. */
async function applyOrFail(runner: ScriptRunner, { object, written }: Manifest): Promise<void> {
  const problem = await runner.apply(object);
  if (problem !== undefined) throw placeOf(problem, written).error(problem.message);
}

function placeOf(problem: Error, written: LocatedYaml): LocatedYaml {
  const field = problem instanceof ApiError ? problem.details?.causes?.[0]?.field : undefined;
  const unknown = /unknown field "([^"]+)"/.exec(problem.message)?.[1];
  return written.nearest(field ?? unknown ?? '');
}
