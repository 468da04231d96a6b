import type { Cancel, World } from '../../world/world.ts';
import { attachVolume, detachVolume } from './attachments.ts';
import { type Context, type Outcome, type Quotas, usualQuotas } from './context.ts';
import { CloudError, LostAnswer } from './errors.ts';
import { type Fault, Faults } from './faults.ts';
import { createFleet } from './fleet.ts';
import { findInstances, runInstances, shuttingDown, terminateInstances } from './instances.ts';
import { instanceTypes, type InstanceType } from './instance-types.ts';
import { drawLatency, type Latency, type Step, usualLatencies } from './latency.ts';
import { type Offering, offeringsOf } from './offerings.ts';
import type { Change, Instance } from './records.ts';
import { regions, type Region } from './regions.ts';
import { changeTags, createSnapshot, deleteSnapshot } from './snapshots.ts';
import { CloudState } from './state.ts';
import { transitionsOf } from './transitions.ts';
import { copyVolume, createVolume, deleteVolume, modifyVolume } from './volumes.ts';

export interface CloudOptions {
  readonly world: World;
  /** 'us-west-2'. Default: the first document's. */
  readonly region?: string | undefined;
  readonly quotas?: Partial<Quotas> | undefined;
  readonly latencies?: Readonly<Partial<Record<Step, Latency>>> | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** What an earlier run kept. */
  readonly records?: readonly Change[] | undefined;
  /** Told of the changes of one call or transition before its answer leaves; the answer waits for the promise. */
  readonly keep?: ((changes: readonly Change[]) => Promise<void>) | undefined;
}

/** What a request does to the cloud: one function for each action that changes something. */
const operations = {
  CreateVolume: createVolume,
  CopyVolumes: copyVolume,
  DeleteVolume: deleteVolume,
  ModifyVolume: modifyVolume,
  AttachVolume: attachVolume,
  DetachVolume: detachVolume,
  CreateSnapshot: createSnapshot,
  DeleteSnapshot: deleteSnapshot,
  RunInstances: runInstances,
  CreateFleet: createFleet,
  TerminateInstances: terminateInstances,
  CreateTags: changeTags,
  DeleteTags: changeTags,
} as const;

type Operations = typeof operations;
export type Operation = keyof Operations;
type RequestOf<Name extends Operation> = Parameters<Operations[Name]>[0];
type ValueOf<Name extends Operation> = ReturnType<Operations[Name]>['value'];

export type CloudListener = (change: Change, before: Change['record']) => void;

/**
 * One region of a cloud. A call is decided at once from the state, takes effect, and is answered after the latency of a call. What takes the cloud
 * longer (creating, attaching, booting) is a transition that is due at a time; one timer waits for the earliest of them.
 */
export class Cloud {
  readonly region: Region;
  readonly state = new CloudState();
  readonly #world: World;
  readonly #options: CloudOptions;
  readonly #listeners = new Set<CloudListener>();
  readonly #faultListeners = new Set<() => void>();
  #faults: Faults;
  #cancel: Cancel | undefined;
  #timerAt: number | undefined;
  #isClosed = false;
  /** Attachments as they were, for descriptions that lag: the latest last. */
  readonly #history: { readonly at: number; readonly change: Change; readonly before: Change['record'] }[] = [];

  /** @throws CloudError if there is no such region */
  constructor(options: CloudOptions) {
    const region = regions.get(options.region ?? 'us-west-2');
    if (region === undefined) throw new CloudError('InvalidParameterValue', `no region "${options.region ?? ''}": ${[...regions.keys()].join(', ')}`);
    this.region = region;
    this.#options = options;
    this.#world = options.world;
    this.#faults = new Faults(options.faults);
    for (const change of options.records ?? []) this.state.apply(change);
    this.#wake();
  }

  get faults(): Faults {
    return this.#faults;
  }

