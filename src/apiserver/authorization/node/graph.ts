import type { PersistentVolume, Pod } from '../../../api/generated/types.ts';
import { volumeReferences } from './volume-references.ts';
import { podReferences, type Reference } from './pod-references.ts';

/** Kinds that a node may reach through its pods, and its pods and attachments themselves. */
export type GraphVertexKind = Reference['kind'] | 'pods' | 'persistentvolumes' | 'volumeattachments';

export interface GraphVertex {
  readonly kind: GraphVertexKind;
  /** '' for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

/** References of each node's pods. */
type NodeCounts = Map<string, number>;

interface PodVertex {
  readonly node: string;
  readonly references: readonly string[];
}

interface VolumeVertex {
  readonly claim: string;
  readonly secrets: readonly string[];
}

const keyOf = ({ kind, namespace, name }: GraphVertex): string => `${kind} ${namespace}/${name}`;

/**
 * The node authorizer's graph: from nodes to their pods, the objects that pods refer to, the PVs bound to their claims, and the secrets of
 * those. A query costs as much as the object has volumes, whatever the size of the cluster. (v1.36.4: plugin/pkg/auth/authorizer/node/graph.go)
 *
 * Caveat: mirror pods add no references: a node creates them itself.
 */
export class NodeGraph {
  readonly #pods = new Map<string, PodVertex>();
  readonly #nodesOf = new Map<string, NodeCounts>();
  readonly #volumes = new Map<string, VolumeVertex>();
  /** PVs by secret. */
  readonly #volumesOf = new Map<string, Set<string>>();
  readonly #attachments = new Map<string, string>();

  /** A pod that has a node. Only ephemeral containers change its references. */
  putPod(pod: Pod): void {
    const { namespace = '', name = '' } = pod.metadata;
    this.removePod(namespace, name);
    const references = podReferences(pod).map(keyOf);
    const node = pod.spec.nodeName ?? '';
    this.#pods.set(`${namespace}/${name}`, { node, references });
    for (const key of references) {
      const nodes = this.#nodesOf.get(key) ?? new Map<string, number>();
      nodes.set(node, (nodes.get(node) ?? 0) + 1);
      this.#nodesOf.set(key, nodes);
    }
  }

  removePod(namespace: string, name: string): void {
    const known = this.#pods.get(`${namespace}/${name}`);
    if (known === undefined) return;
    this.#pods.delete(`${namespace}/${name}`);
    for (const key of known.references) {
      const nodes = this.#nodesOf.get(key);
      const count = (nodes?.get(known.node) ?? 0) - 1;
      if (count > 0) nodes?.set(known.node, count);
      else nodes?.delete(known.node);
      if (nodes?.size === 0) this.#nodesOf.delete(key);
    }
  }

  putVolume(volume: PersistentVolume): void {
    const { name = '' } = volume.metadata;
    this.removeVolume(name);
    const { claimRef } = volume.spec;
    if (claimRef === undefined) return;
    const claim = keyOf({ kind: 'persistentvolumeclaims', namespace: claimRef.namespace ?? '', name: claimRef.name ?? '' });
    const secrets = volumeReferences(volume).map(keyOf);
    this.#volumes.set(name, { claim, secrets });
    for (const secret of secrets) {
      const volumes = this.#volumesOf.get(secret) ?? new Set<string>();
      volumes.add(name);
      this.#volumesOf.set(secret, volumes);
    }
  }

  removeVolume(name: string): void {
    const known = this.#volumes.get(name);
    if (known === undefined) return;
    this.#volumes.delete(name);
    for (const secret of known.secrets) {
      const volumes = this.#volumesOf.get(secret);
      volumes?.delete(name);
      if (volumes?.size === 0) this.#volumesOf.delete(secret);
    }
  }

  putAttachment(name: string, node: string): void {
    this.#attachments.set(name, node);
  }

  removeAttachment(name: string): void {
    this.#attachments.delete(name);
  }

  hasPathTo(node: string, object: GraphVertex): boolean {
    switch (object.kind) {
      case 'pods':
        return this.#pods.get(`${object.namespace}/${object.name}`)?.node === node;
      case 'volumeattachments':
        return this.#attachments.get(object.name) === node;
      case 'persistentvolumes':
        return this.#usesVolume(node, object.name);
      case 'secrets': {
        const key = keyOf(object);
        return this.#refersTo(node, key) || [...(this.#volumesOf.get(key) ?? [])].some((volume) => this.#usesVolume(node, volume));
      }
      default:
        return this.#refersTo(node, keyOf(object));
    }
  }

  #refersTo(node: string, key: string): boolean {
    return this.#nodesOf.get(key)?.has(node) === true;
  }

  #usesVolume(node: string, name: string): boolean {
    const claim = this.#volumes.get(name)?.claim;
    return claim !== undefined && this.#refersTo(node, claim);
  }
}
