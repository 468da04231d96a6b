import type { Rejection } from './framework.ts';

/** Why no node was found for a pod. */
export interface Diagnosis {
  /** How many there are. */
  readonly nodes: number;
  /** A plugin rejected the pod wherever it might go. */
  readonly everywhere: Rejection | undefined;
  /** What each node that was looked at said first. */
  readonly byNode: ReadonlyMap<string, Rejection>;
  /** What counts for the nodes that were not looked at. */
  readonly others: Rejection | undefined;
  /** The plugins that left only some nodes, by name. */
  readonly restrictedBy: readonly string[];
}

/** Of one or more nodes: '0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient memory.' */
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

/** Those whose change of mind could help: the names of the plugins that rejected the pod somewhere. */
export function unschedulablePlugins({ everywhere, byNode, restrictedBy }: Diagnosis): ReadonlySet<string> {
  const names = new Set(restrictedBy);
  if (everywhere !== undefined) names.add(everywhere.plugin);
  for (const { plugin } of byNode.values()) names.add(plugin);
  return names;
}

/** The same, of those that said no more than 'not yet'. */
export function pendingPlugins({ everywhere, byNode }: Diagnosis): ReadonlySet<string> {
  const all = everywhere === undefined ? byNode.values() : [everywhere];
  return new Set([...all].filter(({ code }) => code === 'pending').map(({ plugin }) => plugin));
}