  /** In place of those so far. Instances that the faults name as lost end at once. */
  setFaults(faults: readonly Fault[]): void {
    this.#faults = new Faults(faults);
    for (const id of this.#faults.lostInstances()) this.loseInstance(id);
    this.#release();
    for (const listener of this.#faultListeners) listener();
  }

  /** Told of each change of a record, after it. */
  onChange(listener: CloudListener): Cancel {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Told when other faults hold. */
  onFaults(listener: () => void): Cancel {
    this.#faultListeners.add(listener);
    return () => this.#faultListeners.delete(listener);
  }

  /**
   * A call that changes the cloud.
   * @throws CloudError if it is refused, LostAnswer if it took effect and the answer is lost
   */
  call<Name extends Operation>(action: Name, request: RequestOf<Name>): Promise<ValueOf<Name>> {
    const decide = operations[action] as (request: RequestOf<Name>, context: Context) => Outcome<ValueOf<Name>>;
    return this.ask(action, (context) => decide(request, context));
  }

  /** A call of any kind: its answer is read, and its changes made, in one moment. `isDryRun`: nothing changes. */
  async ask<T>(action: string, decide: (context: Context) => Outcome<T>, isDryRun = false): Promise<T> {
    const random = () => this.#world.random.float();
    await this.#pause(drawLatency(this.#latencies.call, random) / 2);
    if (this.#faults.isThrottled(action, random)) throw new CloudError('RequestLimitExceeded', 'Request limit exceeded.');
    const { value, changes } = decide(this.#context());
    if (isDryRun) throw new CloudError('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.');
    await this.#make(changes);
    if (this.#faults.losesAnswer(action, random)) throw new LostAnswer(action);
    await this.#pause(drawLatency(this.#latencies.call, random) / 2);
    return value;
  }

  /** Every type that the region offers, by name, with where and at which price. */
  offerings(): readonly { readonly type: InstanceType; readonly offerings: readonly Offering[] }[] {
    return Array.from(instanceTypes.values(), (type) => ({ type, offerings: offeringsOf(type, this.region, this.#faults) }));
  }

  /** @throws CloudError if an id is unknown; without ids all instances */
  describeInstances(ids?: readonly string[]): Promise<readonly Instance[]> {
    return this.ask('DescribeInstances', (context) => ({
      value: ids === undefined ? [...this.state.instances.values()] : findInstances(context, ids),
      changes: [],
    }));
  }

  /** The host of the instance fails: it ends, and its volumes are detached, without anyone having asked. */
  loseInstance(id: string): void {
    const instance = this.state.instances.get(id);
    if (instance === undefined || instance.state === 'terminated' || instance.state === 'shutting-down') return;
    const reason = { code: 'Server.InternalError', message: 'Server.InternalError: Internal error on launch' };
    this.#makeUnasked([{ in: 'instances', id, record: shuttingDown(instance, this.#context(), reason) }]);
  }

  /** The volume ids and devices of an instance as DescribeInstances shows them, possibly outdated. */
  describedAttachments(instanceId: string): ReturnType<CloudState['attachedTo']> {
    const since = this.#world.clock.now() - this.#faults.describeLagMs();
    const recent = this.#history.filter(({ at, change }) => at > since && change.in === 'volumes');
    if (recent.length === 0) return this.state.attachedTo(instanceId);
    const earlier = new Map(this.state.attachedTo(instanceId).map((each) => [each.volume.id, each]));
    for (const { change, before } of recent.reverse()) {
      const volume = change.in === 'volumes' ? (before as typeof change.record) : undefined;
      const attachment = volume?.attachments.find((each) => each.instanceId === instanceId);
      if (volume === undefined || attachment === undefined) earlier.delete(change.id);
      else earlier.set(change.id, { volume, attachment });
    }
    return [...earlier.values()];
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  get #latencies(): Readonly<Record<Step, Latency>> {
    return { ...usualLatencies, ...this.#options.latencies };
  }

  #context(): Context {
    const { random } = this.#world;
    return {
      state: this.state,
      region: this.region,
      now: this.#world.clock.now(),
      faults: this.#faults,
      quotas: { ...usualQuotas, ...this.#options.quotas },
      latencies: this.#latencies,
      random: () => random.float(),
      newId: (prefix) => `${prefix}-0${random.uuid().replaceAll('-', '').slice(-16)}`,
    };
  }

  async #make(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return;
    for (const change of changes) this.#apply(change);
    this.#wake();
    await this.#options.keep?.(changes);
  }

  /** No answer waits for these changes. */
  #makeUnasked(changes: readonly Change[]): void {
    for (const change of changes) this.#apply(change);
    this.#wake();
    this.#keepUnasked(changes);
  }

  #keepUnasked(changes: readonly Change[]): void {
    this.#options.keep?.(changes).catch((error: unknown) => this.#world.log.error('the state of the cloud is not kept', { error: String(error) }));
  }

  #apply(change: Change): void {
    const before = this.state.find(change.in, change.id);
    this.state.apply(change);
    const now = this.#world.clock.now();
    const oldest = now - longestLagMs;
    while (this.#history.length > mostHistory || (this.#history[0]?.at ?? now) < oldest) this.#history.shift();
    if (change.in === 'volumes') this.#history.push({ at: now, change, before });
    for (const listener of this.#listeners) listener(change, before);
  }

  /** Volumes that a frozen instance held are let go once it answers again. */
  #release(): void {
    const context = this.#context();
    for (const volume of this.state.volumes.values()) {
      if (!volume.attachments.some(({ state }) => state === 'busy')) continue;
      const attachments = volume.attachments.map((each) => {
        const instance = this.state.instances.get(each.instanceId);
        if (each.state !== 'busy' || (instance !== undefined && this.#faults.isFrozen(instance))) return each;
        const due = { at: context.now + drawLatency(context.latencies.detach, context.random), to: 'detached' } as const;
        return { ...each, state: 'detaching' as const, due };
      });
      this.#makeUnasked([{ in: 'volumes', id: volume.id, record: { ...volume, attachments } }]);
    }
  }

  /** One timer, for the earliest transition. */
  #wake(): void {
    const next = this.state.due.next();
    if (this.#isClosed || next === undefined || (this.#timerAt !== undefined && this.#timerAt <= next.at)) return;
    this.#cancel?.();
    this.#timerAt = next.at;
    this.#cancel = this.#world.timers.after(Math.min(longestTimerMs, Math.max(0, next.at - this.#world.clock.now())), () => this.#advance());
  }

  #advance(): void {
    this.#timerAt = undefined;
    this.#cancel = undefined;
    for (let next = this.state.due.next(); next !== undefined && next.at <= this.#world.clock.now(); next = this.state.due.next()) {
      const changes = transitionsOf(next.key, this.#context());
      for (const change of changes) this.#apply(change);
      this.#keepUnasked(changes);
    }
    this.#wake();
  }

  #pause(ms: number): Promise<void> {
    return ms <= 0 ? Promise.resolve() : new Promise((resolve) => void this.#world.timers.after(ms, resolve));
  }
}

/** Descriptions can lag by no more. */
const longestLagMs = 120_000;
const mostHistory = 10_000;
/** Node.js timers are limited to 24.8 days. */
const longestTimerMs = 24 * 60 * 60 * 1000;
