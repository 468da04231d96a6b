import { selectsEverything } from '../../api/selectors/label-selector.ts';
import type { ClusterSnapshot, NodeInfo, PodInfo } from '../framework.ts';
import { maxNodeScore } from './normalize-score.ts';
import { Eligibility, hasAllTopologyKeys, type SpreadConstraint } from './spread-constraints.ts';
import { topologyValueOf } from './topology-counts.ts';

export interface SpreadScoreContext {
  readonly pod: PodInfo;
  readonly snapshot: ClusterSnapshot;
  readonly constraints: readonly SpreadConstraint[];
  /** Nodes without all topology keys get score 0. False for the system defaults. */
  readonly requiresAllTopologyKeys: boolean;
}

const hostname = 'kubernetes.io/hostname';

/** Prefers domains with fewer matching pods. */
export function spreadScores(context: SpreadScoreContext, nodes: readonly NodeInfo[]): readonly number[] | undefined {
  const { constraints, requiresAllTopologyKeys } = context;
  if (constraints.length === 0) return undefined;
  const isLast = nodes.map(({ labels }) => requiresAllTopologyKeys && !hasAllTopologyKeys(labels, constraints));
  const candidates = nodes.filter((_, i) => isLast[i] === false);
  const counts = constraints.map((constraint) => countByDomain(context, constraint, candidates));
  const weights = constraints.map(({ topologyKey }, i) => Math.log((topologyKey === hostname ? candidates.length : (counts[i]?.size ?? 0)) + 2));
  const raw = nodes.map((node, at) => {
    if (isLast[at] === true) return undefined;
    const sum = constraints.reduce((total, { topologyKey, maxSkew }, i) => {
      const domain = topologyKey === hostname && topologyValueOf(node, hostname) !== undefined ? node.name : topologyValueOf(node, topologyKey);
      return domain === undefined ? total : total + (counts[i]?.get(domain) ?? 0) * (weights[i] ?? 0) + maxSkew - 1;
    }, 0);
    return Math.round(sum);
  });
  return normalise(raw);
}

/** The matching pods by domain (for host names, by node), for the domains of the candidates. */
function countByDomain(
  { pod, snapshot, constraints, requiresAllTopologyKeys }: SpreadScoreContext,
  constraint: SpreadConstraint,
  candidates: readonly NodeInfo[],
): Map<string, number> {
  const { topologyKey } = constraint;
  const byNode = topologyKey === hostname;
  const domainOf = (node: NodeInfo): string => (byNode ? node.name : (topologyValueOf(node, topologyKey) ?? ''));
  const counts = new Map(candidates.map((node) => [domainOf(node), 0]));
  // An empty selector counts no pod, as in Kubernetes.
  if (selectsEverything(constraint.selector)) return counts;
  const selected = snapshot.selectedPods(pod.namespace, constraint.selector);
  if (byNode) {
    for (const name of counts.keys()) counts.set(name, selected.byNode.get(name) ?? 0);
    return counts;
  }
  const eligibility = new Eligibility(pod.pod);
  if (!requiresAllTopologyKeys && eligibility.countsAll(constraint)) {
    const byValue = selected.byLabel(topologyKey);
    for (const value of counts.keys()) counts.set(value, byValue.get(value) ?? 0);
    return counts;
  }
  for (const [name, pods] of selected.byNode) {
    const node = snapshot.node(name);
    const count = node === undefined ? undefined : counts.get(domainOf(node));
    if (node === undefined || count === undefined) continue;
    if (requiresAllTopologyKeys && !hasAllTopologyKeys(node.labels, constraints)) continue;
    if (eligibility.counts(node, constraint)) counts.set(domainOf(node), count + pods);
  }
  return counts;
}

function normalise(raw: readonly (number | undefined)[]): readonly number[] {
  const known = raw.filter((score) => score !== undefined);
  const [lowest, highest] = [Math.min(...known), Math.max(0, ...known)];
  return raw.map((score) => {
    if (score === undefined) return 0;
    return highest === 0 ? maxNodeScore : Math.trunc((maxNodeScore * (highest + lowest - score)) / highest);
  });
}
