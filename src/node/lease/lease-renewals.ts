import type { Lease, Node } from '../../api/generated/types.ts';
import { leaseKind } from '../../api/kinds/coordination/lease.ts';
import type { Client } from '../../client/client.ts';
import type { Cancel, World } from '../../world/world.ts';
import { leaseNamespace, renewedLease, renewEveryMs } from './lease.ts';

export interface LeaseRenewalsOptions {
  readonly world: Pick<World, 'clock' | 'timers' | 'log'>;
  readonly clientOf: (node: string) => Client;
  /** Undefined: it is not registered, or was deleted; its lease is not renewed. */
  readonly node: (name: string) => Node | undefined;
}

/**
 * Renews the leases of many nodes, each every ten seconds. The nodes are spread over forty slots of those ten seconds. The leases of one
 * slot are written together, so that the store commits them together: a thousand nodes cost four commits a second.
 *
 * The leases are not watched: an agent is the only writer of its own, and knows what it wrote last.
 */
export class LeaseRenewals {
  readonly #options: LeaseRenewalsOptions;
  /** By slot. */
  readonly #slots = new Map<number, { readonly nodes: string[]; cancel: Cancel }>();
  readonly #latest = new Map<string, Lease>();
  readonly #underWay = new Set<string>();
  #known = 0;
  #stopped = false;

  constructor(options: LeaseRenewalsOptions) {
    this.#options = options;
  }

  /** Renews the node's lease from now on. */
  add(node: string): void {
    // Steps of seventeen reach every slot, far apart, however few nodes there are.
    const number = (this.#known++ * 17) % slotCount;
    const slot = this.#slots.get(number);
    if (slot !== undefined) slot.nodes.push(node);
    else this.#open(number, node);
    void this.#renew(node);
  }

  remove(node: string): void {
    this.#latest.delete(node);
    for (const [number, slot] of this.#slots) {
      const index = slot.nodes.indexOf(node);
      if (index === -1) continue;
      slot.nodes.splice(index, 1);
      if (slot.nodes.length > 0) return;
      slot.cancel();
      this.#slots.delete(number);
      return;
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const { cancel } of this.#slots.values()) cancel();
  }

  #open(number: number, node: string): void {
    const slot = { nodes: [node], cancel: () => undefined as void };
    const plan = (ms: number): void => {
      slot.cancel = this.#options.world.timers.after(ms, () => {
        for (const each of slot.nodes) void this.#renew(each);
        plan(renewEveryMs);
      });
    };
    plan(((number + 1) * renewEveryMs) / slotCount);
    this.#slots.set(number, slot);
  }

  async #renew(name: string): Promise<void> {
    // One renewal at a time, even if the server takes longer than ten seconds.
    if (this.#stopped || this.#underWay.has(name)) return;
    this.#underWay.add(name);
    const problem = await this.#tryTwice(name);
    this.#underWay.delete(name);
    if (problem !== undefined) this.#options.world.log.warn('cannot renew a lease', { node: name, why: problem });
  }

  /** If another client changed or deleted the lease, it is read again. */
  async #tryTwice(name: string): Promise<string | undefined> {
    const node = this.#options.node(name);
    if (node === undefined) return void this.#latest.delete(name);
    const client = this.#options.clientOf(name);
    const known = this.#latest.get(name);
    if (known !== undefined && (await this.#write(client, known, node)) === undefined) return undefined;
    const found = await client.get(leaseKind, { namespace: leaseNamespace, name });
    if (!found.ok && found.reason !== 'notFound') return found.error.message;
    return this.#write(client, found.ok ? found.value : undefined, node);
  }

  async #write(client: Client, latest: Lease | undefined, node: Node): Promise<string | undefined> {
    const lease = renewedLease(latest, node, this.#options.world.clock.now());
    const written = latest === undefined ? await client.create(leaseKind, lease) : await client.update(leaseKind, lease);
    if (!written.ok) {
      this.#latest.delete(node.metadata.name ?? '');
      return written.error.message;
    }
    this.#latest.set(node.metadata.name ?? '', written.value);
    return undefined;
  }
}

const slotCount = 40;
