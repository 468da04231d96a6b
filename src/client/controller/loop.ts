import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Cancel, Log, World } from '../../world/world.ts';
import { LogSummary } from './log-summary.ts';
import type { Change } from '../informers/cache.ts';
import type { Result } from '../client.ts';
import type { Informers } from '../informers/informers.ts';
import { type Backoff, WorkQueue } from '../work-queue.ts';

/**
 * A controller: what wakes it, what it sees, what it decides, what it does. The loop below is all that runs it.
 * Deciding is pure; `perform` writes one thing, compared and swapped on the resourceVersion that the snapshot had.
 */
export interface Controller<Key extends string, Snapshot, Action> {
  readonly name: string;
  readonly sources: readonly Source<Key>[];
  /** From caches only, without waiting. Undefined: the key is gone, or none of this controller's business. */
  snapshot(key: Key): Snapshot | undefined;
  decide(snapshot: Snapshot, now: number): Decision<Action>;
  perform(action: Action, key: Key): Promise<Outcome>;
  /** How many keys are worked on at a time; 1 unless said. */
  readonly parallelism?: number;
  readonly backoff?: Backoff;
}

/** Which keys have to be looked at when an object of a kind changes. Make one with `source`. */
export interface Source<Key extends string> {
  subscribe(informers: Informers, add: (key: Key) => void): Cancel;
}

export function source<T extends KubeObject, Key extends string>(kind: Kind<T>, keys: (change: Change<T>) => Iterable<Key>): Source<Key> {
  return {
    subscribe: (informers, add) =>
      informers.cache(kind).subscribe((change) => {
        for (const key of keys(change)) add(key);
      }),
  };
}

/** A source for what a controller learns otherwise than from a cache, such as the answer to a question that it asked. */
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

export interface Decision<Action> {
  /** In the order in which they have to happen. Any prefix may be all that happens. */
  readonly actions: readonly Action[];
  /** Why these actions, or why none. */
  readonly reasons: readonly Reason[];
  /** When to decide again although nothing changed; milliseconds since 1970. */
  readonly again?: number;
}

/** A reason is data: events, conditions and explanations are renderings of it. */
export interface Reason {
  readonly code: string;
  readonly text: string;
}

/**
 * - `done`: it is so now, whether or not it was before
 * - `conflict`: somebody else was faster, or the snapshot was old: decide again, from what comes in
 * - `deposed`: this process no longer leads: nothing that it decides counts
 * - `retry`: it failed for the reason given, and may succeed later
 */
export type Outcome = 'done' | 'conflict' | 'deposed' | { readonly retry: string };

/** What most actions make of what came of their one write. */
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
  /** Before each action, with its place in the list. 'crash': nothing more happens, ever, as if the process had died here. */
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
  /** Looks at a key although nothing changed. */
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
  readonly #unsubscribe: readonly Cancel[];
  readonly #parallelism: number;
  #state: 'waiting' | 'running' | 'stopped' = 'waiting';
  #pumpScheduled = false;
  #passes = 0;
  #whenDrained: (() => void)[] = [];

  constructor(controller: Controller<Key, Snapshot, Action>, options: LoopOptions) {
    this.#controller = controller;
    this.#options = options;
    this.#parallelism = controller.parallelism ?? 1;
    this.#log = options.world.log.with({ controller: controller.name });
    this.#queue = new WorkQueue(options.world, controller.backoff);
    this.#queue.onReady = () => this.#schedulePump();
    this.#unsubscribe = controller.sources.map((s) => s.subscribe(options.informers, (key) => this.#enqueue(key)));
  }

  #enqueue(key: Key): void {
    if (this.#log.debugs) this.#log.debug('enqueued', { key });
    this.#queue.add(key);
  }

  begin(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'running';
    this.#schedulePump();
  }

  enqueue(key: string): void {
    this.#queue.add(key as Key);
  }

  get idle(): boolean {
    return this.#state !== 'waiting' && this.#queue.idle;
  }

  stop(): Promise<void> {
    this.#halt();
    if (this.#queue.processing === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenDrained.push(resolve));
  }

  #halt(): void {
    this.#state = 'stopped';
    this.#queue.stop();
    for (const cancel of this.#unsubscribe) cancel();
  }

  /** Passes start from the event loop, never from inside the change that woke them: a burst of changes is one pass. */
  #schedulePump(): void {
    if (this.#pumpScheduled || this.#state !== 'running') return;
    this.#pumpScheduled = true;
    this.#options.world.timers.soon(() => {
      this.#pumpScheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    for (let passes = 0; this.#state === 'running' && this.#queue.processing < this.#parallelism; passes++) {
      if (passes === passesPerTurn) return this.#schedulePump();
      const key = this.#queue.take();
      if (key === undefined) return;
      this.#work(key);
    }
  }

  /** One key, one pass. Whatever goes wrong with it is its own problem: it comes back later, the others go on. */
  #work(key: Key): void {
    const pass: Pass<Key> = { key, pass: ++this.#passes };
    try {
      const plan = this.#decide(pass);
      if (plan.actions.length > 0) void this.#carryOut(pass, plan);
      else this.#end(pass, { outcome: 'done', again: plan.again });
    } catch (error) {
      this.#fail(pass, error);
    }
  }

  #decide(pass: Pass<Key>): { readonly actions: readonly Action[]; readonly again?: number | undefined } {
    const snapshot = this.#controller.snapshot(pass.key);
    if (snapshot === undefined) return nothingToDo;
    const decision = this.#controller.decide(snapshot, this.#options.world.clock.now());
    if (this.#log.debugs) this.#log.debug('decided', { ...this.#named(pass), actions: new LogSummary(decision.actions), reasons: decision.reasons });
    return decision;
  }

  async #carryOut(pass: Pass<Key>, { actions, again }: { readonly actions: readonly Action[]; readonly again?: number | undefined }): Promise<void> {
    try {
      for (const [index, action] of actions.entries()) {
        if (this.#options.onAction?.({ controller: this.#controller.name, key: pass.key, action, index }) === 'crash') return this.#halt();
        const outcome = await this.#controller.perform(action, pass.key);
        if (outcome !== 'done') {
          this.#log.debug('pass cut short', { ...this.#named(pass), outcome, action: new LogSummary(action) });
          return this.#end(pass, { outcome, again: undefined });
        }
        // Stopped meanwhile: what is left of the list is cut off like by a crash.
        if (this.#state === 'stopped') return this.#end(pass, { outcome, again: undefined });
      }
      this.#end(pass, { outcome: 'done', again });
    } catch (error) {
      this.#fail(pass, error);
    }
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
    if (this.#state === 'stopped' && this.#queue.processing === 0) for (const resolve of this.#whenDrained.splice(0)) resolve();
    this.#schedulePump();
  }

  /** What every line about a pass says. */
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
  /** Which one of this loop. */
  readonly pass: number;
}

interface PassEnd {
  readonly outcome: Outcome;
  readonly again: number | undefined;
}

const nothingToDo = { actions: [] } as const;

/** Passes that a loop makes before others have their turn: a controller that has a hundred thousand objects to look at must not keep a request waiting. */
const passesPerTurn = 64;
