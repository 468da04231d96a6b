/**
 * What the scheduler would do, on its own cache and with its own plugins: pods are assumed on nodes, nodes are added and taken away, and everything is
 * undone in the end. The plugins' reservations hold meanwhile: once a pod is placed, its claims have a selected node for the pods that follow.
 */
import type { Node } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { isFailure, type ClusterEvent, type NodeInfo, type Plugin, type PodInfo, type Rejection } from '../../scheduler/framework.ts';
import { type PodCycle, runPreFilterPlugins } from '../../scheduler/pod-cycle.ts';
import type { SchedulerCache } from '../../scheduler/scheduler-cache.ts';

/** `rejected`: no node at all is feasible. */
export type PreparedPod = { readonly type: 'ready'; readonly cycle: PodCycle; readonly only: ReadonlySet<string> | undefined } | RejectedPod;
interface RejectedPod {
  readonly type: 'rejected';
  readonly why: string;
}

export class SchedulingSimulation {
  readonly #cache: SchedulerCache;
  readonly #plugins: readonly Plugin[];
  readonly #undo: (() => void)[] = [];
  readonly #planned = new Map<string, Stored<Node>>();

  constructor(cache: SchedulerCache, plugins: readonly Plugin[]) {
    this.#cache = cache;
    this.#plugins = plugins;
  }

  /** The pod is on no node. */
  takePod({ uid }: PodInfo): void {
    const pod = this.#cache.pod(uid);
    if (pod === undefined) return;
    this.#cache.removePod(uid);
    this.#undo.push(() => this.#cache.setPod(pod));
  }

  takeNode(name: string): void {
    const info = this.#cache.node(name);
    if (info === undefined) return;
    const node = info.node as Stored<Node>;
    this.#cache.removeNode(name);
    this.#observe({ resource: 'node', before: node, after: undefined });
    this.#undo.push(() => {
      this.#cache.setNode(node);
      this.#observe({ resource: 'node', before: undefined, after: node });
    });
  }

  /** Adds a node, or replaces it. */
  setNode(node: Node): NodeInfo {
    const stored = node as Stored<Node>;
    const { name } = stored.metadata;
    const before = this.#planned.get(name);
    this.#cache.setNode(stored);
    this.#observe(before === undefined ? { resource: 'node', before, after: stored } : { resource: 'node', before, after: stored });
    if (before === undefined) this.#undo.push(() => this.removePlanned(name));
    this.#planned.set(name, stored);
    const info = this.#cache.node(name);
    if (info === undefined) throw new Error(`the cache has no node ${name}`);
    return info;
  }

  removePlanned(name: string): void {
    const before = this.#planned.get(name);
    if (before === undefined) return;
    this.#planned.delete(name);
    this.#cache.removeNode(name);
    this.#observe({ resource: 'node', before, after: undefined });
  }

  prepare(pod: PodInfo): PreparedPod {
    const prepared = runPreFilterPlugins(pod, this.#plugins, this.#cache);
    switch (prepared.type) {
      case 'failed':
        return { type: 'rejected', why: prepared.message };
      case 'rejected':
        return { type: 'rejected', why: textOf(prepared.rejection) };
      case 'ready':
        return { type: 'ready', cycle: prepared.cycle, only: prepared.nodeNames };
    }
  }

  /** Undefined: the pod may be placed there. Otherwise the scheduler's reason. */
  rejection(prepared: PreparedPod, node: NodeInfo): string | undefined {
    if (prepared.type === 'rejected') return prepared.why;
    if (prepared.only !== undefined && !prepared.only.has(node.name)) return 'the pod names its node';
    const verdict = prepared.cycle.filter(node);
    if (verdict === undefined) return undefined;
    return isFailure(verdict) ? verdict.message : textOf(verdict);
  }

  /** False: a plugin could not reserve what the pod needs. */
  place(prepared: PreparedPod, node: NodeInfo): boolean {
    if (prepared.type === 'rejected') return false;
    const { cycle } = prepared;
    const { pod } = cycle;
    this.#cache.assumePod(pod, node.name);
    for (const { cycle: plugin } of cycle.plugins) {
      if (plugin.reserve?.(node) === undefined) continue;
      cycle.unreserve(node);
      this.#cache.forgetPod(pod.uid);
      return false;
    }
    this.#undo.push(() => {
      cycle.unreserve(node);
      this.#cache.forgetPod(pod.uid);
    });
    return true;
  }

  /** The cache is as it was. */
  rollback(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo();
  }

  #observe(change: Extract<ClusterEvent, { resource: 'node' }>): void {
    for (const plugin of this.#plugins) plugin.observe?.(change);
  }
}

const textOf = ({ reasons }: Rejection): string => reasons.map(({ text }) => text).join(', ');
