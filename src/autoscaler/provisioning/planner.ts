/** Which nodes to launch for pods that have none: Karpenter's Scheduler.Solve, with kube-scheduler's own plugins as the judge. */
import type { NodeInfo, Plugin, PodInfo } from '../../scheduler/framework.ts';
import type { SchedulerCache } from '../../scheduler/scheduler-cache.ts';
import { chargeLimits, type InstancePool, isWithinLimits } from './instance-pool.ts';
import { isRefusal, type Narrowed, PlannedNode } from './planned-node.ts';
import { demandOf, type PodDemand } from './pod-demand.ts';
import { allPoolsText, refusalText } from './refusal-text.ts';
import { SchedulingSimulation } from './simulation.ts';

export interface PlannerInput {
  readonly pods: readonly PodInfo[];
  /** By weight, the first is preferred. */
  readonly pools: readonly InstancePool[];
  /** Of NodeClaims whose Node does not exist yet. */
  readonly inFlight: readonly PlannedNode[];
  /** Nodes that take pods, the preferred ones first. */
  readonly existing: readonly string[];
  /** Nodes that are about to go, with their pods, of which `pods` has those to be placed anew. */
  readonly leaving?: readonly string[];
}

export interface Plan {
  /** To be launched. */
  readonly launches: readonly PlannedNode[];
  /** By the uid of the pod. */
  readonly placements: ReadonlyMap<string, Placement>;
}

export type Placement =
  | { readonly type: 'node'; readonly name: string }
  | { readonly type: 'planned'; readonly node: PlannedNode }
  | { readonly type: 'failed'; readonly message: string; readonly pools: readonly PoolRefusal[] };

/** Why a NodePool launches no node for the pod. */
export interface PoolRefusal {
  readonly pool: string;
  readonly message: string;
}

/** The scheduler's cache and plugins as they are now; afterwards they are as before. */
export interface SchedulerState {
  readonly cache: SchedulerCache;
  readonly plugins: readonly Plugin[];
}

export function plan(state: SchedulerState, input: PlannerInput): Plan {
  const planner = new Planner(state, input);
  try {
    return planner.solve();
  } finally {
    planner.rollback();
  }
}

class Planner {
  readonly #input: PlannerInput;
  readonly #state: SchedulerState;
  readonly #simulation: SchedulingSimulation;
  readonly #existing: readonly NodeInfo[];
  readonly #planned: PlannedNode[];
  readonly #launches: PlannedNode[] = [];
  readonly #placements = new Map<string, Placement>();

