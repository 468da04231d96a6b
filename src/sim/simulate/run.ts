/** Plays a scenario: same file, same seed, same report. */
import { ApiError } from '../../api/status.ts';
import { simulate, SimulationError } from '../world.ts';
import type { SimulatedWorld } from '../world.ts';
import { checkNames } from './check-names.ts';
import { Hand } from './hand.ts';
import { hostsOf } from './hosts.ts';
import { Judge } from './judge.ts';
import { FileError, type Located } from './located.ts';
import { Narrator } from './narrator.ts';
import { Reasons } from './reasons.ts';
import { endTables, type Report } from './report.ts';
import type { Manifest, Scenario } from './scenario.ts';
import { Stage, type StageOptions, you } from './stage.ts';
import { Timeline } from './timeline.ts';

/** More than a month of a large cluster. */
const mostSteps = 200_000_000;

export interface RunOptions {
  readonly seed: number;
}

/** @throws FileError for what the server refuses of the scenario's objects */
export async function runScenario(scenario: Scenario, { seed }: RunOptions): Promise<Report> {
  checkNames(scenario, namesOf(scenario));
  try {
    return await simulate(seed, (world) => new Performance(world, scenario, seed).play(), { steps: mostSteps });
  } catch (error) {
    if (error instanceof SimulationError && error.cause instanceof FileError) throw error.cause;
    throw error;
  }
}

const namesOf = ({ cluster: { nodes, drivers } }: Scenario) => ({
  nodes: nodes.map(({ name }) => name),
  zones: [...new Set(nodes.map(({ zone }) => zone))],
  drivers: drivers.map(({ name }) => name),
});

class Performance {
  readonly #world: SimulatedWorld;
  readonly #scenario: Scenario;
  readonly #seed: number;
  readonly #timeline = new Timeline();
  /** When time began to count; undefined: the cluster is still being put up. */
  #begin: number | undefined;

  constructor(world: SimulatedWorld, scenario: Scenario, seed: number) {
    this.#world = world;
    this.#scenario = scenario;
    this.#seed = seed;
  }

  async play(): Promise<Report> {
    const { cluster, lastsMs, expectations } = this.#scenario;
    const narrator = new Narrator(this.#timeline, () => this.#begin);
    const stage = await Stage.build(this.#world, { ...this.#stageOptions(), onBackendCall: (word) => narrator.backend(word) });
    const hand = new Hand({
      stage,
      note: (text) => {
        narrator.tellNow();
        this.#timeline.add({ at: this.#now(), type: 'happening', who: you, about: '', what: text });
      },
      refused: (message) => this.#timeline.add({ at: this.#now(), type: 'failure', who: you, about: '', what: `refused: ${message}` }),
      newHost: (name, zone) => this.#newHost(name, zone, stage.hosts.size + 1),
    });
    for (const { name, taints } of cluster.nodes) for (const taint of taints) await hand.perform({ type: 'taint', node: name, taint });
    await this.#world.sleep(settleMs);
    const begin = this.#world.clock.monotonic();
    this.#begin = begin;
    const evidence = { history: stage.history, backends: stage.backends, zoneOf: (node: string) => stage.zoneOf(node), now: () => this.#world.clock.now() };
    const judge = new Judge(expectations, evidence);
    const reasons = new Reasons(stage, this.#timeline, begin);
    narrator.follow(stage, () => {
      judge.look(this.#now());
      reasons.changed();
    });
    for (const manifest of this.#scenario.objects) await applyOrFail(hand, manifest);
    await this.#follow({ hand, judge, narrator });
    judge.end(lastsMs);
    return {
      seed: this.#seed,
      lastsMs,
      timeline: this.#timeline.entries,
      dropped: this.#timeline.dropped,
      end: endTables(stage.history, this.#world.clock.now()),
      verdicts: judge.verdicts,
    };
  }

  #stageOptions(): Omit<StageOptions, 'onBackendCall'> {
    const { cluster } = this.#scenario;
    return { hosts: hostsOf(cluster, cluster.nodes), drivers: cluster.drivers };
  }

  #newHost(name: string, zone: string, number: number) {
    const { cluster } = this.#scenario;
    const like = cluster.nodes[0];
    const node = {
      name,
      zone: zone === '' ? (like?.zone ?? '') : zone,
      labels: {},
      taints: [],
      capacity: like?.capacity ?? {},
      attachLimit: like?.attachLimit,
    };
    const [host] = hostsOf(cluster, [node], number);
    if (host === undefined) throw new Error(`no machine for ${name}`);
    return host;
  }

  /** From one moment that matters to the next, until the end. What is expected of a moment is looked at before anything happens then. */
  async #follow({ hand, judge, narrator }: { readonly hand: Hand; readonly judge: Judge; readonly narrator: Narrator }): Promise<void> {
    const { script, expectations, lastsMs } = this.#scenario;
    const looks = expectations.flatMap(({ when }) => ('ms' in when ? [when.ms] : 'fromMs' in when ? [when.fromMs] : []));
    const moments = [...new Set([...script.map(({ atMs }) => atMs), ...looks, lastsMs])].sort((a, b) => a - b);
    for (const moment of moments) {
      await this.#world.sleep(moment - this.#now());
      judge.lookAt(moment);
      for (const { atMs, happening, text } of script) {
        if (atMs !== moment) continue;
        narrator.tellNow();
        this.#timeline.add({ at: moment, type: 'happening', who: you, about: '', what: text });
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
async function applyOrFail(hand: Hand, { object, written }: Manifest): Promise<void> {
  const problem = await hand.apply(object);
  if (problem !== undefined) throw placeOf(problem, written).error(problem.message);
}

function placeOf(problem: Error, written: Located): Located {
  const field = problem instanceof ApiError ? problem.details?.causes?.[0]?.field : undefined;
  const unknown = /unknown field "([^"]+)"/.exec(problem.message)?.[1];
  return written.nearest(field ?? unknown ?? '');
}
