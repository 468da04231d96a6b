import type { Change as StoreChange, Entry, Store, Watch } from '../../store/contract.ts';
import type { CsiBackend, CsiEvent } from '../drivers/csi/backend.ts';
import type { DiskChange } from '../drivers/simulated-disk-driver.ts';
import type { MachineEvent } from '../host/simulated-machine.ts';
import { type ObservedChange, type DriverCall, type ExpandCall, Facts, type ObjectChange, watchedKinds, type WatchedKind } from './facts.ts';
import type { Invariant } from './invariant.ts';

export interface Violation {
  readonly invariant: string;
  readonly what: string;
}

export interface ObserverOptions {
  readonly invariants: readonly Invariant[];
  readonly now: () => number;
  /** Called for every change, in order. */
  readonly onChange: (change: ObservedChange, facts: Facts) => void;
  readonly onViolation: (violation: Violation) => void;
}

/** Watches the store and the backend directly, not through the API, and checks the invariants. */
export class Observer {
  readonly facts = new Facts();
  readonly #options: ObserverOptions;
  #revision = 0;
  #watch: Watch | undefined;
  #changes = 0;
  readonly #revisions = new Map<string, number>();
  /** The highest revision that was acknowledged to a client. */
  #acknowledged = 0;

  constructor(options: ObserverOptions) {
    this.#options = options;
  }

  /** The number of changes, without heartbeats. */
  get changes(): number {
    return this.#changes;
  }

  /** The current revisions of all observed objects. */
  get revisions(): ReadonlySet<number> {
    return new Set(this.#revisions.values());
  }

  /** Watches the store of a new run of the server. Changes since the last run are applied at once. */
  async follow(store: Store): Promise<void> {
    this.#watch?.stop();
    const { entries, revision } = await store.range({ from: '/', to: '0' });
    if (revision < this.#acknowledged)
      this.#options.onViolation({
        invariant: 'what was acknowledged is kept',
        what: `revision ${this.#acknowledged} was acknowledged, and the store came back with ${revision}`,
      });
    this.#catchUp(entries, revision);
    this.#watch = store.watch({ prefix: '/', after: revision }, { changes: (at, changes) => this.#observe(at, changes), end: () => undefined });
  }

  diskChanged(change: DiskChange): void {
    this.facts.changeDisk(change);
    this.#changes++;
    this.#check({ type: 'disk', change });
  }

  csiChanged(backend: CsiBackend, id: string, event: CsiEvent): void {
    this.#changes++;
    this.#check({ type: 'csi', backend, id, event });
  }

  driverCalled(call: DriverCall): void {
    this.#check({ type: 'call', call });
  }

  /** A driver is asked to expand a disk. What is returned is called with its answer. */
  expandAsked(handle: string, capacity: string): (answer: Exclude<ExpandCall['outcome'], 'asked'>) => void {
    const call = (outcome: ExpandCall['outcome']) => this.#check({ type: 'expand-call', call: { handle, capacity, outcome } });
    call('asked');
    return call;
  }

  machineChanged(node: string, event: MachineEvent): void {
    this.#changes++;
    this.#check({ type: 'machine', node, event });
  }

  paused(forMs: number): void {
    const from = this.#options.now();
    this.facts.pauses.push({ from, until: from + forMs });
  }

  unplugged(node: string, handle: string, mounted: boolean): void {
    this.#check({ type: 'unplugged', node, handle, mounted });
  }

  /** The scheduler asks to delete a pod. What is returned is called if the pod is deleted. */
  schedulerDeletes(key: string): () => void {
    const pod = this.facts.pods.get(key);
    return () => (pod === undefined ? undefined : this.#check({ type: 'scheduler-delete', key, pod }));
  }

  damageIgnored(what: string): void {
    this.#options.onViolation({ invariant: 'damage of the disk is reported', what });
  }

  /** A write was acknowledged to a client. */
  acknowledge(revision: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, revision);
  }

  fencedWrite(write: { readonly lease: string; readonly epoch: number; readonly revision: number }): void {
    this.#check({ type: 'fenced-write', ...write });
  }

