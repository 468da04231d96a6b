import { type Labels, matchesLabels, selectsEverything } from '../../api/selectors/label-selector.ts';
import { type ClusterSnapshot, type CyclePlugin, type NodeInfo, type Plugin, type PodInfo, type Rejection, rejection } from '../framework.ts';
import { type AffinityTerm, type PodAffinities, termMatches } from '../pod-info.ts';
import { interPodAffinityHint } from './inter-pod-affinity-hints.ts';
import { maxNodeScore } from './normalize-score.ts';
import { TopologyCounts, topologyValueOf } from './topology-counts.ts';

const name = 'InterPodAffinity';

/** InterPodAffinity: affinity and anti-affinity of the pod, and anti-affinity of existing pods. */
export const interPodAffinity: Plugin = {
  name,
  weight: 2,
  preFilter: (pod, snapshot) => {
    const { affinity } = pod;
    if (affinity === undefined && snapshot.nodesWithAffinity.size === 0) return 'skip';
    if (affinity?.problem !== undefined) {
      const found = `has an invalid affinity term: ${affinity.problem}`;
      return rejection('unresolvable', name, {
        text: `parsing pod: ${affinity.problem}`,
        rule: 'podAffinity',
        detail: () => ({ found, wanted: 'valid terms' }),
      });
    }
    return new PodAffinity(pod, snapshot, countsFor(pod, snapshot));
  },
  queueingHints: { events: ['node', 'pod'], hint: interPodAffinityHint },
};

interface AffinityCounts {
  /** Pods that match all required affinity terms of the pod. */
  readonly affinity: TopologyCounts;
  /** Pods that match a required anti-affinity term of the pod. */
  readonly antiAffinity: TopologyCounts;
  /** Pods with a required anti-affinity term that the pod matches. */
  readonly existingAntiAffinity: TopologyCounts;
}

const none: PodAffinities = { required: [], requiredAnti: [], preferred: [], preferredAnti: [], problem: undefined };

function countsFor(pod: PodInfo, snapshot: ClusterSnapshot): AffinityCounts {
  const { required, requiredAnti } = pod.affinity ?? none;
  const counts: AffinityCounts = { affinity: new TopologyCounts(), antiAffinity: new TopologyCounts(), existingAntiAffinity: new TopologyCounts() };
  const labels = labelsOfNamespace(snapshot, pod.namespace);
  for (const node of snapshot.nodesWithAntiAffinity)
    for (const other of node.podsWithAntiAffinity) countExistingAntiAffinity(counts, { pod, labels }, { other, node });
  const [first] = required;
  if (first !== undefined) {
    for (const { other, node } of podsWithin(first, snapshot))
      if (matchesAll(required, other, snapshot)) for (const { topologyKey } of required) counts.affinity.add(node, topologyKey, 1);
  }
  for (const term of requiredAnti)
    for (const { other, node } of podsWithin(term, snapshot))
      if (matchesLabels(term.selector, other.labels)) counts.antiAffinity.add(node, term.topologyKey, 1);
  return counts;
}

interface IncomingPod {
  readonly pod: PodInfo;
  /** The labels of its namespace. */
  readonly labels: Labels | undefined;
}

interface PodOnNode {
  readonly other: PodInfo;
  readonly node: NodeInfo;
}

function countExistingAntiAffinity(
  { existingAntiAffinity }: AffinityCounts,
  { pod, labels }: IncomingPod,
  { other, node }: PodOnNode,
  amount: 1 | -1 = 1,
): void {
  for (const term of other.affinity?.requiredAnti ?? []) if (termMatches(term, pod, labels)) existingAntiAffinity.add(node, term.topologyKey, amount);
}

const labelsOfNamespace = ({ views }: ClusterSnapshot, namespace: string): Labels | undefined => views.namespace.getKey(namespace)?.metadata.labels;

/** The assigned pods in the namespaces of the term. */
function* podsWithin(term: AffinityTerm, snapshot: ClusterSnapshot): Generator<PodOnNode> {
  for (const namespace of namespacesOf(term, snapshot)) {
    for (const other of snapshot.podsIn(namespace)) {
      const node = snapshot.node(other.nodeName);
      if (node !== undefined) yield { other, node };
    }
  }
}

function namespacesOf({ namespaces, namespaceSelector }: AffinityTerm, snapshot: ClusterSnapshot): Iterable<string> {
  if (namespaceSelector.type === 'nothing') return namespaces;
  if (selectsEverything(namespaceSelector)) return snapshot.namespacesWithPods;
  return [...snapshot.namespacesWithPods].filter((each) => namespaces.has(each) || matchesLabels(namespaceSelector, labelsOfNamespace(snapshot, each)));
}

const matchesAll = (terms: readonly AffinityTerm[], pod: PodInfo, snapshot: ClusterSnapshot): boolean =>
  terms.length > 0 && terms.every((term) => termMatches(term, pod, labelsOfNamespace(snapshot, pod.namespace)));

class PodAffinity implements CyclePlugin {
  readonly #pod: PodInfo;
  readonly #terms: PodAffinities;
  readonly #snapshot: ClusterSnapshot;
  readonly #counts: AffinityCounts;
  readonly #isUnrestricted: boolean;

  constructor(pod: PodInfo, snapshot: ClusterSnapshot, counts: AffinityCounts) {
    this.#pod = pod;
    this.#terms = pod.affinity ?? none;
    this.#snapshot = snapshot;
    this.#counts = counts;
    this.#isUnrestricted = counts.existingAntiAffinity.isEmpty && this.#terms.required.length === 0 && this.#terms.requiredAnti.length === 0;
  }

