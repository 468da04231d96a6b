import type { ObjectMeta } from '../api/generated/types.ts';

/**
 * What the pods of each node hold: their place, an address, volumes. Pods' statuses say the same, a moment later; between
 * deciding and writing, this is what keeps two pods from getting the same address or the last of the memory.
 *
 * It also keeps volumes from being taken away from a pod that mounts them. The control plane takes no volume from a node
 * whose status calls it in use. So a volume may be mounted only while this agent stands by what the status says:
 *
 *     pod a ends           → the agent decides to call volume v in use no more:   withdraw(v)
 *     pod b wants v        → mayMount(v): no, although the status still lists it
 *     the status is sent   → settled: v is listed no more; pod b waits until it is again
 *
 * and only after it has sent a status itself: what an earlier process of the same agent had sent, and what arrives late, then
 * fails.
 */
export class NodeAllocations {
  readonly #nodes = new Map<string, AllocationsOfNode>();

  /** A pod was let in. */
  admit(node: string, uid: string): void {
    this.#node(node).admitted.add(uid);
  }

  /** A pod that asked for something else than before gets it. */
  setResized(node: string, { uid = '', generation = 0 }: PodIdentity): void {
    this.#node(node).given.set(uid, generation);
  }

  /** Whether it was given what it asks for since there was no room for it. */
  isResized(node: string, { uid = '', generation = 0 }: PodIdentity): boolean {
    return this.#nodes.get(node)?.given.get(uid) === generation;
  }

  isAdmitted(node: string, uid: string): boolean {
    return this.#nodes.get(node)?.admitted.has(uid) ?? false;
  }

  /** A pod has its volumes mounted and its address; for ever, until it is told otherwise. */
  assign(node: string, uid: string, holding: PodAssignment): void {
    this.#node(node).pods.set(uid, holding);
  }

  assignment(node: string, uid: string): PodAssignment | undefined {
    return this.#nodes.get(node)?.pods.get(uid);
  }

  /** Addresses that pods of the node hold. */
  *addresses(node: string): Generator<string> {
    for (const { address } of this.#nodes.get(node)?.pods.values() ?? []) if (address !== undefined) yield address;
  }

  /** Attachable volumes that pods of the node have mounted, as node statuses call them. */
  *mountedVolumes(node: string): Generator<string> {
    for (const { attached } of this.#nodes.get(node)?.pods.values() ?? []) yield* attached;
  }

  /** The pod has unmounted its volumes and given back its address. */
  release(node: string, uid: string): void {
    this.#nodes.get(node)?.pods.delete(uid);
  }

  /** The pod is gone. */
  forget(node: string, uid: string): void {
    this.release(node, uid);
    this.#nodes.get(node)?.admitted.delete(uid);
    this.#nodes.get(node)?.given.delete(uid);
  }

  mayMount(node: string, volume: string): boolean {
    const holdings = this.#nodes.get(node);
    return holdings !== undefined && holdings.hasReported && !holdings.withdrawn.has(volume);
  }

  /** The node's status is about to be sent without these volumes. */
  withdrawInUse(node: string, volumes: Iterable<string>): void {
    const { withdrawn } = this.#node(node);
    for (const volume of volumes) withdrawn.add(volume);
  }

  /** What became of a status is known. If it is not known, what it withdrew stays withdrawn until the next one. */
  confirmReported(node: string, outcome: 'sent' | 'refused'): void {
    const holdings = this.#node(node);
    holdings.withdrawn.clear();
    holdings.hasReported ||= outcome === 'sent';
  }

  hasImage(node: string, image: string): boolean {
    return this.#nodes.get(node)?.images.has(image) ?? false;
  }

  addImage(node: string, image: string): void {
    const { images } = this.#node(node);
    images.add(image);
    for (const oldest of images) {
      if (images.size <= imageLimit) return;
      images.delete(oldest);
    }
  }

  #node(name: string): AllocationsOfNode {
    let holdings = this.#nodes.get(name);
    if (holdings === undefined) {
      holdings = { admitted: new Set(), given: new Map(), pods: new Map(), withdrawn: new Set(), images: new Set(), hasReported: false };
      this.#nodes.set(name, holdings);
    }
    return holdings;
  }
}

type PodIdentity = Pick<ObjectMeta, 'uid' | 'generation'>;

export interface PodAssignment {
  /** Undefined: it uses the node's own. */
  readonly address: string | undefined;
  /** Its volumes that had to be attached, as node statuses call them. */
  readonly attached: readonly string[];
}

interface AllocationsOfNode {
  /** uids */
  readonly admitted: Set<string>;
  /** Generations of pods' specs, by uid. */
  readonly given: Map<string, number>;
  /** By uid. */
  readonly pods: Map<string, PodAssignment>;
  readonly withdrawn: Set<string>;
  readonly images: Set<string>;
  /** Since this process started. */
  hasReported: boolean;
}

/** A node forgets what it pulled long ago, as one with a disk of limited size does. */
const imageLimit = 200;
