import type { Rejection } from './framework.ts';

/** Why no node is feasible for a pod. */
export interface Diagnosis {
  /** How many the cluster has. */
  readonly nodes: number;
  /** PreFilter rejected the pod. */
  readonly everywhere: Rejection | undefined;
  /** The first rejection of each examined node. */
  readonly byNode: ReadonlyMap<string, Rejection>;
  /** The rejection of all nodes that are not in `byNode`. */
  readonly others: Rejection | undefined;
  /** The plugins whose PreFilterResult restricts the nodes. */
  readonly restrictedBy: readonly string[];
}

/** FitError: '0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient memory.' */
export function fitMessage(diagnosis: Diagnosis, afterwards = ''): string {
  const parts = [`0/${diagnosis.nodes} nodes are available:`];
  const why = diagnosis.everywhere === undefined ? histogram(diagnosis) : textOf(diagnosis.everywhere);
  if (why !== '') parts.push(`${why}.`);
  if (afterwards !== '') parts.push(afterwards);
  return parts.join(' ');
}

export const textOf = ({ reasons }: Rejection): string => reasons.map(({ text }) => text).join(', ');

function histogram({ nodes, byNode, others }: Diagnosis): string {
  const counts = new Map<string, number>();
  const count = (rejection: Rejection, times: number): void => {
    for (const { text } of rejection.reasons) counts.set(text, (counts.get(text) ?? 0) + times);
  };
  for (const rejection of byNode.values()) count(rejection, 1);
  if (others !== undefined && byNode.size < nodes) count(others, nodes - byNode.size);
  return [...counts]
    .map(([text, times]) => `${times} ${text}`)
    .sort()
    .join(', ');
}

/** The plugins that rejected the pod. Their queueing hints decide which events may help. */
export function unschedulablePlugins({ everywhere, byNode, restrictedBy }: Diagnosis): ReadonlySet<string> {
  const names = new Set(restrictedBy);
  if (everywhere !== undefined) names.add(everywhere.plugin);
  for (const { plugin } of byNode.values()) names.add(plugin);
  return names;
}

/** The plugins that returned Pending. */
export function pendingPlugins({ everywhere, byNode }: Diagnosis): ReadonlySet<string> {
  const all = everywhere === undefined ? byNode.values() : [everywhere];
  return new Set([...all].filter(({ code }) => code === 'pending').map(({ plugin }) => plugin));
}