  constructor(state: SchedulerState, input: PlannerInput) {
    this.#state = state;
    this.#input = input;
    this.#simulation = new SchedulingSimulation(state.cache, state.plugins);
    for (const pod of input.pods) this.#simulation.takePod(pod);
    for (const name of input.leaving ?? []) this.#simulation.takeNode(name);
    this.#existing = input.existing.flatMap((name) => state.cache.node(name) ?? []);
    this.#planned = [...input.inFlight];
    for (const node of this.#planned) this.#simulation.setNode(node.asNode(node, node.zones[0]));
  }

  rollback(): void {
    this.#simulation.rollback();
  }

  /** Pods that fit nowhere are tried again as long as others are placed: they may want to be near them. */
  solve(): Plan {
    let waiting = this.#input.pods.toSorted(largestFirst);
    for (let before = Number.POSITIVE_INFINITY; waiting.length > 0 && waiting.length < before; ) {
      before = waiting.length;
      waiting = waiting.filter((pod) => !this.#place(pod));
    }
    return { launches: this.#launches, placements: this.#placements };
  }

  #place(pod: PodInfo): boolean {
    const placement = this.#placementOf(pod);
    this.#placements.set(pod.uid, placement);
    return placement.type !== 'failed';
  }

  #placementOf(pod: PodInfo): Placement {
    const demand = demandOf(pod, this.#state.cache.views);
    if (demand.type === 'refused') return { type: 'failed', message: demand.message, pools: [] };
    const node = this.#placeOnExisting(pod);
    if (node !== undefined) return { type: 'node', name: node };
    for (const planned of this.#byClaimsAndPods(pod)) if (this.#placeOn(planned, demand) === undefined) return { type: 'planned', node: planned };
    return this.#launch(demand);
  }

  #placeOnExisting(pod: PodInfo): string | undefined {
    if (this.#existing.length === 0) return undefined;
    const prepared = this.#simulation.prepare(pod);
    if (prepared.type === 'rejected') return undefined;
    const found = this.#existing.find((node) => this.#simulation.rejection(prepared, node) === undefined);
    return found !== undefined && this.#simulation.place(prepared, found) ? found.name : undefined;
  }

  /** Nodes with a claim of the pod come first: a volume for one node cannot be attached to two. Then those with the fewest pods. */
  #byClaimsAndPods({ namedClaims }: PodInfo): readonly PlannedNode[] {
    const shares = (node: PlannedNode): number =>
      namedClaims.length > 0 && node.pods.some((other) => other.namedClaims.some((claim) => namedClaims.includes(claim))) ? 0 : 1;
    return this.#planned
      .map((node) => ({ node, rank: shares(node) }))
      .sort((a, b) => a.rank - b.rank || a.node.pods.length - b.node.pods.length)
      .map(({ node }) => node);
  }

  /** Undefined: the pod is on the node. */
  #placeOn(node: PlannedNode, demand: PodDemand): string | undefined {
    let why: string | undefined;
    for (const narrowed of node.narrowedFor(demand)) {
      if (isRefusal(narrowed)) {
        why ??= refusalText(narrowed);
        continue;
      }
      const rejection = this.#verify(node, narrowed, demand);
      if (rejection === undefined) return undefined;
      why = rejection;
    }
    return why ?? 'no instance type is left';
  }

  /**
   * The plugins judge the node in each of its zones, and the zones that pass are kept. A pod that looks at zones beyond its volumes' gets one zone: where
   * the node comes up decides for the pods that follow.
   */
  #verify(node: PlannedNode, narrowed: Narrowed, demand: PodDemand): string | undefined {
    const simulation = this.#simulation;
    const zones = narrowed.zones.length === 0 ? [undefined] : narrowed.zones;
    const passing: string[] = [];
    let why: string | undefined;
    for (const zone of zones) {
      const info = simulation.setNode(node.asNode(narrowed, zone));
      const rejection = simulation.rejection(simulation.prepare(demand.pod), info);
      if (rejection !== undefined) {
        why = rejection;
        continue;
      }
      if (zone !== undefined) passing.push(zone);
      why = undefined;
      if (!demand.isZonal || isTopological(demand.pod)) break;
    }
    const kept = demand.isZonal ? passing : narrowed.zones;
    const first = kept[0];
    if (narrowed.zones.length > 0 && (first === undefined || passing.length === 0)) return this.#restore(node, why);
    const info = simulation.setNode(node.asNode(narrowed, first));
    const prepared = simulation.prepare(demand.pod);
    const rejection = simulation.rejection(prepared, info);
    if (rejection !== undefined || !simulation.place(prepared, info)) return this.#restore(node, rejection ?? 'its volumes cannot be reserved');
    node.add(demand.pod, { ...narrowed, zones: kept });
    return undefined;
  }

  #restore(node: PlannedNode, why: string | undefined): string {
    if (this.#planned.includes(node)) this.#simulation.setNode(node.asNode(node, node.zones[0]));
    return why ?? 'no zone is left';
  }

  #launch(demand: PodDemand): Placement {
    const refusals: PoolRefusal[] = [];
    for (const pool of this.#input.pools) {
      const made = this.#launchFrom(pool, demand);
      if (typeof made !== 'string') return { type: 'planned', node: made };
      refusals.push({ pool: pool.name, message: made });
    }
    return { type: 'failed', message: allPoolsText(refusals), pools: refusals };
  }

  #launchFrom(pool: InstancePool, demand: PodDemand): PlannedNode | string {
    if (pool.types.length === 0) return 'nodepool requirements filtered out all available instance types';
    if ((pool.remaining?.get('nodes') ?? 1) <= 0) return 'node limits have been exhausted for nodepool';
    const types = pool.remaining === undefined ? pool.types : pool.types.filter((type) => isWithinLimits(pool, type));
    if (types.length === 0) return 'all available instance types exceed limits for nodepool';
    const node = new PlannedNode(`planned/${this.#launches.length + 1}`, { pool, requirements: pool.requirements, types });
    const why = this.#placeOn(node, demand);
    if (why !== undefined) {
      this.#simulation.removePlanned(node.name);
      return why;
    }
    this.#planned.push(node);
    this.#launches.push(node);
    chargeLimits(pool, node.types);
    return node;
  }
}

const isTopological = ({ affinity, pod }: PodInfo): boolean => affinity !== undefined || (pod.spec.topologySpreadConstraints ?? []).length > 0;

function largestFirst(a: PodInfo, b: PodInfo): number {
  const byAmount = b.requests.cpu - a.requests.cpu || b.requests.memory - a.requests.memory;
  if (byAmount !== 0) return byAmount;
  const [one = '', other = ''] = [a.pod.metadata.creationTimestamp, b.pod.metadata.creationTimestamp];
  if (one !== other) return one < other ? -1 : 1;
  return a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0;
}
