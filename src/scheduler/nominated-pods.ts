import type { PodInfo } from './framework.ts';

/**
 * Pods that were promised a node on which others still have to make room: others of lower or the same priority must not take
 * that room meanwhile. Kept ahead of what the server knows, since the next pod's turn comes before the server answers.
 */
export class NominatedPods {
  readonly #byNode = new Map<string, Map<string, PodInfo>>();
  readonly #nodeOf = new Map<string, string>();

  /** '' for nodeName: it is promised none. */
  set(pod: PodInfo, nodeName: string): void {
    this.delete(pod.uid);
    if (nodeName === '') return;
    this.#nodeOf.set(pod.uid, nodeName);
    const pods = this.#byNode.get(nodeName);
    if (pods === undefined) this.#byNode.set(nodeName, new Map([[pod.uid, pod]]));
    else pods.set(pod.uid, pod);
  }

  /** The pod changed. What the server says counts, unless it says nothing before and after: then the promise is on its way to it. */
  update(before: PodInfo, after: PodInfo): void {
    const [then, now] = [nominatedNode(before), nominatedNode(after)];
    this.set(after, then === '' && now === '' ? (this.#nodeOf.get(after.uid) ?? '') : now);
  }

  delete(uid: string): void {
    const nodeName = this.#nodeOf.get(uid);
    if (nodeName === undefined) return;
    this.#nodeOf.delete(uid);
    const pods = this.#byNode.get(nodeName);
    pods?.delete(uid);
    if (pods?.size === 0) this.#byNode.delete(nodeName);
  }

  on(nodeName: string): Iterable<PodInfo> {
    return this.#byNode.get(nodeName)?.values() ?? [];
  }

  get isEmpty(): boolean {
    return this.#byNode.size === 0;
  }
}

export const nominatedNode = ({ pod }: PodInfo): string => pod.status.nominatedNodeName ?? '';