  filter(node: NodeInfo): Rejection | undefined {
    // A dry run may have added pods with anti-affinity.
    if (this.#isUnrestricted && this.#counts.existingAntiAffinity.isEmpty) return undefined;
    if (!this.#isNear(node)) return this.#tooFar();
    const violated = this.#terms.requiredAnti.find(
      ({ topologyKey }) => this.#counts.antiAffinity.at(topologyKey, topologyValueOf(node, topologyKey) ?? '\0') > 0,
    );
    if (violated !== undefined) return tooClose(violated);
    const label = this.#counts.existingAntiAffinity.occupied(node);
    return label === undefined ? undefined : repelledBy(label);
  }

  #isNear(node: NodeInfo): boolean {
    let isFound = true;
    for (const { topologyKey } of this.#terms.required) {
      const value = topologyValueOf(node, topologyKey);
      if (value === undefined) return false;
      if (this.#counts.affinity.at(topologyKey, value) <= 0) isFound = false;
    }
    // The first pod of a group with affinity to itself is allowed.
    return isFound || (this.#counts.affinity.isEmpty && matchesAll(this.#terms.required, this.#pod, this.#snapshot));
  }

  addPod(other: PodInfo, node: NodeInfo): void {
    this.#change({ other, node }, 1);
  }

  removePod(other: PodInfo, node: NodeInfo): void {
    this.#change({ other, node }, -1);
  }

  #change({ other, node }: PodOnNode, amount: 1 | -1): void {
    const { required, requiredAnti } = this.#terms;
    countExistingAntiAffinity(this.#counts, { pod: this.#pod, labels: labelsOfNamespace(this.#snapshot, this.#pod.namespace) }, { other, node }, amount);
    if (matchesAll(required, other, this.#snapshot)) for (const { topologyKey } of required) this.#counts.affinity.add(node, topologyKey, amount);
    const labels = labelsOfNamespace(this.#snapshot, other.namespace);
    for (const term of requiredAnti) if (termMatches(term, other, labels)) this.#counts.antiAffinity.add(node, term.topologyKey, amount);
  }

  clone(): CyclePlugin {
    const { affinity, antiAffinity, existingAntiAffinity } = this.#counts;
    return new PodAffinity(this.#pod, this.#snapshot, {
      affinity: affinity.copy(),
      antiAffinity: antiAffinity.copy(),
      existingAntiAffinity: existingAntiAffinity.copy(),
    });
  }

  score(nodes: readonly NodeInfo[]): readonly number[] | undefined {
    const sums = this.#preferences();
    if (sums.isEmpty) return undefined;
    const scores = nodes.map((node) => sums.sumAt(node));
    const [lowest, highest] = [Math.min(...scores), Math.max(...scores)];
    return scores.map((score) => (highest > lowest ? Math.trunc(maxNodeScore * ((score - lowest) / (highest - lowest))) : 0));
  }

  /** Preferred terms of the pod, and preferred and required terms of existing pods that match it. */
  #preferences(): TopologyCounts {
    const sums = new TopologyCounts();
    const own = [...this.#terms.preferred, ...this.#terms.preferredAnti.map(({ term, weight }) => ({ term, weight: -weight }))];
    for (const { term, weight } of own) {
      for (const { other, node } of podsWithin(term, this.#snapshot)) if (matchesLabels(term.selector, other.labels)) sums.add(node, term.topologyKey, weight);
    }
    const labels = labelsOfNamespace(this.#snapshot, this.#pod.namespace);
    for (const node of this.#snapshot.nodesWithAffinity) {
      for (const { affinity = none } of node.podsWithAffinity) {
        const theirs = [
          ...affinity.required.map((term) => ({ term, weight: requiredWeight })),
          ...affinity.preferred,
          ...affinity.preferredAnti.map(({ term, weight }) => ({ term, weight: -weight })),
        ];
        for (const { term, weight } of theirs) if (termMatches(term, this.#pod, labels)) sums.add(node, term.topologyKey, weight);
      }
    }
    return sums;
  }

  #tooFar(): Rejection {
    const keys = this.#terms.required.map(({ topologyKey }) => topologyKey).join(', ');
    return rejection('unresolvable', name, {
      text: "node(s) didn't match pod affinity rules",
      rule: 'podAffinity',
      detail: () => ({ found: `has no pod in the same ${keys} that matches the pod's affinity`, wanted: `such a pod in its ${keys}` }),
    });
  }
}

/** hardPodAffinityWeight. */
const requiredWeight = 1;

function tooClose({ topologyKey }: AffinityTerm): Rejection {
  return rejection('unschedulable', name, {
    text: "node(s) didn't match pod anti-affinity rules",
    rule: 'podAntiAffinity',
    detail: () => ({ found: `has a pod in the same ${topologyKey} that matches the pod's anti-affinity`, wanted: `no such pod in its ${topologyKey}` }),
  });
}

function repelledBy(topologyKey: string): Rejection {
  return rejection('unschedulable', name, {
    text: "node(s) didn't satisfy existing pods anti-affinity rules",
    rule: 'existingAntiAffinity',
    detail: () => ({ found: `has a pod in the same ${topologyKey} whose anti-affinity matches the pod`, wanted: `no such pod in its ${topologyKey}` }),
  });
}
