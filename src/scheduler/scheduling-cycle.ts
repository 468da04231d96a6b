/** The scheduling cycle from PreFilter to Score: finds the node for a pod. Synchronous, and writes nothing. */
import type { SchedulerCache } from './scheduler-cache.ts';
import type { Diagnosis } from './diagnosis.ts';
import { type PluginFailure, isFailure, type Plugin, type PodInfo, type Rejection } from './framework.ts';
import type { LiveNodeInfo } from './node-info.ts';
import { nominatedNode, type NominatedPods } from './nominated-pods.ts';
import { excludedBy, type PodCycle, runPreFilterPlugins } from './pod-cycle.ts';

export interface CycleContext {
  readonly plugins: readonly Plugin[];
  readonly cluster: SchedulerCache;
  readonly nominations: NominatedPods;
  /** At least 0, below 1: selects among nodes of equal score. */
  readonly random: () => number;
}

export type CycleResult =
  | { readonly type: 'found'; readonly node: LiveNodeInfo; readonly run: PodCycle }
  /** `run`: set if PreFilter ran for every plugin, so that preemption can do its dry runs. */
  | { readonly type: 'none'; readonly diagnosis: Diagnosis; readonly run: PodCycle | undefined }
  | { readonly type: 'noNodes' }
  | { readonly type: 'failed'; readonly message: string };

/** Each search starts at the node after the last one, so that all nodes have the same chance to be examined (nextStartNodeIndex). */
export class SchedulingCycle {
  readonly #world: CycleContext;
  #next = 0;

  constructor(world: CycleContext) {
    this.#world = world;
  }

  schedulePod(pod: PodInfo): CycleResult {
    const { plugins, cluster } = this.#world;
    const total = cluster.nodes.length;
    if (total === 0) return { type: 'noNodes' };
    const prepared = runPreFilterPlugins(pod, plugins, cluster);
    switch (prepared.type) {
      case 'failed':
        return prepared;
      case 'rejected': {
        const { rejection, restrictedBy } = prepared;
        const diagnosis = { nodes: total, everywhere: rejection, byNode: new Map(), others: undefined, restrictedBy };
        return { type: 'none', diagnosis, run: prepared.run };
      }
      case 'ready': {
        const { run, nodeNames: nodes, restrictedBy } = prepared;
        const others = nodes === undefined ? undefined : excludedBy(restrictedBy);
        const eligible = nodes === undefined ? cluster.nodes : this.#nodesNamed(nodes);
        return this.#choose(run, { nodes: total, everywhere: undefined, others, restrictedBy }, eligible);
      }
    }
  }

  #choose(run: PodCycle, about: Omit<Diagnosis, 'byNode'>, eligible: readonly LiveNodeInfo[]): CycleResult {
    const promised = this.#evaluateNominatedNode(run, eligible);
    if (promised !== undefined) return { type: 'found', node: promised, run };
    const likely = this.#likely(run, eligible);
    let found = this.#findNodesThatPassFilters(run, likely);
    // The diagnosis of an unschedulable pod needs the reason of every node.
    if (found.type === 'searched' && found.passing.length === 0 && likely !== eligible) found = this.#findNodesThatPassFilters(run, eligible);
    if (found.type === 'failed') return found;
    const { passing, byNode } = found;
    if (passing.length === 0) return { type: 'none', diagnosis: { ...about, byNode }, run };
    const [only] = passing;
    return { type: 'found', node: passing.length === 1 && only !== undefined ? only : this.#selectHost(run, passing), run };
  }

  #nodesNamed(names: ReadonlySet<string>): readonly LiveNodeInfo[] {
    return [...names].flatMap((name) => this.#world.cluster.node(name) ?? []);
  }

