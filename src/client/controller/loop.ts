import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Cancel, Log, World } from '../../world/world.ts';
import { LogSummary } from './log-summary.ts';
import type { Change } from '../informers/cache.ts';
import type { Result } from '../client.ts';
import type { Informers } from '../informers/informers.ts';
import { Pump } from '../pump.ts';
import { type Backoff, WorkQueue } from '../work-queue.ts';
import type { Decision } from '../decision.ts';

/**
 * A controller as the loop runs it; `defineController` makes one. Deciding is pure; `perform` writes one thing, compared and swapped
 * on the resourceVersion that the snapshot had.
 */
export interface Controller<Key extends string, Snapshot, Action> {
  readonly name: string;
  readonly sources: readonly Source<Key>[];
  /** From caches only, without waiting. Undefined: the object is gone, or the controller has nothing to do with it. */
  snapshot(key: Key): Snapshot | undefined;
  decide(snapshot: Snapshot, now: number): Decision<Action>;
  /** Called with each decision before its actions: for what other passes or controllers have to know at once. */
  onDecision?(snapshot: Snapshot, decision: Decision<Action>): void;
  /** `snapshot`: the one that the action was decided from. */
  perform(action: Action, key: Key, snapshot: Snapshot): Promise<Outcome>;
  /** How many keys are worked on at a time; 1 by default. */
  readonly parallelism?: number;
  readonly backoff?: Backoff;
  /**
   * The loop decides again before each further action of a list, and performs the new decision's action of the same `do` on the same
   * object; if there is none any more, the pass ends as a conflict. For actions that are not compared and swapped on all that they were decided from:
   * while one of them is performed, a pod may come back to a volume that the next one would detach. Events are recorded as first decided.
   */
  readonly revalidate?: boolean;
}

/** Which keys a change of an object enqueues. Made by `source`. */
export interface Source<Key extends string> {
  subscribe(informers: Informers, add: (key: Key) => void): Cancel;
}

/** Not a text, which is an iterable of its characters. */
type Keys<Key> = Iterable<Key> & object;

export function source<T extends KubeObject, Key extends string>(kind: Kind<T>, keys: (change: Change<T>) => Keys<Key>): Source<Key> {
  return {
    subscribe: (informers, add) =>
      informers.cache(kind).subscribe((change) => {
        for (const key of keys(change)) add(key);
      }),
  };
}

/** A source that code fires: for what a controller does not learn from a cache, such as the answer of a driver. */
export class Trigger<Key extends string> implements Source<Key> {
  #add: (key: Key) => void = () => undefined;

  fire(key: Key): void {
    this.#add(key);
  }

  subscribe(_: Informers, add: (key: Key) => void): Cancel {
    this.#add = add;
    return () => {
      this.#add = () => undefined;
    };
  }
}

/**
 * - `done`: the state that the action wants is there, whether the action made it or not
 * - `conflict`: another writer was faster, or the snapshot was old: decide again, from newer caches
 * - `deposed`: this process no longer leads: nothing that it decides counts
 * - `retry`: it failed for the reason given, and may succeed later
 */
export type Outcome = 'done' | 'conflict' | 'deposed' | { readonly retry: string };

/** The outcome of an action with one write. */
export function outcomeOf(result: Result<unknown>): Outcome {
  if (result.ok) return 'done';
  switch (result.reason) {
    case 'conflict':
    case 'notFound':
    case 'alreadyExists':
      return 'conflict';
    case 'deposed':
      return 'deposed';
    default:
      return { retry: result.error.message };
  }
}

export interface LoopOptions {
  readonly world: World;
  readonly informers: Informers;
  /** Called before each action. 'crash': the loop does nothing more, as if the process had died here. */
  readonly onAction?: (action: ActionPoint) => 'go' | 'crash';
  /** The loop wrote under a fence that no longer holds. */
  readonly onDeposed?: () => void;
}

export interface ActionPoint {
  readonly controller: string;
  readonly key: string;
  readonly action: unknown;
  readonly index: number;
}

