import type { PodInfo } from './framework.ts';

/**
 * The nominator: pods nominated to a node whose victims still have to terminate. Pods of the same or a lower priority must not take the
 * room meanwhile. Updated before the API server has the nomination, since the next scheduling cycle starts earlier.
 */
export class NominatedPods {
  readonly #byNode = new Map<string, Map<string, PodInfo>>();
  readonly #nodeOf = new Map<string, string>();

  /** nodeName '': not nominated. */
  set(pod: PodInfo, nodeName: string): void {
    this.delete(pod.uid);
    if (nodeName === '') return;
    this.#nodeOf.set(pod.uid, nodeName);
    const pods = this.#byNode.get(nodeName);
    if (pods === undefined) this.#byNode.set(nodeName, new Map([[pod.uid, pod]]));
    else pods.set(pod.uid, pod);
  }

  /** The pod's status counts, unless it has no nomination before and after: then the write of the nomination is in flight. */
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
