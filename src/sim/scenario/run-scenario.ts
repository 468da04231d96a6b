/** Plays a scenario: same file, same seed, same report. */
import { ApiError } from '../../api/status.ts';
import type { Host } from '../../node/host.ts';
import { simulate, SimulationError } from '../world/world.ts';
import type { SimulatedWorld } from '../world/world.ts';
import { checkNames } from './language/check-names.ts';
import type { ClusterCopy } from './cluster-copy.ts';
import { ScriptRunner } from './script-runner.ts';
import { hostsOf } from './hosts.ts';
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
const regionLabel = 'topology.kubernetes.io/region';

/** More than a month of a large cluster. */
const mostSteps = 200_000_000;

export interface RunOptions {
  readonly seed: number;
  /** The cluster to begin with; absent: the scenario's own. */
  readonly copy?: ClusterCopy | undefined;
}

/** @throws FileError for what the server refuses of the scenario's objects */
export async function runScenario(scenario: Scenario, { seed, copy }: RunOptions): Promise<ScenarioReport> {
  const cast = copy === undefined ? castOf(scenario) : castOfCopy(copy, scenario);
  checkNames(scenario, namesOf(cast));
  const limits = { steps: mostSteps, ...(copy === undefined ? {} : { begin: copy.takenAt }) };
  try {
    return await simulate(seed, (world) => new Performance(world, scenario, cast).play(seed), limits);
  } catch (error) {
    if (error instanceof SimulationError && error.cause instanceof ScenarioFileError) throw error.cause;
    throw error;
  }
}

/** Who takes part. */
interface Cast extends Omit<ScenarioClusterOptions, 'onBackendCall'> {
  /** A copy has a past: what its controllers do first is part of the story. A new cluster is put up before it begins. */
  readonly hasPast: boolean;
}

const castOf = ({ cluster }: Scenario): Cast => ({ hosts: hostsOf(cluster, cluster.nodes), drivers: cluster.drivers, hasPast: false });

const castOfCopy = (copy: ClusterCopy, { cluster }: Scenario): Cast => ({
  hosts: hostsOfCopy(copy),
  drivers: driversOfCopy(copy, cluster.drivers),
  fill: (store) => fillStore(store, copy),
  unreachable: unreachableNodes(copy),
  adopt: (backends) => adoptDisks(copy, backends),
  hasPast: true,
});

const namesOf = ({ hosts, drivers }: Cast) => ({
  nodes: hosts.map(({ name }) => name),
  zones: [...new Set(hosts.flatMap(({ labels }) => labels[zoneLabel] ?? []))],
  drivers: drivers.map(({ name }) => name),
});

class Performance {
  readonly #world: SimulatedWorld;
  readonly #scenario: Scenario;
  readonly #cast: Cast;
  readonly #timeline = new ScenarioTimeline();
  /** When time began to count; undefined: the cluster is still being put up. */
  #begin: number | undefined;

  constructor(world: SimulatedWorld, scenario: Scenario, cast: Cast) {
    this.#world = world;
    this.#scenario = scenario;
    this.#cast = cast;
  }

  async play(seed: number): Promise<ScenarioReport> {
    const { lastsMs, expectations } = this.#scenario;
    const narrator = new Narrator(this.#timeline, () => this.#begin);
    const stage = await ScenarioCluster.build(this.#world, { ...this.#cast, onBackendCall: (word) => narrator.backendCalled(word) });
    const hand = new ScriptRunner({
      stage,
      note: (text) => {
        narrator.flush();
        this.#timeline.add({ at: this.#now(), type: 'happening', who: kubectlUser, about: '', what: text });
      },
      refused: (message) => this.#timeline.add({ at: this.#now(), type: 'failure', who: kubectlUser, about: '', what: `refused: ${message}` }),
      newHost: (name, zone) => this.#newHost(name, zone, stage.hosts.size + 1),
    });
    if (!this.#cast.hasPast) await this.#putUp(stage, hand);
    const begin = this.#world.clock.monotonic();
    this.#begin = begin;
    const evidence = { history: stage.history, backends: stage.backends, zoneOf: (node: string) => stage.zoneOf(node), now: () => this.#world.clock.now() };
    const judge = new Assertions(expectations, evidence);
    const reasons = new WaitReasons(stage, this.#timeline, begin);
    narrator.follow(stage, () => {
      judge.check(this.#now());
      reasons.changed();
    });
    if (this.#cast.hasPast) stage.start();
    for (const manifest of this.#scenario.objects) await applyOrFail(hand, manifest);
    await this.#follow({ hand, judge, narrator });
    judge.end(lastsMs);
    return {
      seed,
      lastsMs,
      timeline: this.#timeline.entries,
      dropped: this.#timeline.dropped,
      end: endTables(stage.history, this.#world.clock.now()),
      verdicts: judge.verdicts,
    };
  }

  async #putUp(stage: ScenarioCluster, hand: ScriptRunner): Promise<void> {
    stage.start();
    for (const { name, taints } of this.#scenario.cluster.nodes) for (const taint of taints) await hand.perform({ type: 'taint', node: name, taint });
    await this.#world.sleep(settleMs);
  }

  /** Like the first one. */
  #newHost(name: string, zone: string, number: number): Host {
    const { hosts, drivers } = this.#cast;
    const like = hosts[0];
    const node = {
      name,
      zone: zone === '' ? (like?.labels[zoneLabel] ?? '') : zone,
      labels: {},
      taints: [],
      capacity: like?.capacity ?? {},
      attachLimit: like?.drivers.find(({ allocatable }) => allocatable?.count !== undefined)?.allocatable?.count,
    };
    const [host] = hostsOf({ region: like?.labels[regionLabel] ?? '', drivers }, [node], number);
    if (host === undefined) throw new Error(`no machine for ${name}`);
    return host;
  }

  /** From one moment that matters to the next, until the end. What is expected of a moment is looked at before anything happens then. */
  async #follow({ hand, judge, narrator }: { readonly hand: ScriptRunner; readonly judge: Assertions; readonly narrator: Narrator }): Promise<void> {
    const { script, expectations, lastsMs } = this.#scenario;
    const looks = expectations.flatMap(({ when }) => ('ms' in when ? [when.ms] : 'fromMs' in when ? [when.fromMs] : []));
    const moments = [...new Set([...script.map(({ atMs }) => atMs), ...looks, lastsMs])].sort((a, b) => a - b);
    for (const moment of moments) {
      await this.#world.sleep(moment - this.#now());
      judge.checkAt(moment);
      for (const { atMs, step: happening, text } of script) {
        if (atMs !== moment) continue;
        narrator.flush();
        this.#timeline.add({ at: moment, type: 'happening', who: kubectlUser, about: '', what: text });
        await hand.perform(happening);
      }
    }
  }

  #now(): number {
    return this.#world.clock.monotonic() - (this.#begin ?? 0);
  }
}

/** Long enough for new nodes to be taken note of by everybody. */
const settleMs = 3_000;

/** What the server says about a manifest is said where the manifest has it. */
async function applyOrFail(hand: ScriptRunner, { object, written }: Manifest): Promise<void> {
  const problem = await hand.apply(object);
  if (problem !== undefined) throw placeOf(problem, written).error(problem.message);
}

function placeOf(problem: Error, written: LocatedYaml): LocatedYaml {
  const field = problem instanceof ApiError ? problem.details?.causes?.[0]?.field : undefined;
  const unknown = /unknown field "([^"]+)"/.exec(problem.message)?.[1];
  return written.nearest(field ?? unknown ?? '');
}
