import { matchesLabels, SelectorError, selectsEverything } from '../../api/selectors/label-selector.ts';
import { type ClusterSnapshot, type CyclePlugin, type NodeInfo, type Plugin, pluginFailure, type PodInfo, type Rejection, rejection } from '../framework.ts';
import { constraintsOf, defaultConstraints, Eligibility, hasAllTopologyKeys, ServiceIndex, type SpreadConstraint } from './spread-constraints.ts';
import { topologySpreadHint } from './pod-topology-spread-hints.ts';
import { spreadScores } from './pod-topology-spread-scores.ts';
import { topologyValueOf } from './topology-counts.ts';

const name = 'PodTopologySpread';

/** PodTopologySpread: spreads matching pods over nodes, zones or other domains. */
export function podTopologySpread(): Plugin {
  const services = new ServiceIndex();
  return {
    name,
    weight: 2,
    preFilter: (pod, snapshot) => {
      try {
        const own = (pod.pod.spec.topologySpreadConstraints ?? []).length > 0;
        const hard = own ? constraintsOf(pod.pod, 'DoNotSchedule') : [];
        const soft = own ? constraintsOf(pod.pod, 'ScheduleAnyway') : defaultConstraints(pod, services, snapshot);
        if (hard.length === 0 && soft.length === 0) return 'skip';
        const score: CyclePlugin['score'] = (nodes) => spreadScores({ pod, snapshot, constraints: soft, requiresAllTopologyKeys: own }, nodes);
        return hard.length === 0 ? { score } : new Spread({ pod, constraints: hard, domains: domainsOf(pod, snapshot, hard), score });
      } catch (error) {
        if (!(error instanceof SelectorError)) throw error;
        return pluginFailure(name, `get constraints from pod: obtaining pod's hard topology spread constraints: ${error.message}`);
      }
    },
    observe: (change) => {
      if (change.resource === 'service') services.observe(change);
    },
    queueingHints: { events: ['node', 'pod'], hint: topologySpreadHint },
  };
}

/** For each constraint, the matching pods by domain. */
function domainsOf(pod: PodInfo, snapshot: ClusterSnapshot, constraints: readonly SpreadConstraint[]): readonly Domains[] {
  const eligibility = new Eligibility(pod.pod);
  const counts = constraints.map(() => new Map<string, number>());
  const eligible = constraints.map(() => new Set<string>());
  for (const node of snapshot.nodes) {
    if (!hasAllTopologyKeys(node.labels, constraints)) continue;
    for (const [i, constraint] of constraints.entries()) {
      if (!eligibility.counts(node, constraint)) continue;
      eligible[i]?.add(node.name);
      const domain = topologyValueOf(node, constraint.topologyKey) ?? '';
      if (counts[i]?.has(domain) === false) counts[i].set(domain, 0);
    }
  }
  for (const [i, constraint] of constraints.entries()) {
    // An empty selector counts no pod, as in Kubernetes.
    if (selectsEverything(constraint.selector)) continue;
    for (const [name, pods] of snapshot.selectedPods(pod.namespace, constraint.selector).byNode) {
      if (eligible[i]?.has(name) !== true) continue;
      const domain = topologyValueOf(snapshot.node(name) ?? { labels: undefined }, constraint.topologyKey) ?? '';
      counts[i]?.set(domain, (counts[i].get(domain) ?? 0) + pods);
    }
  }
  return counts.map((each) => new Domains(each));
}

interface Lowest {
  readonly domain: string | undefined;
  readonly count: number;
}

/**
 * Pods by domain, and the two emptiest domains. Two suffice for a dry run, in which one domain changes (criticalPaths).
 */
class Domains {
  readonly #counts: Map<string, number>;
  #lowest: Lowest = { domain: undefined, count: Number.MAX_SAFE_INTEGER };
  #second: Lowest = { domain: undefined, count: Number.MAX_SAFE_INTEGER };

