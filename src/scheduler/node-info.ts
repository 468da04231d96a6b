import type { Node, Taint } from '../api/generated/types.ts';
import type { Labels } from '../api/selectors/label-selector.ts';
import { addAmountsTo, type Amounts, copyAmounts, noAmounts, nodeAmounts } from './amounts.ts';
import { anyAddress, type HostPort, type PodInfo } from './pod-info.ts';

/** A node, and the resources that its pods (assumed pods included) take. Read-only for plugins. */
export interface NodeInfo {
  readonly name: string;
  readonly node: Node;
  readonly labels: Labels | undefined;
  /** With effect NoSchedule or NoExecute. */
  readonly repellingTaints: readonly Taint[];
  /** With effect PreferNoSchedule. */
  readonly avoidedTaints: readonly Taint[];
  readonly pods: readonly PodInfo[];
  /** With any affinity or anti-affinity to other pods; with required anti-affinity. */
  readonly podsWithAffinity: readonly PodInfo[];
  readonly podsWithAntiAffinity: readonly PodInfo[];
  readonly allocatable: Readonly<Amounts>;
  readonly requested: Readonly<Amounts>;
  /** NonZeroRequested, see `PodInfo.scoredCpu`. */
  readonly scoredCpu: number;
  readonly scoredMemory: number;
  /** By named claim ('namespace/name'): how many pods of the node use it. */
  readonly claimUsers: ReadonlyMap<string, number>;
  /** Increases with every change of the node or its pods, and is unique over all nodes: a key for derived data. */
  readonly generation: number;
  isPortFree(port: HostPort): boolean;
}

export const repellingTaints = ({ spec }: Node): readonly Taint[] =>
  (spec.taints ?? []).filter(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute');

let generations = 0;

/** The NodeInfo of the scheduler cache. Dry runs copy it. */
export class LiveNodeInfo implements NodeInfo {
  readonly name: string;
  node: Node;
  labels: Labels | undefined;
  repellingTaints: readonly Taint[] = [];
  avoidedTaints: readonly Taint[] = [];
  pods: PodInfo[] = [];
  podsWithAffinity: PodInfo[] = [];
  podsWithAntiAffinity: PodInfo[] = [];
  allocatable: Amounts = noAmounts();
  requested: Amounts = noAmounts();
  scoredCpu = 0;
  scoredMemory = 0;
  claimUsers = new Map<string, number>();
  generation = 0;
  /** By protocol and port: how many pods use each address. */
  #ports = new Map<string, Map<string, number>>();

  constructor(node: Node) {
    this.name = node.metadata.name ?? '';
    this.node = node;
    this.setNode(node);
  }

  setNode(node: Node): void {
    this.node = node;
    this.labels = node.metadata.labels;
    this.repellingTaints = repellingTaints(node);
    this.avoidedTaints = (node.spec.taints ?? []).filter(({ effect }) => effect === 'PreferNoSchedule');
    this.allocatable = nodeAmounts(node);
    this.generation = ++generations;
  }

  addPod(pod: PodInfo): void {
    this.pods.push(pod);
    if (pod.affinity !== undefined) {
      this.podsWithAffinity.push(pod);
      if (pod.affinity.requiredAnti.length > 0) this.podsWithAntiAffinity.push(pod);
    }
    this.#count(pod, 1);
  }

  removePod({ uid }: PodInfo): boolean {
    const removed = takeOut(this.pods, uid);
    if (removed === undefined) return false;
    if (removed.affinity !== undefined) {
      takeOut(this.podsWithAffinity, uid);
      takeOut(this.podsWithAntiAffinity, uid);
    }
    this.#count(removed, -1);
    return true;
  }

  /** For a dry run. */
  copy(): LiveNodeInfo {
    const copy = new LiveNodeInfo(this.node);
    copy.pods = [...this.pods];
    copy.podsWithAffinity = [...this.podsWithAffinity];
    copy.podsWithAntiAffinity = [...this.podsWithAntiAffinity];
    copy.requested = copyAmounts(this.requested);
    copy.scoredCpu = this.scoredCpu;
    copy.scoredMemory = this.scoredMemory;
    copy.claimUsers = new Map(this.claimUsers);
    copy.#ports = new Map([...this.#ports].map(([port, addresses]) => [port, new Map(addresses)]));
    return copy;
  }

  isPortFree({ ip, protocol, port }: HostPort): boolean {
    const addresses = this.#ports.get(`${protocol}/${port}`);
    if (addresses === undefined) return true;
    return ip === anyAddress ? false : !addresses.has(ip) && !addresses.has(anyAddress);
  }

  #count(pod: PodInfo, times: 1 | -1): void {
    addAmountsTo(this.requested, pod.requests, times);
    this.scoredCpu += times * pod.scoredCpu;
    this.scoredMemory += times * pod.scoredMemory;
    for (const { ip, protocol, port } of pod.hostPorts) {
      const key = `${protocol}/${port}`;
      let addresses = this.#ports.get(key);
      if (addresses === undefined) this.#ports.set(key, (addresses = new Map()));
      countUp(addresses, ip, times);
      if (addresses.size === 0) this.#ports.delete(key);
    }
    for (const key of pod.namedClaims) countUp(this.claimUsers, key, times);
    this.generation = ++generations;
  }
}

function takeOut(pods: PodInfo[], uid: string): PodInfo | undefined {
  const at = pods.findIndex((pod) => pod.uid === uid);
  if (at === -1) return undefined;
  const found = pods[at];
  const last = pods.pop();
  if (last !== undefined && at < pods.length) pods[at] = last;
  return found;
}

export function countUp(counts: Map<string, number>, key: string, times: number): void {
  const count = (counts.get(key) ?? 0) + times;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