  #catchUp(entries: readonly Entry[], revision: number): void {
    const present = new Set(entries.map(({ key }) => key));
    const changes = entries.flatMap((entry) =>
      entry.modRevision > this.#revision ? this.#changeOf({ key: entry.key, entry, revision: entry.modRevision }) : [],
    );
    const gone = Object.entries(watchedKinds).flatMap(([, prefix]) =>
      this.#keys(prefix).flatMap((key) => (present.has(key) ? [] : this.#changeOf({ key, entry: undefined, revision }))),
    );
    this.#apply([...changes, ...gone], revision);
  }

  #keys(prefix: string): readonly string[] {
    const type = typeOf(prefix);
    return type === undefined ? [] : Array.from(this.#known(type).keys(), (key) => prefix + key);
  }

  #observe(revision: number, changes: readonly StoreChange[]): void {
    this.#apply(
      changes.flatMap((change) => this.#changeOf(change)),
      revision,
    );
  }

  #apply(changes: readonly ObjectChange[], revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
    const now = this.#options.now();
    // Transactions are atomic: the invariants are checked when all of it is applied.
    for (const change of changes) {
      this.facts.change(change, now);
      if (change.after === undefined) this.#revisions.delete(`${change.type} ${change.key}`);
      else this.#revisions.set(`${change.type} ${change.key}`, change.revision);
    }
    for (const change of changes) {
      // Nodes register again and again.
      if (change.type !== 'csiNode' && !isHeartbeat(change)) this.#changes++;
      // A quota is written with every object that it admits, so that requests that race compare.
      if (change.type !== 'quota' && change.before !== undefined && change.after !== undefined && isSameButManagers(change.before, change.after))
        this.#options.onViolation({ invariant: 'a write that changes nothing is not stored', what: `${change.type} ${change.key} is the same at ${revision}` });
      this.#check(change);
    }
  }

  #changeOf({ key, entry, revision }: Pick<StoreChange, 'key' | 'entry' | 'revision'>): readonly ObjectChange[] {
    if (key.startsWith(epochs)) this.facts.epochs.set(key.slice(epochs.length), revision);
    const type = typeOf(key);
    if (type === undefined) return [];
    const name = key.slice(watchedKinds[type].length);
    const after: unknown = entry === undefined ? undefined : JSON.parse(Buffer.from(entry.value).toString());
    // The key determines the type of both objects.
    return [{ type, key: name, revision, before: this.#known(type).get(name), after } as ObjectChange];
  }

  #known(type: WatchedKind): ReadonlyMap<string, unknown> {
    return this.facts.all(type);
  }

  #check(change: ObservedChange): void {
    this.#options.onChange(change, this.facts);
    for (const invariant of this.#options.invariants) {
      const what = invariant.check(change, this.facts, this.#options.now());
      if (what !== undefined) this.#options.onViolation({ invariant: invariant.name, what });
    }
  }
}

const epochs = '/mooring/epochs/';

const prefixes = Object.entries(watchedKinds) as readonly (readonly [WatchedKind, string])[];

const typeOf = (key: string): WatchedKind | undefined => prefixes.find(([, prefix]) => key.startsWith(prefix))?.[0];

/** A node status that repeats the last one. */
function isHeartbeat({ type, before, after }: ObjectChange): boolean {
  if (type !== 'node' || before === undefined || after === undefined) return false;
  return isSameButTimes(before, after);
}

/** Heartbeats come every few seconds: to compare them as JSON took as long as all invariants. */
function isSameBut(isLeftOut: (key: string) => boolean, one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const [mine, theirs] = [one as Readonly<Record<string, unknown>>, other as Readonly<Record<string, unknown>>];
  return [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].every((key) => isLeftOut(key) || isSameBut(isLeftOut, mine[key], theirs[key]));
}

const isSameButTimes = (one: unknown, other: unknown): boolean => isSameBut((key) => key === 'lastHeartbeatTime' || key === 'managedFields', one, other);
const isSameButManagers = (one: unknown, other: unknown): boolean => isSameBut((key) => key === 'managedFields', one, other);