  /** The nominated node comes first: preemption has made room there. */
  #evaluateNominatedNode(run: PodCycle, eligible: readonly LiveNodeInfo[]): LiveNodeInfo | undefined {
    const name = nominatedNode(run.pod);
    const node = name === '' ? undefined : this.#world.cluster.node(name);
    if (node === undefined || (eligible !== this.#world.cluster.nodes && !eligible.includes(node))) return undefined;
    return filterWithNominatedPods(run, node, this.#world.nominations) === undefined ? node : undefined;
  }

  /** The `likely` nodes of the most selective plugin. */
  #likely(run: PodCycle, eligible: readonly LiveNodeInfo[]): readonly LiveNodeInfo[] {
    let names: ReadonlySet<string> | undefined;
    // Beyond a third of all nodes, filtering node after node finds enough of them sooner than looking all of these up.
    let fewest = eligible.length / 3;
    for (const { cycle: stages } of run.plugins) {
      if (stages.likely === undefined || stages.likely.size > fewest) continue;
      names = stages.likely;
      fewest = names.size;
    }
    if (names === undefined) return eligible;
    return eligible === this.#world.cluster.nodes ? this.#nodesNamed(names) : eligible.filter(({ name }) => names.has(name));
  }

  #findNodesThatPassFilters(run: PodCycle, nodes: readonly LiveNodeInfo[]): FilteredNodes | { readonly type: 'failed'; readonly message: string } {
    const enough = numFeasibleNodesToFind(nodes.length);
    const passing: LiveNodeInfo[] = [];
    const byNode = new Map<string, Rejection>();
    for (let i = 0; i < nodes.length && passing.length < enough; i++) {
      const node = nodes[(this.#next + i) % nodes.length];
      if (node === undefined) continue;
      const verdict = filterWithNominatedPods(run, node, this.#world.nominations);
      if (verdict === undefined) passing.push(node);
      else if (isFailure(verdict)) return { type: 'failed', message: `running "${verdict.plugin}" filter plugin: ${verdict.message}` };
      else byNode.set(node.name, verdict);
    }
    this.#next = (this.#next + passing.length + byNode.size) % this.#world.cluster.nodes.length;
    return { type: 'searched', passing, byNode };
  }

  /** Of several nodes with the highest score, a random one. */
  #selectHost(run: PodCycle, nodes: readonly LiveNodeInfo[]): LiveNodeInfo {
    const totals = new Float64Array(nodes.length);
    for (const { plugin, cycle: stages } of run.plugins) {
      const scores = stages.score?.(nodes);
      if (scores === undefined) continue;
      const weight = plugin.weight ?? 1;
      for (let i = 0; i < nodes.length; i++) totals[i] = (totals[i] ?? 0) + weight * (scores[i] ?? 0);
    }
    const highest = totals.reduce((most, total) => Math.max(most, total), Number.NEGATIVE_INFINITY);
    const best = nodes.filter((_, i) => totals[i] === highest);
    const chosen = best[Math.floor(this.#world.random() * best.length)];
    if (chosen === undefined) throw new Error('selectHost needs at least one node');
    return chosen;
  }
}

interface FilteredNodes {
  readonly type: 'searched';
  readonly passing: readonly LiveNodeInfo[];
  readonly byNode: ReadonlyMap<string, Rejection>;
}

/** In a large cluster the search ends early: a good node suffices (schedule_one.go, numFeasibleNodesToFind). */
export function numFeasibleNodesToFind(total: number): number {
  if (total < minFeasibleNodesToFind) return total;
  const percentage = Math.max(5, 50 - Math.trunc(total / 125));
  return Math.max(minFeasibleNodesToFind, Math.trunc((total * percentage) / 100));
}

const minFeasibleNodesToFind = 100;

/**
 * Whether the pod fits on the node both with and without the pods nominated to it: those may come, or be placed elsewhere. Only nominated
 * pods of the same or a higher priority count (RunFilterPluginsWithNominatedPods).
 */
export function filterWithNominatedPods(run: PodCycle, node: LiveNodeInfo, nominations: NominatedPods): Rejection | PluginFailure | undefined {
  if (nominations.isEmpty) return run.filter(node);
  const promised = [...nominations.on(node.name)].filter(({ priority, uid }) => priority >= run.pod.priority && uid !== run.pod.uid);
  if (promised.length > 0) {
    const [whatIf, crowded] = [run.copy(), node.copy()];
    for (const pod of promised) {
      crowded.addPod(pod);
      whatIf.addPod(pod, crowded);
    }
    const verdict = whatIf.filter(crowded);
    if (verdict !== undefined) return verdict;
  }
  return run.filter(node);
}