/** A running controller. */
export interface ControllerLoop {
  /** Takes no more keys; resolves once the passes under way are over. */
  stop(): Promise<void>;
  /** Decides about a key although nothing changed. */
  enqueue(key: string): void;
  readonly idle: boolean;
}

export function runController<Key extends string, Snapshot, Action>(controller: Controller<Key, Snapshot, Action>, options: LoopOptions): ControllerLoop {
  const runner = new Runner(controller, options);
  void options.informers.synced().then(() => runner.begin());
  return runner;
}

class Runner<Key extends string, Snapshot, Action> implements ControllerLoop {
  readonly #controller: Controller<Key, Snapshot, Action>;
  readonly #options: LoopOptions;
  readonly #log: Log;
  readonly #queue: WorkQueue<Key>;
  readonly #pump: Pump;
  readonly #unsubscribe: readonly Cancel[];
  readonly #parallelism: number;
  #passes = 0;
  #whenDrained: (() => void)[] = [];

  constructor(controller: Controller<Key, Snapshot, Action>, options: LoopOptions) {
    this.#controller = controller;
    this.#options = options;
    this.#parallelism = controller.parallelism ?? 1;
    this.#log = options.world.log.with({ controller: controller.name });
    this.#queue = new WorkQueue(options.world, controller.backoff);
    this.#pump = new Pump(options.world, () => this.#startPass(), { steps: passesPerRun, ms: runMs });
    this.#queue.onReady = () => this.#pump.schedule();
    this.#unsubscribe = controller.sources.map((s) => s.subscribe(options.informers, (key) => this.#add(key)));
  }

  #add(key: Key): void {
    if (this.#log.debugs) this.#log.debug('enqueued', { key });
    this.#queue.add(key);
  }

  begin(): void {
    this.#pump.start();
  }

  enqueue(key: string): void {
    this.#queue.add(key as Key);
  }

  get idle(): boolean {
    return this.#pump.state !== 'waiting' && this.#queue.idle;
  }

  stop(): Promise<void> {
    this.#halt();
    if (this.#queue.processing === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenDrained.push(resolve));
  }

  #halt(): void {
    this.#pump.stop();
    this.#queue.stop();
    for (const cancel of this.#unsubscribe) cancel();
  }

  #startPass(): boolean {
    if (this.#queue.processing >= this.#parallelism) return false;
    const key = this.#queue.take();
    if (key === undefined) return false;
    this.#work({ key, pass: ++this.#passes });
    return true;
  }

  /** One key, one pass. A failure concerns this key alone: it is enqueued again later, and the others go on. */
  #work(pass: Pass<Key>): void {
    try {
      const decided = this.#decide(pass.key);
      if (decided !== undefined) this.#controller.onDecision?.(decided.snapshot, decided.decision);
      if (decided !== undefined && this.#log.debugs) {
        const { actions, reasons } = decided.decision;
        this.#log.debug('decided', { ...this.#named(pass), actions: new LogSummary(actions), reasons });
      }
      if (decided !== undefined && decided.decision.actions.length > 0) void this.#performAll(pass, decided);
      else this.#end(pass, { outcome: 'done', again: decided?.decision.again });
    } catch (error) {
      this.#fail(pass, error);
    }
  }

  #decide(key: Key): Decided<Snapshot, Action> | undefined {
    const snapshot = this.#controller.snapshot(key);
    return snapshot === undefined ? undefined : { snapshot, decision: this.#controller.decide(snapshot, this.#options.world.clock.now()) };
  }

