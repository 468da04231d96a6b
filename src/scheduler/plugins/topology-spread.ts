import { matchesLabels, SelectorError } from '../../domain/label-selector.ts';
import { failed, type NodeInfo, type Plugin, type PodInfo, type Rejection, rejection, type Snapshot, type Stages } from '../framework.ts';
import { constraintsOf, defaultConstraints, Eligibility, hasAllPlaces, isCounted, ServiceIndex, type SpreadConstraint } from './spread-constraints.ts';
import { spreadHelps } from './topology-spread-hints.ts';
import { spreadScores } from './topology-spread-scores.ts';
import { placeOf } from './topology-counts.ts';

const name = 'PodTopologySpread';

/** Pods of a kind are spread over nodes, zones or whatever a constraint names. */
export function topologySpread(): Plugin {
  const services = new ServiceIndex();
  return {
    name,
    weight: 2,
    prepare: (pod, snapshot) => {
      try {
        const own = (pod.pod.spec.topologySpreadConstraints ?? []).length > 0;
        const hard = own ? constraintsOf(pod.pod, 'DoNotSchedule') : [];
        const soft = own ? constraintsOf(pod.pod, 'ScheduleAnyway') : defaultConstraints(pod, services, snapshot);
        if (hard.length === 0 && soft.length === 0) return 'skip';
        const score: Stages['score'] = (nodes) => spreadScores({ pod, snapshot, constraints: soft, needsAllPlaces: own }, nodes);
        return hard.length === 0 ? { score } : new Spread({ pod, constraints: hard, domains: domainsOf(pod, snapshot, hard), score });
      } catch (error) {
        if (!(error instanceof SelectorError)) throw error;
        return failed(name, `get constraints from pod: obtaining pod's hard topology spread constraints: ${error.message}`);
      }
    },
    observe: (change) => {
      if (change.resource === 'service') services.observe(change);
    },
    wakes: { on: ['node', 'pod'], helps: spreadHelps },
  };
}

/** For each constraint, the pods that it counts, by place. */
function domainsOf(pod: PodInfo, snapshot: Snapshot, constraints: readonly SpreadConstraint[]): readonly Domains[] {
  const eligibility = new Eligibility(pod.pod);
  const counts = constraints.map(() => new Map<string, number>());
  const eligible = constraints.map(() => new Set<string>());
  for (const node of snapshot.nodes) {
    if (!hasAllPlaces(node.labels, constraints)) continue;
    for (const [i, constraint] of constraints.entries()) {
      if (!eligibility.counts(node, constraint)) continue;
      eligible[i]?.add(node.name);
      const place = placeOf(node, constraint.topologyKey) ?? '';
      if (counts[i]?.has(place) === false) counts[i].set(place, 0);
    }
  }
  for (const other of snapshot.podsIn(pod.namespace)) {
    for (const [i, constraint] of constraints.entries()) {
      if (eligible[i]?.has(other.nodeName) !== true || !isCounted(constraint, other)) continue;
      const place = placeOf(snapshot.node(other.nodeName) ?? { labels: undefined }, constraint.topologyKey) ?? '';
      counts[i]?.set(place, (counts[i].get(place) ?? 0) + 1);
    }
  }
  return counts.map((each) => new Domains(each));
}

interface Lowest {
  readonly place: string | undefined;
  readonly count: number;
}

/**
 * Pods by place, and the emptiest place. Besides it one more is kept: enough for a what-if, in which only one place changes.
 */
class Domains {
  readonly #counts: Map<string, number>;
  #lowest: Lowest = { place: undefined, count: Number.MAX_SAFE_INTEGER };
  #second: Lowest = { place: undefined, count: Number.MAX_SAFE_INTEGER };

  constructor(counts: Map<string, number>, lowest?: readonly [Lowest, Lowest]) {
    this.#counts = counts;
    if (lowest === undefined) for (const [place, count] of counts) this.#note(place, count);
    else [this.#lowest, this.#second] = lowest;
  }

  at(place: string): number {
    return this.#counts.get(place) ?? 0;
  }

  /** As long as there are too few places, another empty one is still to come. */
  lowest(minDomains: number): number {
    return this.#counts.size < minDomains ? 0 : this.#lowest.count;
  }

  add(place: string, amount: number): void {
    const count = this.at(place) + amount;
    this.#counts.set(place, count);
    this.#note(place, count);
  }

  copy(): Domains {
    return new Domains(new Map(this.#counts), [this.#lowest, this.#second]);
  }

  #note(place: string, count: number): void {
    const noted = { place, count };
    if (place === this.#lowest.place) this.#lowest = noted;
    else if (place === this.#second.place) this.#second = noted;
    else if (count < this.#lowest.count) [this.#lowest, this.#second] = [noted, this.#lowest];
    else if (count < this.#second.count) this.#second = noted;
    if (this.#lowest.count > this.#second.count) [this.#lowest, this.#second] = [this.#second, this.#lowest];
  }
}

interface SpreadParts {
  readonly pod: PodInfo;
  readonly constraints: readonly SpreadConstraint[];
  readonly domains: readonly Domains[];
  readonly score: Stages['score'];
}

class Spread implements Stages {
  readonly #parts: SpreadParts;
  readonly #eligibility: Eligibility;
  /** Whether the pod itself will count, for each constraint. */
  readonly #own: readonly number[];

  constructor(parts: SpreadParts) {
    this.#parts = parts;
    this.#eligibility = new Eligibility(parts.pod.pod);
    this.#own = parts.constraints.map(({ selector }) => (matchesLabels(selector, parts.pod.labels) ? 1 : 0));
  }

  filter(node: NodeInfo): Rejection | undefined {
    const { constraints, domains } = this.#parts;
    for (let i = 0; i < constraints.length; i++) {
      const [constraint, places] = [constraints[i], domains[i]];
      if (constraint === undefined || places === undefined) continue;
      const place = placeOf(node, constraint.topologyKey);
      if (place === undefined) return noPlace(constraint);
      const skew = places.at(place) + (this.#own[i] ?? 0) - places.lowest(constraint.minDomains);
      if (skew > constraint.maxSkew) return tooMany(constraint, { place, skew });
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
    if (other.namespace !== pod.namespace || !hasAllPlaces(node.labels, constraints)) return;
    for (const [i, constraint] of constraints.entries()) {
      if (!matchesLabels(constraint.selector, other.labels) || !this.#eligibility.counts(node, constraint)) continue;
      domains[i]?.add(placeOf(node, constraint.topologyKey) ?? '', amount);
    }
  }

  clone(): Stages {
    return new Spread({ ...this.#parts, domains: this.#parts.domains.map((each) => each.copy()) });
  }
}

const text = "node(s) didn't match pod topology spread constraints";

function noPlace({ topologyKey }: SpreadConstraint): Rejection {
  return rejection('unresolvable', name, {
    text: `${text} (missing required label)`,
    rule: 'spread',
    detail: () => ({ found: `has no label ${topologyKey}, over which the pod is to be spread`, wanted: `the label ${topologyKey}` }),
  });
}

function tooMany({ topologyKey, maxSkew }: SpreadConstraint, { place, skew }: { readonly place: string; readonly skew: number }): Rejection {
  return rejection('unschedulable', name, {
    text,
    rule: 'spread',
    detail: () => ({
      found: `is in ${topologyKey}=${place}, which would have ${skew} more such pods than the emptiest; the constraint allows ${maxSkew}`,
      wanted: `more such pods elsewhere, or room in an emptier ${topologyKey}`,
    }),
  });
}
