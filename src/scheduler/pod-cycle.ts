import {
  type PluginFailure,
  isFailure,
  type NodeInfo,
  type Plugin,
  type PodInfo,
  type Rejection,
  type ClusterSnapshot,
  type CyclePlugin,
} from './framework.ts';

export interface PreparedPlugin {
  readonly plugin: Plugin;
  readonly cycle: CyclePlugin;
}

/** One pod's scheduling cycle: the plugins that PreFilter did not skip, each with its cycle state. */
export class PodCycle {
  readonly pod: PodInfo;
  readonly plugins: readonly PreparedPlugin[];
  readonly #filters: readonly Required<Pick<CyclePlugin, 'filter'>>[];

  constructor(pod: PodInfo, parts: readonly PreparedPlugin[]) {
    this.pod = pod;
    this.plugins = parts;
    this.#filters = parts.flatMap(({ cycle: stages }) => (stages.filter === undefined ? [] : [stages as Required<Pick<CyclePlugin, 'filter'>>]));
  }

  /** The verdict of the first plugin that rejects the node. */
  filter(node: NodeInfo): Rejection | PluginFailure | undefined {
    for (const stages of this.#filters) {
      const verdict = stages.filter(node);
      if (verdict !== undefined) return verdict;
    }
    return undefined;
  }

  addPod(pod: PodInfo, node: NodeInfo): void {
    for (const { cycle: stages } of this.plugins) stages.addPod?.(pod, node);
  }

  removePod(pod: PodInfo, node: NodeInfo): void {
    for (const { cycle: stages } of this.plugins) stages.removePod?.(pod, node);
  }

  /** For a dry run. */
  copy(): PodCycle {
    return new PodCycle(
      this.pod,
      this.plugins.map(({ plugin, cycle: stages }) => ({ plugin, cycle: stages.clone?.() ?? stages })),
    );
  }

  unreserve(node: NodeInfo): void {
    for (const { cycle: stages } of this.plugins.toReversed()) stages.unreserve?.(node);
  }
}

/**
 * - `rejected`: no node is feasible. `run` is set if preemption could help: then PreFilter ran for every plugin
 */
export type PreFilterResult =
  | { readonly type: 'ready'; readonly run: PodCycle; readonly nodeNames: ReadonlySet<string> | undefined; readonly restrictedBy: readonly string[] }
  | { readonly type: 'rejected'; readonly rejection: Rejection; readonly run: PodCycle | undefined; readonly restrictedBy: readonly string[] }
  | { readonly type: 'failed'; readonly message: string };

/** PreFilter. */
export function runPreFilterPlugins(pod: PodInfo, plugins: readonly Plugin[], snapshot: ClusterSnapshot): PreFilterResult {
  const parts: PreparedPlugin[] = [];
  let rejected: Rejection | undefined;
  let nodeNames: ReadonlySet<string> | undefined;
  const restrictedBy: string[] = [];
  for (const plugin of plugins) {
    const prepared = plugin.preFilter(pod, snapshot);
    if (prepared === 'skip') continue;
    if ('code' in prepared) {
      if (isFailure(prepared)) return { type: 'failed', message: `running PreFilter plugin "${plugin.name}": ${prepared.message}` };
      if (prepared.code !== 'unschedulable') return { type: 'rejected', rejection: prepared, run: undefined, restrictedBy };
      rejected = prepared;
      continue;
    }
    parts.push({ plugin, cycle: prepared });
    if (prepared.nodeNames === undefined) continue;
    restrictedBy.push(plugin.name);
    nodeNames = nodeNames === undefined ? prepared.nodeNames : intersection(nodeNames, prepared.nodeNames);
    if (nodeNames.size === 0) return { type: 'rejected', rejection: noNodeLeft(restrictedBy), run: undefined, restrictedBy };
  }
  const run = new PodCycle(pod, parts);
  return rejected === undefined ? { type: 'ready', run, nodeNames, restrictedBy } : { type: 'rejected', rejection: rejected, run, restrictedBy };
}

const intersection = (a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> => new Set([...a].filter((item) => b.has(item)));

function noNodeLeft(plugins: readonly string[]): Rejection {
  const [first = '', ...others] = plugins.toSorted();
  const text = others.length === 0 ? `node(s) didn't satisfy plugin ${first}` : `${excludedText(plugins)} simultaneously`;
  return { code: 'unresolvable', plugin: first, reasons: [{ text, rule: 'nodeNames' }] };
}

/** The rejection of the nodes that are in no PreFilterResult. */
export const excludedBy = (plugins: readonly string[]): Rejection => ({
  code: 'unresolvable',
  plugin: plugins[0] ?? '',
  reasons: [{ text: excludedText(plugins), rule: 'nodeNames' }],
});

const excludedText = (plugins: readonly string[]): string => `node(s) didn't satisfy plugin(s) [${plugins.toSorted().join(' ')}]`;