  constructor(counts: Map<string, number>, lowest?: readonly [Lowest, Lowest]) {
    this.#counts = counts;
    if (lowest === undefined) for (const [domain, count] of counts) this.#note(domain, count);
    else [this.#lowest, this.#second] = lowest;
  }

  at(domain: string): number {
    return this.#counts.get(domain) ?? 0;
  }

  /** With fewer than minDomains domains, the global minimum is 0. */
  lowest(minDomains: number): number {
    return this.#counts.size < minDomains ? 0 : this.#lowest.count;
  }

  add(domain: string, amount: number): void {
    const count = this.at(domain) + amount;
    this.#counts.set(domain, count);
    this.#note(domain, count);
  }

  copy(): Domains {
    return new Domains(new Map(this.#counts), [this.#lowest, this.#second]);
  }

  #note(domain: string, count: number): void {
    const entry = { domain, count };
    if (domain === this.#lowest.domain) this.#lowest = entry;
    else if (domain === this.#second.domain) this.#second = entry;
    else if (count < this.#lowest.count) [this.#lowest, this.#second] = [entry, this.#lowest];
    else if (count < this.#second.count) this.#second = entry;
    if (this.#lowest.count > this.#second.count) [this.#lowest, this.#second] = [this.#second, this.#lowest];
  }
}

interface SpreadParts {
  readonly pod: PodInfo;
  readonly constraints: readonly SpreadConstraint[];
  readonly domains: readonly Domains[];
  readonly score: CyclePlugin['score'];
}

class Spread implements CyclePlugin {
  readonly #parts: SpreadParts;
  readonly #eligibility: Eligibility;
  /** For each constraint, 1 if the pod matches it itself. */
  readonly #own: readonly number[];

  constructor(parts: SpreadParts) {
    this.#parts = parts;
    this.#eligibility = new Eligibility(parts.pod.pod);
    this.#own = parts.constraints.map(({ selector }) => (matchesLabels(selector, parts.pod.labels) ? 1 : 0));
  }

  filter(node: NodeInfo): Rejection | undefined {
    const { constraints, domains } = this.#parts;
    for (let i = 0; i < constraints.length; i++) {
      const [constraint, counts] = [constraints[i], domains[i]];
      if (constraint === undefined || counts === undefined) continue;
      const domain = topologyValueOf(node, constraint.topologyKey);
      if (domain === undefined) return missingLabel(constraint);
      const skew = counts.at(domain) + (this.#own[i] ?? 0) - counts.lowest(constraint.minDomains);
      if (skew > constraint.maxSkew) return tooMany(constraint, { domain, skew });
    }
    return undefined;
  }

  score(nodes: readonly NodeInfo[]): ArrayLike<number> | undefined {
    return this.#parts.score?.(nodes);
  }

  addPod(other: PodInfo, node: NodeInfo): void {
    this.#change(other, node, 1);
  }

  removePod(other: PodInfo, node: NodeInfo): void {
    this.#change(other, node, -1);
  }

  #change(other: PodInfo, node: NodeInfo, amount: number): void {
    const { pod, constraints, domains } = this.#parts;
    if (other.namespace !== pod.namespace || !hasAllTopologyKeys(node.labels, constraints)) return;
    for (const [i, constraint] of constraints.entries()) {
      if (!matchesLabels(constraint.selector, other.labels) || !this.#eligibility.counts(node, constraint)) continue;
      domains[i]?.add(topologyValueOf(node, constraint.topologyKey) ?? '', amount);
    }
  }

  clone(): CyclePlugin {
    return new Spread({ ...this.#parts, domains: this.#parts.domains.map((each) => each.copy()) });
  }
}

const text = "node(s) didn't match pod topology spread constraints";

function missingLabel({ topologyKey }: SpreadConstraint): Rejection {
  return rejection('unresolvable', name, {
    text: `${text} (missing required label)`,
    rule: 'spread',
    detail: () => ({ found: `has no label ${topologyKey}, the pod's topology key`, wanted: `the label ${topologyKey}` }),
  });
}

function tooMany({ topologyKey, maxSkew }: SpreadConstraint, { domain, skew }: { readonly domain: string; readonly skew: number }): Rejection {
  return rejection('unschedulable', name, {
    text,
    rule: 'spread',
    detail: () => ({
      found: `is in ${topologyKey}=${domain}, where the skew would be ${skew}; maxSkew is ${maxSkew}`,
      wanted: `more matching pods in other domains, or a feasible node in an emptier ${topologyKey}`,
    }),
  });
}
