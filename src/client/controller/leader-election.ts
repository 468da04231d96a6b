import type { Lease, LeaseSpec } from '../../api/generated/types.ts';
import type { Kind } from '../../api/kind.ts';
import type { Cancel, Log, World } from '../../world/world.ts';
import type { Client, Fence, Result } from '../client.ts';

export interface LeaderElectionOptions {
  readonly world: World;
  /** Must not be fenced itself. */
  readonly client: Client;
  readonly leaseKind: Kind<Lease>;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** The holder identity of the lease; each term adds a part of its own. */
  readonly identity: string;
  /** Take the lease even from a holder whose lease has not expired: another proof says that it is dead (the lock of the data directory). */
  readonly takeOver?: boolean;
  readonly timing?: LeaderElectionTiming;
  /** This process leads; all writes of its controllers go under this fence. */
  readonly onLeading: (fence: Fence) => void;
  /** This process no longer leads. Called once for each `onLeading`. */
  readonly onDeposed: () => void;
}

export interface LeaderElectionTiming {
  /** Another process may take the lease once it has seen no renewal for this long. */
  readonly leaseMs: number;
  /** A leader that could not renew for this long stops leading: before another process may take over. */
  readonly renewWithinMs: number;
  readonly retryMs: number;
}

export const defaultTiming: LeaderElectionTiming = { leaseMs: 15_000, renewWithinMs: 10_000, retryMs: 2_000 };

/**
 * Leader election by a Lease, with client-go's rules and times.
 *
 * Two processes never lead under one epoch. The epoch of a term is the resourceVersion of the write that acquired the
 * lease. That write changes the holder (each term has a holder identity of its own), so the server rewrites the epoch
 * with it, and refuses writes under an older one. The clock decides only how soon another process takes over.
 *
 *     standing by ──lease free or expired──► leading ──renewal lost, or not in time──► standing by
 *          └──────────────────── stop ──────────┴──► stopped (the lease is released)
 */
