import type { Node } from '../api/generated/types.ts';
import { deepEqual } from '../api/schema/plain-object.ts';
import type { LabelSelector } from '../api/selectors/label-selector.ts';
import type { ClusterSnapshot } from './framework.ts';
import { countUp, LiveNodeInfo } from './node-info.ts';
import { NodeTree } from './node-tree.ts';
import { placedOn, type PodInfo } from './pod-info.ts';
import { type SelectedPods, SelectedPodsIndex } from './selected-pods.ts';

/**
 * The scheduler cache (kube-scheduler's backend/cache): nodes and the pods on them, updated by each event.
 *
 * A pod is *assumed* on its node before the API server knows. What the API server shows wins:
 *
 *     assume p on n1             → counts on n1
 *     watch event: p is on n1    → counts on n1, no longer assumed
 *     watch event: p is on n2    → counts on n2 (bound by another scheduler)
 *     binding failed: forget p   → counts nowhere
 *
 * Pods on nodes that do not exist are kept: the node may be created later.
 */
export class SchedulerCache implements ClusterSnapshot {
  readonly views: ClusterSnapshot['views'];
  readonly nodesWithAffinity = new Set<LiveNodeInfo>();
  readonly nodesWithAntiAffinity = new Set<LiveNodeInfo>();
  readonly #nodes = new Map<string, LiveNodeInfo>();
  readonly #order = new NodeTree();
  /** By uid: every pod with a node, assumed pods included. */
  readonly #pods = new Map<string, PodInfo>();
  readonly #assumed = new Set<string>();
  /** By the name of a node that does not exist. */
  readonly #stranded = new Map<string, Map<string, PodInfo>>();
  readonly #byNamespace = new Map<string, Map<string, PodInfo>>();
  readonly #claimUsers = new Map<string, number>();
  readonly #selectedPods = new SelectedPodsIndex(this);

  constructor(views: ClusterSnapshot['views']) {
    this.views = views;
  }

  get nodes(): readonly LiveNodeInfo[] {
    return this.#order.list;
  }

  node(name: string): LiveNodeInfo | undefined {
    return this.#nodes.get(name);
  }

  podsIn(namespace: string): Iterable<PodInfo> {
    return this.#byNamespace.get(namespace)?.values() ?? [];
  }

  selectedPods(namespace: string, selector: LabelSelector): SelectedPods {
    return this.#selectedPods.of(namespace, selector);
  }

  get namespacesWithPods(): Iterable<string> {
    return this.#byNamespace.keys();
  }

  claimUsers(claimKey: string): number {
    return this.#claimUsers.get(claimKey) ?? 0;
  }

  pod(uid: string): PodInfo | undefined {
    return this.#pods.get(uid);
  }

  isAssumedPod(uid: string): boolean {
    return this.#assumed.has(uid);
  }

  setNode(node: Node): void {
    const name = node.metadata.name ?? '';
    let info = this.#nodes.get(name);
    if (info === undefined) {
      info = new LiveNodeInfo(node);
      this.#nodes.set(name, info);
      for (const pod of this.#stranded.get(name)?.values() ?? []) this.#attach(pod, info);
      this.#stranded.delete(name);
    } else {
      if (!deepEqual(info.labels, node.metadata.labels)) this.#selectedPods.clear();
      info.setNode(node);
    }
    this.#order.set(info);
  }

  removeNode(name: string): void {
    const info = this.#nodes.get(name);
    if (info === undefined) return;
    this.#nodes.delete(name);
    this.#order.remove(info);
    this.nodesWithAffinity.delete(info);
    this.nodesWithAntiAffinity.delete(info);
    for (const pod of info.pods) this.#strand(pod);
    if (info.pods.length > 0) this.#selectedPods.clear();
  }

  /** A watch event shows the pod on its node. */
  setPod(pod: PodInfo): void {
    this.#assumed.delete(pod.uid);
    this.#remove(pod.uid);
    this.#add(pod);
  }

  /** The pod was deleted, or has terminated. */
  removePod(uid: string): void {
    this.#assumed.delete(uid);
    this.#remove(uid);
  }

  assumePod(pod: PodInfo, nodeName: string): void {
    this.#remove(pod.uid);
    this.#add(placedOn(pod, nodeName));
    this.#assumed.add(pod.uid);
  }

  /** Its binding failed. Does nothing if a watch event has replaced the assumption. */
  forgetPod(uid: string): boolean {
    if (!this.#assumed.delete(uid)) return false;
    this.#remove(uid);
    return true;
  }

  #add(pod: PodInfo): void {
    this.#pods.set(pod.uid, pod);
    let members = this.#byNamespace.get(pod.namespace);
    if (members === undefined) this.#byNamespace.set(pod.namespace, (members = new Map()));
    members.set(pod.uid, pod);
    for (const key of pod.namedClaims) countUp(this.#claimUsers, key, 1);
    const info = this.#nodes.get(pod.nodeName);
    if (info === undefined) this.#strand(pod);
    else this.#attach(pod, info);
  }

  #remove(uid: string): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    this.#pods.delete(uid);
    const members = this.#byNamespace.get(pod.namespace);
    members?.delete(uid);
    if (members?.size === 0) this.#byNamespace.delete(pod.namespace);
    for (const key of pod.namedClaims) countUp(this.#claimUsers, key, -1);
    const info = this.#nodes.get(pod.nodeName);
    if (info === undefined) this.#unstrand(pod);
    else this.#detach(pod, info);
  }

  #attach(pod: PodInfo, info: LiveNodeInfo): void {
    info.addPod(pod);
    this.#selectedPods.podChanged(pod, info, 1);
    this.#noteAffinity(info);
  }

  #detach(pod: PodInfo, info: LiveNodeInfo): void {
    info.removePod(pod);
    this.#selectedPods.podChanged(pod, info, -1);
    this.#noteAffinity(info);
  }

  #noteAffinity(info: LiveNodeInfo): void {
    toggle(this.nodesWithAffinity, info, info.podsWithAffinity.length > 0);
    toggle(this.nodesWithAntiAffinity, info, info.podsWithAntiAffinity.length > 0);
  }

  #strand(pod: PodInfo): void {
    const stranded = this.#stranded.get(pod.nodeName);
    if (stranded === undefined) this.#stranded.set(pod.nodeName, new Map([[pod.uid, pod]]));
    else stranded.set(pod.uid, pod);
  }

  #unstrand(pod: PodInfo): void {
    const stranded = this.#stranded.get(pod.nodeName);
    stranded?.delete(pod.uid);
    if (stranded?.size === 0) this.#stranded.delete(pod.nodeName);
  }
}

function toggle<T>(set: Set<T>, item: T, isIn: boolean): void {
  if (isIn) set.add(item);
  else set.delete(item);
}
