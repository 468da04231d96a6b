import type { Lease, Node } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Clock } from '../../../world/world.ts';
import { heartbeatOf, isMarkedUnreachable } from './conditions.ts';

/** The namespace of the kubelets' Leases, which are named like their nodes. */
export const leaseNamespace = 'kube-node-lease';

/**
 * The last heartbeat of each node, by this process' monotonic clock, which does not depend on the kubelets' clocks. A renewed Lease
 * costs one map lookup: thousands of nodes renew theirs every ten seconds.
 */
export class NodeHeartbeats {
  readonly #clock: Clock;
  readonly #nodes = new Map<string, { heartbeat: string; at: number }>();
  /** By node: the renewTime of its Lease. Kept for deleted Leases as long as their nodes exist. */
  readonly #renewals = new Map<string, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nodeChanged(node: Stored<Node>): void {
    const name = node.metadata.name;
    const heartbeat = heartbeatOf(node);
    const known = this.#nodes.get(name);
    if (known?.heartbeat === heartbeat) return;
    const now = this.#clock.monotonic();
    // A node without any heartbeat counts from its creation.
    const neverSpoke = known === undefined && !this.#renewals.has(name) && heartbeat === (node.metadata.creationTimestamp ?? '');
    this.#nodes.set(name, { heartbeat, at: neverSpoke ? now - Math.max(0, this.#clock.now() - Date.parse(heartbeat)) : now });
  }

  nodeDeleted(name: string, hasLease: boolean): void {
    this.#nodes.delete(name);
    if (!hasLease) this.#renewals.delete(name);
  }

  /** Whether it is the first Lease of its node. */
  leaseRenewed({ metadata, spec }: Stored<Lease>): boolean {
    const name = metadata.name;
    const before = this.#renewals.get(name);
    const renewed = spec.renewTime ?? '';
    if (before !== undefined && renewed <= before) return false;
    this.#renewals.set(name, renewed);
    const node = this.#nodes.get(name);
    if (node !== undefined) node.at = this.#clock.monotonic();
    return before === undefined;
  }

  leaseDeleted(name: string): void {
    if (!this.#nodes.has(name)) this.#renewals.delete(name);
  }

  /** Nodes that never had a Lease have no kubelet that renews it, and are not monitored. */
  isFollowed(node: Stored<Node>): boolean {
    return this.#renewals.has(node.metadata.name) || isMarkedUnreachable(node);
  }

  sinceHeartbeatMs(name: string): number {
    const known = this.#nodes.get(name);
    return known === undefined ? 0 : this.#clock.monotonic() - known.at;
  }

  /** The heartbeats were missing because this process was cut off, not the nodes. */
  resetAll(): void {
    const now = this.#clock.monotonic();
    for (const node of this.#nodes.values()) node.at = now;
  }
}