export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #timing: LeaderElectionTiming;
  readonly #log: Log;
  #state: State = { type: 'standing-by' };
  /** The lease as last observed, and when this resourceVersion of it was observed first, by this process' own clock. */
  #observed: { readonly lease: Lease; readonly at: number } | undefined;
  /** The holder of this process' last term, or of an acquisition whose answer was lost. No controller acts under it any more. */
  #lastHolder: string | undefined;
  #cancelTick: Cancel | undefined;
  /** Requests under way; stop waits for them. */
  #busy: Promise<void> = Promise.resolve();

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#timing = options.timing ?? defaultTiming;
    this.#log = options.world.log.with({ lease: `${options.lease.namespace}/${options.lease.name}` });
  }

  get leading(): boolean {
    return this.#state.type === 'leading';
  }

  start(): void {
    this.#scheduleTick(0);
  }

  /** Stops leading at once, then releases the lease, so that no other process has to wait for it to expire. */
  async stop(): Promise<void> {
    const { leading } = this;
    const holder = this.#state.type === 'leading' ? this.#state.holder : undefined;
    if (this.#state.type === 'leading') this.#depose('stopping');
    this.#state = { type: 'stopped' };
    this.#cancelTick?.();
    await this.#busy;
    if (leading && holder !== undefined) await this.#release(holder);
  }

  /** A write under the fence was refused: another process leads, whatever the clock says. */
  deposed(): void {
    if (this.#state.type === 'leading') this.#depose('fenced off');
  }

  #scheduleTick(ms: number): void {
    this.#cancelTick?.();
    this.#cancelTick = this.#options.world.timers.after(ms, () => {
      // An exception of a callback must not end the election.
      this.#busy = this.#tick().catch((error: unknown) => {
        this.#log.error('leader election failed, will try again', { error });
        this.#scheduleTick(this.#timing.retryMs);
      });
    });
  }

  async #tick(): Promise<void> {
    if (this.#state.type === 'leading') await this.#renew(this.#state);
    else await this.#tryAcquire();
    if (this.#state.type === 'stopped') return;
    // Followers spread out, so that they do not all write at the moment when a lease expires.
    const jitter = this.#state.type === 'leading' ? 1 : 1 + this.#options.world.random.float() * 1.2;
    this.#scheduleTick(this.#timing.retryMs * jitter);
  }

  async #tryAcquire(): Promise<void> {
    const { client, leaseKind, lease, world } = this.#options;
    const found = await client.get(leaseKind, lease);
    if (!found.ok && found.reason !== 'notFound') return this.#log.warn('cannot read the lease', { reason: found.reason, error: found.error.message });
    if (found.ok) this.#observe(found.value);
    if (this.#state.type !== 'standing-by' || (found.ok && !this.#isFree(found.value))) return;
    const holder = `${this.#options.identity}_${world.random.uuid()}`;
    this.#lastHolder = holder;
    const startedAt = world.clock.monotonic();
    const spec = this.#spec(holder, { acquireTime: this.#microTime(), leaseTransitions: found.ok ? (found.value.spec.leaseTransitions ?? 0) + 1 : 0 });
    const acquired = found.ok ? await client.update(leaseKind, { ...found.value, spec }) : await client.create(leaseKind, { metadata: { ...lease }, spec });
    if (acquired.ok) await this.#begin(holder, acquired.value, startedAt);
    else if (acquired.reason !== 'conflict' && acquired.reason !== 'alreadyExists')
      this.#log.warn('cannot acquire the lease', { error: acquired.error.message });
  }

  async #begin(holder: string, lease: Lease, startedAt: number): Promise<void> {
    this.#observe(lease);
    const fence: Fence = { lease: `${this.#options.lease.namespace}/${this.#options.lease.name}`, epoch: Number(lease.metadata.resourceVersion) };
    // Stopped while the answer was on its way: the lease is held, but no longer wanted.
    if (this.#state.type === 'stopped') return await this.#release(holder);
    this.#state = { type: 'leading', holder, lease, renewedAt: startedAt };
    this.#log.info('became leader', { identity: holder, epoch: fence.epoch });
    this.#options.onLeading(fence);
  }

  async #renew(state: Leading): Promise<void> {
    const { client, leaseKind, world } = this.#options;
    const startedAt = world.clock.monotonic();
    this.#watchDeadline(state);
    const spec = this.#spec(state.holder, state.lease.spec);
    let renewed: Result<Lease> = await client.update(leaseKind, { ...state.lease, spec });
    // The lease was changed without a change of its holder (an annotation), or the answer to the last renewal was lost.
    if (!renewed.ok && renewed.reason === 'conflict') renewed = await this.#renewAnew(state);
    if (this.#state !== state) return;
    if (renewed.ok) {
      this.#observe(renewed.value);
      this.#state = { ...state, lease: renewed.value, renewedAt: startedAt };
    } else if (renewed.reason === 'conflict' || renewed.reason === 'notFound') {
      this.#depose('the lease has another holder');
    } else {
      this.#log.warn('cannot renew the lease', { reason: renewed.reason, error: renewed.error.message });
      if (world.clock.monotonic() - state.renewedAt >= this.#timing.renewWithinMs) this.#depose('could not renew in time');
    }
  }

  async #renewAnew(state: Leading): Promise<Result<Lease>> {
    const { client, leaseKind, lease } = this.#options;
    const found = await client.get(leaseKind, lease);
    if (!found.ok) return found;
    // Another process holds the lease: an update from the old version conflicts.
    const base = found.value.spec.holderIdentity === state.holder ? found.value : state.lease;
    return await client.update(leaseKind, { ...base, spec: this.#spec(state.holder, base.spec) });
  }

  /** The answer to a renewal may never come: the term ends in time all the same. */
  #watchDeadline(state: Leading): void {
    const { clock, timers } = this.#options.world;
    const left = state.renewedAt + this.#timing.renewWithinMs - clock.monotonic();
    timers.after(Math.max(0, left), () => {
      const now = this.#state;
      if (now.type === 'leading' && now.holder === state.holder && now.renewedAt === state.renewedAt) this.#depose('could not renew in time');
    });
  }

  #depose(why: string): void {
    this.#log.info('no longer leader', { why });
    this.#state = { type: 'standing-by' };
    this.#options.onDeposed();
  }

  async #release(holder: string): Promise<void> {
    const { client, leaseKind, lease } = this.#options;
    const found = await client.get(leaseKind, lease);
    if (!found.ok || found.value.spec.holderIdentity !== holder) return;
    const now = this.#microTime();
    const { leaseTransitions = 0 } = found.value.spec;
    const spec: LeaseSpec = { leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaseTransitions };
    const released = await client.update(leaseKind, { ...found.value, spec });
    if (!released.ok) this.#log.warn('cannot release the lease', { error: released.error.message });
  }

  #isFree(lease: Lease): boolean {
    const { holderIdentity = '', leaseDurationSeconds = 0 } = lease.spec;
    if (holderIdentity === '' || holderIdentity === this.#lastHolder || this.#options.takeOver === true) return true;
    const seenAt = this.#observed?.at ?? Number.POSITIVE_INFINITY;
    return this.#options.world.clock.monotonic() - seenAt >= leaseDurationSeconds * 1000;
  }

  #observe(lease: Lease): void {
    if (this.#observed?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    this.#observed = { lease, at: this.#options.world.clock.monotonic() };
  }

  #spec(holderIdentity: string, before: Pick<LeaseSpec, 'acquireTime' | 'leaseTransitions'>): LeaseSpec {
    const { acquireTime, leaseTransitions = 0 } = before;
    return {
      holderIdentity,
      leaseDurationSeconds: Math.round(this.#timing.leaseMs / 1000),
      ...(acquireTime === undefined ? {} : { acquireTime }),
      renewTime: this.#microTime(),
      leaseTransitions,
    };
  }

  /** '2026-01-01T00:00:00.000000Z' */
  #microTime(): string {
    return new Date(this.#options.world.clock.now()).toISOString().replace('Z', '000Z');
  }
}

type State = { readonly type: 'standing-by' } | Leading | { readonly type: 'stopped' };

interface Leading {
  readonly type: 'leading';
  readonly holder: string;
  readonly lease: Lease;
  /** When the last successful renewal was begun. */
  readonly renewedAt: number;
}
