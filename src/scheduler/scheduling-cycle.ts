/** The scheduling cycle from PreFilter to Score: finds the node for a pod. Synchronous, and writes nothing. */
import type { SchedulerCache } from './scheduler-cache.ts';
import type { Diagnosis } from './diagnosis.ts';
import { isFailure, type Plugin, type PluginFailure, type PodInfo, type Rejection } from './framework.ts';
import type { LiveNodeInfo } from './node-info.ts';
import { nominatedNode, type NominatedPods } from './nominated-pods.ts';
import { maxNodeScore } from './plugins/normalize-score.ts';
import { excludedBy, type PodCycle, runPreFilterPlugins } from './pod-cycle.ts';

export interface CycleContext {
  readonly plugins: readonly Plugin[];
  readonly cache: SchedulerCache;
  readonly nominatedPods: NominatedPods;
  /** At least 0, below 1: selects among nodes of equal score. */
  readonly random: () => number;
}

export type CycleResult =
  | { readonly type: 'found'; readonly node: LiveNodeInfo; readonly cycle: PodCycle }
  /** `cycle`: set if PreFilter ran for every plugin, so that preemption can do its dry runs. */
  | { readonly type: 'none'; readonly diagnosis: Diagnosis; readonly cycle: PodCycle | undefined }
  | { readonly type: 'noNodes' }
  | FailedCycle;

interface FailedCycle {
  readonly type: 'failed';
  readonly message: string;
}

/** Each search starts at the node after the last one, so that all nodes have the same chance to be examined (nextStartNodeIndex). */
export class SchedulingCycle {
  readonly #context: CycleContext;
  #next = 0;

  constructor(context: CycleContext) {
    this.#context = context;
  }

  schedulePod(pod: PodInfo): CycleResult {
    const { plugins, cache } = this.#context;
    const total = cache.nodes.length;
    if (total === 0) return { type: 'noNodes' };
    const prepared = runPreFilterPlugins(pod, plugins, cache);
    switch (prepared.type) {
      case 'failed':
        return prepared;
      case 'rejected': {
        const { rejection, restrictedBy } = prepared;
        const diagnosis = { nodes: total, everywhere: rejection, byNode: new Map(), others: undefined, restrictedBy };
        return { type: 'none', diagnosis, cycle: prepared.cycle };
      }
      case 'ready': {
        const { cycle, nodeNames, restrictedBy } = prepared;
        const others = nodeNames === undefined ? undefined : excludedBy(restrictedBy);
        const eligible = nodeNames === undefined ? cache.nodes : this.#nodesNamed(nodeNames);
        return this.#choose(cycle, { nodes: total, everywhere: undefined, others, restrictedBy }, eligible);
      }
    }
  }