  async #performAll(pass: Pass<Key>, { snapshot, decision }: Decided<Snapshot, Action>): Promise<void> {
    const { name: controller, revalidate = false } = this.#controller;
    try {
      for (const [index, action] of decision.actions.entries()) {
        if (this.#options.onAction?.({ controller, key: pass.key, action, index }) === 'crash') return this.#halt();
        const isFresh = index === 0 || !revalidate;
        const outcome = isFresh ? await this.#controller.perform(action, pass.key, snapshot) : await this.#performRevalidated(action, pass.key, snapshot);
        if (outcome !== 'done') {
          this.#log.debug('pass cut short', { ...this.#named(pass), outcome, action: new LogSummary(action) });
          return this.#end(pass, { outcome, again: undefined });
        }
        // Stopped meanwhile: the rest of the list is cut off as by a crash.
        if (this.#pump.state === 'stopped') return this.#end(pass, { outcome, again: undefined });
      }
      this.#end(pass, { outcome: 'done', again: decision.again });
    } catch (error) {
      this.#fail(pass, error);
    }
  }

  async #performRevalidated(action: Action, key: Key, snapshot: Snapshot): Promise<Outcome> {
    if (targetOf(action).verb === 'recordEvent') return await this.#controller.perform(action, key, snapshot);
    const decided = this.#decide(key);
    const current = decided?.decision.actions.find((each) => isSameTarget(each, action));
    return decided === undefined || current === undefined ? 'conflict' : await this.#controller.perform(current, key, decided.snapshot);
  }

  #fail(pass: Pass<Key>, error: unknown): void {
    this.#log.error('pass failed', { ...this.#named(pass), error, retryInMs: this.#queue.retry(pass.key) });
    this.#finish(pass);
  }

  #end(pass: Pass<Key>, end: PassEnd): void {
    this.#requeue(pass, end);
    this.#finish(pass);
  }

  #finish({ key }: Pass<Key>): void {
    this.#queue.done(key);
    if (this.#pump.state === 'stopped' && this.#queue.processing === 0) for (const resolve of this.#whenDrained.splice(0)) resolve();
    this.#pump.schedule();
  }

  /** The fields of every log line about a pass. */
  #named({ key, pass }: Pass<Key>): { readonly key: Key; readonly pass: string } {
    return { key, pass: `${this.#controller.name}-${pass}` };
  }

  #requeue(pass: Pass<Key>, end: PassEnd): void {
    const { outcome } = end;
    const { key } = pass;
    if (typeof outcome === 'object') {
      this.#log.warn('will try again', { ...this.#named(pass), why: outcome.retry, failures: this.#queue.failures(key) + 1, inMs: this.#queue.retry(key) });
      return;
    }
    switch (outcome) {
      case 'done':
        this.#queue.forget(key);
        if (end.again !== undefined) this.#queue.addAfter(key, Math.max(1, end.again - this.#options.world.clock.now()));
        return;
      case 'conflict':
        this.#queue.retry(key);
        return;
      case 'deposed':
        this.#log.info('no longer leading', this.#named(pass));
        this.#halt();
        this.#options.onDeposed?.();
    }
  }
}

interface Pass<Key> {
  readonly key: Key;
  /** Its number in this loop. */
  readonly pass: number;
}

interface PassEnd {
  readonly outcome: Outcome;
  readonly again: number | undefined;
}

interface Decided<Snapshot, Action> {
  readonly snapshot: Snapshot;
  readonly decision: Decision<Action>;
}

/** What an action does, and to which object. An action without an object is about what its key names. */
interface ActionTarget {
  readonly verb: unknown;
  readonly object: Partial<Pick<KubeObject, 'kind' | 'metadata'>> | undefined;
}

function targetOf(action: unknown): ActionTarget {
  const { do: verb, object } = action as { readonly do?: unknown; readonly object?: ActionTarget['object'] };
  return { verb, object };
}

/** A recreated object is another one: a delete that was decided for the old one must not hit the new one. */
function isSameTarget(one: unknown, other: unknown): boolean {
  const [a, b] = [targetOf(one), targetOf(other)];
  const [ours, theirs] = [a.object?.metadata, b.object?.metadata];
  return (
    a.verb === b.verb && a.object?.kind === b.object?.kind && ours?.namespace === theirs?.namespace && ours?.name === theirs?.name && ours?.uid === theirs?.uid
  );
}

/** A controller that has a hundred thousand keys to work on must not keep a request waiting. */
const passesPerRun = 64;
const runMs = 5;
