import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Lease } from '../../api/generated/types.ts';
import { leaseKind } from '../../api/kinds/coordination/lease.ts';
import { type FollowedChange, PrefixFollower } from '../../apiserver/objects/follow-prefix.ts';
import type { Client, Draft } from '../../client/client.ts';
import { put, remove, type Store } from '../../store/contract.ts';
import type { Cancel, World } from '../../world/world.ts';
import { type ApiAddress, publishApiAddresses } from './bootstrap.ts';

/** One key for each server, which it writes again and again: the master leases of Kubernetes (pkg/controlplane/reconcilers/lease.go). */
export const SERVERS_PREFIX = '/mooring/servers/';
export const SERVER_BEAT_MS = 5_000;
/** A server counts as gone if its key has not changed for so long, by the clock of the server that looks. Kubernetes: --endpoint-reconciler-type lease. */
const GONE_MS = 15_000;
/** Kubernetes: pkg/controlplane/apiserver, IdentityLeaseDurationSeconds and IdentityLeaseRenewIntervalPeriod. */
const IDENTITY_SECONDS = 3_600;
const BEATS_PER_RENEWAL = 2;
const NAMESPACE = 'kube-system';

interface SeenServer {
  readonly address: ApiAddress | undefined;
  /** Monotonic milliseconds. */
  seenAt: number;
}

interface Joined {
  readonly client: Client;
  readonly name: string;
  readonly holder: string;
  readonly port: number;
}

/**
 * The API servers of a store that run now. They are the endpoints of the Service `kubernetes`; the first of them does what one server is to do
 * for all. Each has an identity Lease in kube-system, as in Kubernetes.
 */
export class LiveServers {
  readonly #store: Store;
  readonly #world: World;
  readonly #seen = new Map<string, SeenServer>();
  readonly #follower: PrefixFollower;
  #joined: Joined | undefined;
  #address: string | undefined;
  #cancelBeat: Cancel = () => undefined;
  #beats = 0;
  #lastBeat = 0;
  #stopped = false;
  #publishing = Promise.resolve();

  constructor({ store, world }: { readonly store: Store; readonly world: World }) {
    this.#store = store;
    this.#world = world;
    this.#follower = new PrefixFollower({ store, timers: world.timers, prefix: SERVERS_PREFIX, changes: (changes) => this.#see(changes) });
  }

