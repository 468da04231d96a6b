/**
 * Runs the scheduler's own filter plugins for a pod and every node, on an object graph. The scheduler stops at the first plugin that rejects a
 * node; here every plugin runs.
 */
import type { Node, Pod } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { isSameTaint } from '../../api/taints.ts';
import { SchedulerCache } from '../../scheduler/scheduler-cache.ts';
import {
  type ClusterEvent,
  isFailure,
  type NodeInfo,
  type Plugin,
  type Rejection,
  type ResourceName,
  type ClusterSnapshot,
} from '../../scheduler/framework.ts';
import { defaultPlugins } from '../../scheduler/plugins/index.ts';
import { cordon } from '../../scheduler/plugins/node-unschedulable.ts';
import { readPod } from '../../scheduler/pod-info.ts';
import { volumePlugins } from '../../scheduler/plugins/volume-plugins.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';

export interface FilterResults {
  /** What keeps the pod from every node. */
  readonly everywhere: readonly Rejection[];
  readonly nodes: readonly { readonly node: NodeInfo; readonly rejections: readonly Rejection[] }[];
}

export function runFilters(pod: Pod, graph: ObjectGraph): FilterResults {
  const plugins = defaultPlugins(volumePlugins({ bindsTogether: true }));
  const cluster = schedulerCluster(graph, plugins);
  const pending = readPod(pod);
  const everywhere: Rejection[] = [];
  const stages = plugins.flatMap((plugin) => {
    const prepared = plugin.preFilter(pending, cluster);
    if (prepared === 'skip') return [];
    if (!('code' in prepared)) return [prepared];
    if (!isFailure(prepared) && isFounded(prepared, graph)) everywhere.push(prepared);
    return [];
  });
  const rejectionsOf = (node: NodeInfo): readonly Rejection[] =>
    stages.flatMap((each) => {
      const verdict = each.filter?.(node);
      return verdict === undefined || isFailure(verdict) || !isFounded(verdict, graph) ? [] : [verdict];
    });
  return { everywhere, nodes: cluster.nodes.map((node) => ({ node, rejections: rejectionsOf(node) })) };
}

/** Objects that could not be read prove nothing: neither that no such pod is near, nor that no capacity is reported. */
function isFounded({ reasons }: Rejection, graph: ObjectGraph): boolean {
  return reasons.every(({ rule }) => {
    if (rule === 'podAffinity' || rule === 'spread') return graph.wasRead('placed') && graph.wasRead('namespaces');
    return rule !== 'storageCapacity' || graph.wasRead('capacities');
  });
}

function schedulerCluster(graph: ObjectGraph, plugins: readonly Plugin[]): SchedulerCache {
  const lists = listsOf(graph);
  const views = Object.fromEntries(Object.entries(lists).map(([resource, list]) => [resource, new ListView(list)]));
  const cluster = new SchedulerCache(views as unknown as ClusterSnapshot['views']);
  for (const [resource, list] of Object.entries(lists)) {
    for (const after of list) {
      if (resource === 'node') cluster.setNode(after as Node);
      if (resource === 'pod') cluster.setPod(readPod(after as Pod));
      for (const plugin of plugins) plugin.observe?.({ resource, before: undefined, after } as unknown as ClusterEvent);
    }
  }
  return cluster;
}

/** Pods come last: plugins look up what they refer to. */
const listsOf = (graph: ObjectGraph): Readonly<Record<ResourceName, readonly KubeObject[]>> => ({
  node: graph.nodes.map(withoutCordonTaint),
  namespace: graph.namespaces,
  claim: graph.claims.map(({ object }) => object),
  volume: graph.volumes.map(({ object }) => object),
  storageClass: graph.classes,
  csiNode: graph.csiNodes,
  csiDriver: graph.drivers,
  storageCapacity: graph.capacities,
  attachment: graph.attachments,
  // These are for scoring and preemption only, not for filtering.
  disruptionBudget: [],
  service: [],
  replicaSet: [],
  statefulSet: [],
  pod: graph.placed,
});

/** A cordoned node has a taint for it, which goes with the cordon: one refusal is enough, with one fix. */
function withoutCordonTaint(node: Node): Node {
  const { unschedulable, taints } = node.spec;
  return unschedulable === true && taints !== undefined
    ? { ...node, spec: { ...node.spec, taints: taints.filter((taint) => !isSameTaint(taint, cordon)) } }
    : node;
}

class ListView<T extends KubeObject> {
  readonly #byKey: ReadonlyMap<string, T>;

  constructor(list: readonly T[]) {
    this.#byKey = new Map(list.map((object) => [keyOf(object), object]));
  }

  getKey(key: string): T | undefined {
    return this.#byKey.get(key);
  }

  list(): Iterable<T> {
    return this.#byKey.values();
  }

  get size(): number {
    return this.#byKey.size;
  }
}

const keyOf = ({ metadata: { namespace, name = '' } }: KubeObject): string => (namespace === undefined ? name : `${namespace}/${name}`);
