import type { Lease, Node } from '../../../api/generated/types.ts';
import type { Clock } from '../../../world/world.ts';
import { heartbeatOf, isMarkedUnreachable } from './conditions.ts';

/** Where kubelets renew their leases, each under the name of its node. */
export const leaseNamespace = 'kube-node-lease';

/**
 * When each node was last heard of, by this process' own clock, which neither jumps nor depends on theirs. A lease that is renewed
 * costs one look into a map: thousands of nodes renew theirs every ten seconds.
 */
export class NodeHeartbeats {
  readonly #clock: Clock;
  readonly #nodes = new Map<string, { heartbeat: string; at: number }>();
  /** By node: when its lease was last renewed, as the lease says; also of leases that are gone while their nodes are not. */
  readonly #renewals = new Map<string, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nodeChanged(node: Node): void {
    const name = node.metadata.name ?? '';
    const heartbeat = heartbeatOf(node);
    const known = this.#nodes.get(name);
    if (known?.heartbeat === heartbeat) return;
    const now = this.#clock.monotonic();
    // One that has never said anything is silent since it was made.
    const neverSpoke = known === undefined && !this.#renewals.has(name) && heartbeat === (node.metadata.creationTimestamp ?? '');
    this.#nodes.set(name, { heartbeat, at: neverSpoke ? now - Math.max(0, this.#clock.now() - Date.parse(heartbeat)) : now });
  }

  nodeDeleted(name: string, hasLease: boolean): void {
    this.#nodes.delete(name);
    if (!hasLease) this.#renewals.delete(name);
  }

  /** Whether it is the first of its node. */
  leaseRenewed({ metadata, spec }: Lease): boolean {
    const name = metadata.name ?? '';
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

  /** Nodes that never had a lease have nobody who would renew it: they are none of our business. */
  isFollowed(node: Node): boolean {
    return this.#renewals.has(node.metadata.name ?? '') || isMarkedUnreachable(node);
  }

  sinceHeartbeatMs(name: string): number {
    const known = this.#nodes.get(name);
    return known === undefined ? 0 : this.#clock.monotonic() - known.at;
  }

  /** It was we who did not hear. */
  resetAll(): void {
    const now = this.#clock.monotonic();
    for (const node of this.#nodes.values()) node.at = now;
  }
}
