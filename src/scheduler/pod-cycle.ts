import {
  type ClusterSnapshot,
  type CyclePlugin,
  isFailure,
  type NodeInfo,
  type Plugin,
  type PluginFailure,
  type PodInfo,
  type Rejection,
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

  constructor(pod: PodInfo, prepared: readonly PreparedPlugin[]) {
    this.pod = pod;
    this.plugins = prepared;
    this.#filters = prepared.flatMap(({ cycle }) => (cycle.filter === undefined ? [] : [cycle as Required<Pick<CyclePlugin, 'filter'>>]));
  }

  /** The verdict of the first plugin that rejects the node. */
  filter(node: NodeInfo): Rejection | PluginFailure | undefined {
    for (const cycle of this.#filters) {
      const verdict = cycle.filter(node);
      if (verdict !== undefined) return verdict;
    }
    return undefined;
  }

  addPod(pod: PodInfo, node: NodeInfo): void {
    for (const { cycle } of this.plugins) cycle.addPod?.(pod, node);
  }

  removePod(pod: PodInfo, node: NodeInfo): void {
    for (const { cycle } of this.plugins) cycle.removePod?.(pod, node);
  }

  /** For a dry run. */
  copy(): PodCycle {
    return new PodCycle(
      this.pod,
      this.plugins.map(({ plugin, cycle }) => ({ plugin, cycle: cycle.clone?.() ?? cycle })),
    );
  }

  unreserve(node: NodeInfo): void {
    for (const { cycle } of this.plugins.toReversed()) cycle.unreserve?.(node);
  }
}

/** `rejected`: no node is feasible. `cycle` is set if preemption could help: then PreFilter ran for every plugin. */
export type PreFilterResult =
  | { readonly type: 'ready'; readonly cycle: PodCycle; readonly nodeNames: ReadonlySet<string> | undefined; readonly restrictedBy: readonly string[] }
  | { readonly type: 'rejected'; readonly rejection: Rejection; readonly cycle: PodCycle | undefined; readonly restrictedBy: readonly string[] }
  | { readonly type: 'failed'; readonly message: string };

export function runPreFilterPlugins(pod: PodInfo, plugins: readonly Plugin[], snapshot: ClusterSnapshot): PreFilterResult {
  const prepared: PreparedPlugin[] = [];
  let rejected: Rejection | undefined;
  let nodeNames: ReadonlySet<string> | undefined;
  const restrictedBy: string[] = [];
  for (const plugin of plugins) {
    const result = plugin.preFilter(pod, snapshot);
    if (result === 'skip') continue;
    if ('code' in result) {
      if (isFailure(result)) return { type: 'failed', message: `running PreFilter plugin "${plugin.name}": ${result.message}` };
      if (result.code !== 'unschedulable') return { type: 'rejected', rejection: result, cycle: undefined, restrictedBy };
      rejected = result;
      continue;
    }
    prepared.push({ plugin, cycle: result });
    if (result.nodeNames === undefined) continue;
    restrictedBy.push(plugin.name);
    nodeNames = nodeNames === undefined ? result.nodeNames : intersection(nodeNames, result.nodeNames);
    if (nodeNames.size === 0) return { type: 'rejected', rejection: noNodeLeft(restrictedBy), cycle: undefined, restrictedBy };
  }
  const cycle = new PodCycle(pod, prepared);
  return rejected === undefined ? { type: 'ready', cycle, nodeNames, restrictedBy } : { type: 'rejected', rejection: rejected, cycle, restrictedBy };
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