  /** Of those that run, this one comes first. */
  isFirst(): boolean {
    const [first] = [...this.#seen.keys()].sort();
    return this.#joined !== undefined && first === this.#joined.name;
  }

  /** `address`: where pods reach this server; undefined: nowhere. Resolves with what ends it. */
  async join({
    client,
    address,
    port,
  }: {
    readonly client: Client;
    readonly address: string | undefined;
    readonly port: number;
  }): Promise<() => Promise<void>> {
    const hash = createHash('sha256')
      .update(`${hostname()}:${address ?? ''}:${port}`)
      .digest('hex')
      .slice(0, 26);
    const name = `apiserver-${hash}`;
    this.#address = address;
    this.#joined = { client, name, holder: `${name}_${this.#world.random.uuid()}`, port };
    this.#lastBeat = this.#world.clock.monotonic();
    await this.#follower.start();
    await this.#beat();
    return () => this.#leave();
  }

  /** Pods reach this server under another address now. */
  async move(address: string): Promise<void> {
    this.#address = address;
    await this.#write();
    await this.#publishing;
  }

  async #leave(): Promise<void> {
    this.#stopped = true;
    this.#cancelBeat();
    this.#follower.stop();
    if (this.#joined === undefined) return;
    const { client, name } = this.#joined;
    await this.#publishing;
    this.#seen.delete(name);
    try {
      await this.#store.transact({ compares: [], writes: [remove(SERVERS_PREFIX + name)] });
      await this.#publish();
      await client.delete(leaseKind, { namespace: NAMESPACE, name });
    } catch (error) {
      // The others notice it.
      this.#world.log.warn('cannot tell the other servers that this one stops', { error });
    }
  }

  async #beat(): Promise<void> {
    try {
      await this.#write();
      this.#forgetGone();
      if (this.#beats++ % BEATS_PER_RENEWAL === 0) await this.#renewIdentity();
    } catch (error) {
      this.#world.log.warn('cannot tell the other servers that this one runs', { error });
    }
    if (!this.#stopped) this.#cancelBeat = this.#world.timers.after(SERVER_BEAT_MS, () => void this.#beat());
  }

  async #write(): Promise<void> {
    if (this.#joined === undefined) return;
    const { name, port } = this.#joined;
    const value = Buffer.from(JSON.stringify(this.#address === undefined ? {} : { ip: this.#address, port }));
    await this.#store.transact({ compares: [], writes: [put(SERVERS_PREFIX + name, value)] });
  }

  #see(changes: readonly FollowedChange[]): void {
    const before = this.#shown();
    for (const { key, entry } of changes) {
      const name = key.slice(SERVERS_PREFIX.length);
      if (entry === undefined) this.#seen.delete(name);
      else this.#seen.set(name, { address: addressIn(entry.value), seenAt: this.#world.clock.monotonic() });
    }
    if (this.#shown() !== before) this.#publishSoon();
  }

  /** A server that stood still, or had no store, has heard of none for a while: all get their time again. */
  #forgetGone(): void {
    const now = this.#world.clock.monotonic();
    const wasAway = now - this.#lastBeat > 2 * SERVER_BEAT_MS;
    this.#lastBeat = now;
    for (const [name, server] of this.#seen) {
      if (wasAway) server.seenAt = now;
      else if (now - server.seenAt > GONE_MS && name !== this.#joined?.name) void this.#forget(name);
    }
  }

  async #forget(name: string): Promise<void> {
    this.#seen.delete(name);
    this.#publishSoon();
    this.#world.log.info('an API server is gone', { name });
    await this.#store.transact({ compares: [], writes: [remove(SERVERS_PREFIX + name)] }).catch(() => undefined);
  }

  #shown(): string {
    return JSON.stringify([...this.#seen.keys()].sort().map((name) => [name, this.#seen.get(name)?.address]));
  }

  /** One after the other: the newest state is published last. */
  #publishSoon(): void {
    this.#publishing = this.#publishing
      .then(() => this.#publish())
      .catch((error: unknown) => this.#world.log.warn('cannot publish the API servers', { error }));
  }

  async #publish(): Promise<void> {
    const addresses = [...this.#seen.values()].flatMap(({ address }) => address ?? []);
    if (this.#joined !== undefined && addresses.length > 0) await publishApiAddresses(this.#joined.client, addresses);
  }

  async #renewIdentity(): Promise<void> {
    if (this.#joined === undefined) return;
    const { client, name, holder } = this.#joined;
    const renewTime = new Date(this.#world.clock.now()).toISOString().replace('Z', '000Z');
    const found = await client.get(leaseKind, { namespace: NAMESPACE, name });
    const written = found.ok
      ? await client.update(leaseKind, { ...found.value, spec: { ...found.value.spec, holderIdentity: holder, renewTime } })
      : await client.create(leaseKind, identityLease(name, { holderIdentity: holder, renewTime }));
    if (!written.ok) throw written.error;
    if (this.isFirst()) await this.#removeExpired(client);
  }

  /** Of servers that were killed (Kubernetes: pkg/controlplane/controller/apiserverleasegc). */
  async #removeExpired(client: Client): Promise<void> {
    const leases = await client.list(leaseKind, { namespace: NAMESPACE, labelSelector: `${IDENTITY_LABEL}=${IDENTITY}` });
    if (!leases.ok) throw leases.error;
    for (const { metadata, spec } of leases.value.items) {
      const until = Date.parse(spec.renewTime ?? '') + (spec.leaseDurationSeconds ?? 0) * 1000;
      if (!(until > this.#world.clock.now())) await client.delete(leaseKind, { namespace: NAMESPACE, name: metadata.name });
    }
  }
}

const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity';
const IDENTITY = 'kube-apiserver';

const identityLease = (name: string, spec: Pick<Lease['spec'], 'holderIdentity' | 'renewTime'>): Draft<Lease> => ({
  metadata: { name, namespace: NAMESPACE, labels: { [IDENTITY_LABEL]: IDENTITY, 'kubernetes.io/hostname': hostname() } },
  spec: { ...spec, leaseDurationSeconds: IDENTITY_SECONDS },
});

function addressIn(value: Uint8Array): ApiAddress | undefined {
  const { ip, port } = JSON.parse(Buffer.from(value).toString()) as Partial<ApiAddress>;
  return ip === undefined || port === undefined ? undefined : { ip, port };
}
