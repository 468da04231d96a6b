import type { StoredMeta } from '../api/stored.ts';

/**
 * What the pods of each node have been given: admission, resources, an address. The pods' statuses say the same a moment later.
 * Between a decision and its write, this is what keeps two pods from getting the same address or the last of the memory.
 */
export class NodeAllocations {
  readonly #nodes = new Map<string, AllocationsOfNode>();

  admit(node: string, uid: string): void {
    this.#node(node).admitted.add(uid);
  }

  isAdmitted(node: string, uid: string): boolean {
    return this.#nodes.get(node)?.admitted.has(uid) ?? false;
  }

  /** The pod gets the resources that this generation of its spec asks for. */
  setResized(node: string, { uid, generation = 0 }: PodGeneration): void {
    this.#node(node).resized.set(uid, generation);
  }

  /** Whether the pod has got what its spec asks for since there was no capacity for it. */
  isResized(node: string, { uid, generation = 0 }: PodGeneration): boolean {
    return this.#nodes.get(node)?.resized.get(uid) === generation;
  }

  /** The pod's sandbox has this address from now on. */
  assign(node: string, uid: string, address: string): void {
    this.#node(node).addresses.set(uid, address);
  }

  /** Addresses of the node's pods, by uid. */
  addresses(node: string): ReadonlyMap<string, string> {
    return this.#nodes.get(node)?.addresses ?? noAddresses;
  }

  /** The pod's sandbox is gone. */
  release(node: string, uid: string): void {
    this.#nodes.get(node)?.addresses.delete(uid);
  }

  /** The pod is gone. */
  forget(node: string, uid: string): void {
    this.release(node, uid);
    this.#nodes.get(node)?.admitted.delete(uid);
    this.#nodes.get(node)?.resized.delete(uid);
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
    let allocations = this.#nodes.get(name);
    if (allocations === undefined) {
      allocations = { admitted: new Set(), resized: new Map(), addresses: new Map(), images: new Set() };
      this.#nodes.set(name, allocations);
    }
    return allocations;
  }
}

type PodGeneration = Pick<StoredMeta, 'uid' | 'generation'>;

interface AllocationsOfNode {
  /** uids */
  readonly admitted: Set<string>;
  /** Generations of pods' specs, by uid. */
  readonly resized: Map<string, number>;
  /** By uid; a pod on the host's network has none. */
  readonly addresses: Map<string, string>;
  readonly images: Set<string>;
}

const noAddresses: ReadonlyMap<string, string> = new Map();

/** A node forgets the images that it pulled long ago, as one whose disk is full does. */
const imageLimit = 200;