  #choose(podCycle: PodCycle, diagnosis: Omit<Diagnosis, 'byNode'>, eligible: readonly LiveNodeInfo[]): CycleResult {
    const nominated = this.#evaluateNominatedNode(podCycle, eligible);
    if (nominated !== undefined) return { type: 'found', node: nominated, cycle: podCycle };
    const likely = this.#likelyNodes(podCycle, eligible);
    let filtered = this.#findNodesThatPassFilters(podCycle, likely);
    // The diagnosis of an unschedulable pod needs the reason of every node.
    if (filtered.type === 'searched' && filtered.passing.length === 0 && likely !== eligible) filtered = this.#findNodesThatPassFilters(podCycle, eligible);
    if (filtered.type === 'failed') return filtered;
    const { passing, byNode } = filtered;
    if (passing.length === 0) return { type: 'none', diagnosis: { ...diagnosis, byNode }, cycle: podCycle };
    const [only] = passing;
    const node = passing.length === 1 && only !== undefined ? only : this.#selectHost(podCycle, passing);
    return 'type' in node ? node : { type: 'found', node, cycle: podCycle };
  }

  #nodesNamed(names: ReadonlySet<string>): readonly LiveNodeInfo[] {
    return [...names].flatMap((name) => this.#context.cache.node(name) ?? []);
  }

  /** The nominated node comes first: preemption has made room there. */
  #evaluateNominatedNode(podCycle: PodCycle, eligible: readonly LiveNodeInfo[]): LiveNodeInfo | undefined {
    const name = nominatedNode(podCycle.pod);
    const node = name === '' ? undefined : this.#context.cache.node(name);
    if (node === undefined || (eligible !== this.#context.cache.nodes && !eligible.includes(node))) return undefined;
    return filterWithNominatedPods(podCycle, node, this.#context.nominatedPods) === undefined ? node : undefined;
  }

  /** The `likely` nodes of the most selective plugin. */
  #likelyNodes(podCycle: PodCycle, eligible: readonly LiveNodeInfo[]): readonly LiveNodeInfo[] {
    let names: ReadonlySet<string> | undefined;
    // Beyond a third of all nodes, filtering node after node finds enough of them sooner than looking all of these up.
    let fewest = eligible.length / 3;
    for (const { cycle } of podCycle.plugins) {
      if (cycle.likely === undefined || cycle.likely.size > fewest) continue;
      names = cycle.likely;
      fewest = names.size;
    }
    if (names === undefined) return eligible;
    return eligible === this.#context.cache.nodes ? this.#nodesNamed(names) : eligible.filter(({ name }) => names.has(name));
  }

  #findNodesThatPassFilters(podCycle: PodCycle, nodes: readonly LiveNodeInfo[]): FilteredNodes | FailedCycle {
    const enough = numFeasibleNodesToFind(nodes.length);
    const passing: LiveNodeInfo[] = [];
    const byNode = new Map<string, Rejection>();
    for (let i = 0; i < nodes.length && passing.length < enough; i++) {
      const node = nodes[(this.#next + i) % nodes.length];
      if (node === undefined) continue;
      const verdict = filterWithNominatedPods(podCycle, node, this.#context.nominatedPods);
      if (verdict === undefined) passing.push(node);
      else if (isFailure(verdict)) return { type: 'failed', message: `running "${verdict.plugin}" filter plugin: ${verdict.message}` };
      else byNode.set(node.name, verdict);
    }
    this.#next = (this.#next + passing.length + byNode.size) % this.#context.cache.nodes.length;
    return { type: 'searched', passing, byNode };
  }

  /** Of several nodes with the highest score, a random one. */
  #selectHost(podCycle: PodCycle, nodes: readonly LiveNodeInfo[]): LiveNodeInfo | FailedCycle {
    const totals = new Float64Array(nodes.length);
    for (const { plugin, cycle } of podCycle.plugins) {
      const scores = cycle.score?.(nodes);
      if (scores === undefined) continue;
      const weight = plugin.weight ?? 1;
      for (let i = 0; i < nodes.length; i++) {
        const score = scores[i] ?? 0;
        // A score out of range would outweigh those of the other plugins (runtime/framework.go, RunScorePlugins).
        if (!(score >= 0 && score <= maxNodeScore)) return invalidScore(plugin.name, score);
        totals[i] = (totals[i] ?? 0) + weight * score;
      }
    }
    const highest = totals.reduce((most, total) => Math.max(most, total), Number.NEGATIVE_INFINITY);
    const best = nodes.filter((_, i) => totals[i] === highest);
    const chosen = best[Math.floor(this.#context.random() * best.length)];
    if (chosen === undefined) throw new Error('selectHost needs at least one node');
    return chosen;
  }
}

function invalidScore(plugin: string, score: number): FailedCycle {
  const why = `plugin ${JSON.stringify(plugin)} returns an invalid score ${score}, it should in the range of [0, ${maxNodeScore}] after normalizing`;
  return { type: 'failed', message: `applying score defaultWeights on Score plugins: ${why}` };
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
export function filterWithNominatedPods(podCycle: PodCycle, node: LiveNodeInfo, nominatedPods: NominatedPods): Rejection | PluginFailure | undefined {
  if (nominatedPods.isEmpty) return podCycle.filter(node);
  const nominated = [...nominatedPods.on(node.name)].filter(({ priority, uid }) => priority >= podCycle.pod.priority && uid !== podCycle.pod.uid);
  if (nominated.length > 0) {
    const [cycleCopy, nodeCopy] = [podCycle.copy(), node.copy()];
    for (const pod of nominated) {
      nodeCopy.addPod(pod);
      cycleCopy.addPod(pod, nodeCopy);
    }
    const verdict = cycleCopy.filter(nodeCopy);
    if (verdict !== undefined) return verdict;
  }
  return podCycle.filter(node);
}
