import { type Failure, isFailure, type NodeInfo, type Plugin, type PodInfo, type Rejection, type Snapshot, type Stages } from './framework.ts';

/** What one plugin does with one pod. */
export interface PluginStages {
  readonly plugin: Plugin;
  readonly stages: Stages;
}

/** All that the plugins make of one pod in one cycle. */
export class PodRun {
  readonly pod: PodInfo;
  readonly parts: readonly PluginStages[];
  readonly #filters: readonly Required<Pick<Stages, 'filter'>>[];

  constructor(pod: PodInfo, parts: readonly PluginStages[]) {
    this.pod = pod;
    this.parts = parts;
    this.#filters = parts.flatMap(({ stages }) => (stages.filter === undefined ? [] : [stages as Required<Pick<Stages, 'filter'>>]));
  }

  /** The first plugin that objects to the node. */
  filter(node: NodeInfo): Rejection | Failure | undefined {
    for (const stages of this.#filters) {
      const verdict = stages.filter(node);
      if (verdict !== undefined) return verdict;
    }
    return undefined;
  }

  addPod(pod: PodInfo, node: NodeInfo): void {
    for (const { stages } of this.parts) stages.addPod?.(pod, node);
  }

  removePod(pod: PodInfo, node: NodeInfo): void {
    for (const { stages } of this.parts) stages.removePod?.(pod, node);
  }

  /** For a what-if: it can be changed without anybody noticing. */
  copy(): PodRun {
    return new PodRun(
      this.pod,
      this.parts.map(({ plugin, stages }) => ({ plugin, stages: stages.clone?.() ?? stages })),
    );
  }

  unreserve(node: NodeInfo): void {
    for (const { stages } of this.parts.toReversed()) stages.unreserve?.(node);
  }
}

/**
 * - `ready`: each plugin has had its say
 * - `rejected`: the pod can go nowhere. `run` is there if nodes that lose pods could help: then every plugin was asked
 */
export type Preparation =
  | { readonly type: 'ready'; readonly run: PodRun; readonly nodes: ReadonlySet<string> | undefined; readonly restrictedBy: readonly string[] }
  | { readonly type: 'rejected'; readonly rejection: Rejection; readonly run: PodRun | undefined; readonly restrictedBy: readonly string[] }
  | { readonly type: 'failed'; readonly message: string };

/** PreFilter. */
export function prepare(pod: PodInfo, plugins: readonly Plugin[], snapshot: Snapshot): Preparation {
  const parts: PluginStages[] = [];
  let rejected: Rejection | undefined;
  let nodes: ReadonlySet<string> | undefined;
  const restrictedBy: string[] = [];
  for (const plugin of plugins) {
    const prepared = plugin.prepare(pod, snapshot);
    if (prepared === 'skip') continue;
    if ('code' in prepared) {
      if (isFailure(prepared)) return { type: 'failed', message: `running PreFilter plugin "${plugin.name}": ${prepared.message}` };
      if (prepared.code !== 'unschedulable') return { type: 'rejected', rejection: prepared, run: undefined, restrictedBy };
      rejected = prepared;
      continue;
    }
    parts.push({ plugin, stages: prepared });
    if (prepared.nodes === undefined) continue;
    restrictedBy.push(plugin.name);
    nodes = nodes === undefined ? prepared.nodes : intersection(nodes, prepared.nodes);
    if (nodes.size === 0) return { type: 'rejected', rejection: apart(restrictedBy), run: undefined, restrictedBy };
  }
  const run = new PodRun(pod, parts);
  return rejected === undefined ? { type: 'ready', run, nodes, restrictedBy } : { type: 'rejected', rejection: rejected, run, restrictedBy };
}

const intersection = (a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> => new Set([...a].filter((item) => b.has(item)));

function apart(plugins: readonly string[]): Rejection {
  const [first = '', ...others] = plugins.toSorted();
  const text = others.length === 0 ? `node(s) didn't satisfy plugin ${first}` : `${excludedText(plugins)} simultaneously`;
  return { code: 'unresolvable', plugin: first, reasons: [{ text, rule: 'nodeNames' }] };
}

/** What the nodes say that plugins excluded by name. */
export const excludedBy = (plugins: readonly string[]): Rejection => ({
  code: 'unresolvable',
  plugin: plugins[0] ?? '',
  reasons: [{ text: excludedText(plugins), rule: 'nodeNames' }],
});

const excludedText = (plugins: readonly string[]): string => `node(s) didn't satisfy plugin(s) [${plugins.toSorted().join(' ')}]`;
