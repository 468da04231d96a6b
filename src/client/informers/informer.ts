import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import type { ApiError } from '../../api/status.ts';
import type { Cancel, Log, World } from '../../world/world.ts';
import { Cache } from './cache.ts';
import type { Client, Selection } from '../client.ts';
import { type EndCause, type InformerEffect, type InformerInput, type InformerState, transition } from './informer-states.ts';
import { hasCause } from '../result.ts';
import { isNewer } from '../revision.ts';
import type { Stream } from '../transport.ts';

/** What an informer needs of a client. */
export type ListerWatcher = Pick<Client, 'list' | 'watch'>;

export interface InformerOptions<T extends KubeObject> {
  readonly client: ListerWatcher;
  readonly kind: Kind<T>;
  readonly world: World;
  readonly selection?: Selection;
  /** Which of this process' own writes the selection selects. */
  readonly selects?: (object: T) => boolean;
  /** Objects per page; absent: everything at once. */
  readonly pageSize?: number;
  /** Between two attempts, at most; absent: as client-go. A page that a person looks at waits for less. */
  readonly longestWaitMs?: number;
}

/** Keeps a cache equal to a collection of the server: performs the effects of `informer-states.ts`. */
export class Informer<T extends KubeObject> {
  readonly cache: Cache<T>;
  readonly #options: InformerOptions<T>;
  readonly #log: Log;
  readonly #inputs: InformerInput[] = [];
  #state: InformerState = { phase: 'idle' };
  #busy = false;
  #stream: Stream | undefined;
  #streams = 0;
  #cancelWait: Cancel | undefined;
  #whenSynced: (() => void)[] = [];

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    this.#log = options.world.log.with({ informer: options.kind.plural });
    this.cache = new Cache<T>({ log: this.#log, ...(options.selects === undefined ? {} : { selects: options.selects }) });
  }

  /** For health checks and tests. */
  get phase(): InformerState['phase'] {
    return this.#state.phase;
  }

  start(): void {
    this.#dispatch({ type: 'start' });
  }

  /** Final: a stopped informer is not started again. The cache stays as it is. */
  stop(): void {
    this.#dispatch({ type: 'stop' });
  }

  /** Resolves once everything that existed at the start is in the cache. */
  synced(): Promise<void> {
    if (this.cache.synced) return Promise.resolve();
    return new Promise((resolve) => this.#whenSynced.push(resolve));
  }

  /** One input at a time, each with all of its effects: an effect that answers at once is only queued. */
  #dispatch(input: InformerInput): void {
    this.#inputs.push(input);
    if (this.#busy) return;
    this.#busy = true;
    for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift()) {
      const { state, effects } = transition(this.#state, next);
      this.#state = state;
      for (const effect of effects) this.#carryOut(effect);
    }
    this.#busy = false;
  }

  #carryOut(effect: InformerEffect): void {
    switch (effect.type) {
      case 'list':
        return void this.#list(effect.whole, effect.continue);
      case 'watch':
        return this.#watch(effect.from);
      case 'close':
        this.#cancelWait?.();
        this.#streams++;
        return this.#stream?.close();
      case 'wait':
        return this.#wait(effect.failures);
      case 'observe':
        for (const item of effect.items) this.cache.observe(item as Stored<T>);
        return;
      case 'finish-list':
        return this.#finishList(effect.uids, effect.revision);
      case 'apply':
        for (const event of effect.events) {
          if (event.type === 'DELETED') this.cache.observeDeleted(event.object as Stored<T>);
          else if (event.type !== 'BOOKMARK') this.cache.observe(event.object as Stored<T>);
        }
        return this.cache.advance(effect.latest);
    }
  }

  async #list(whole: boolean, token: string | undefined): Promise<void> {
    const { client, kind, pageSize, selection, world } = this.#options;
    // In the server's own process a page costs time on the one thread: requests are served between two pages.
    if (token !== undefined) await new Promise<void>((resolve) => world.timers.soon(resolve));
    const answer = await client.list(kind, { ...selection, limit: whole ? undefined : pageSize, continue: token });
    if (answer.ok) {
      const { metadata, items } = answer.value;
      if (token === undefined) this.#noticeNewHistory(metadata.resourceVersion);
      const next = metadata.continue === undefined || metadata.continue === '' ? undefined : metadata.continue;
      this.#dispatch({ type: 'page', items, revision: metadata.resourceVersion, continue: next });
    } else {
      this.#log.warn('list failed', { reason: answer.reason, error: answer.error.message });
      this.#dispatch({ type: 'list-failed', expired: answer.reason === 'expired' });
    }
  }

  /** A consistent list that is older than events seen before: the server's data was replaced, and known revisions mean nothing. */
  #noticeNewHistory(revision: string): void {
    const { position } = this.cache;
    if (this.#state.phase !== 'listing' || position === undefined || !isNewer(position, revision)) return;
    this.#log.warn('the server went back in time', { from: position, to: revision });
    this.cache.clear();
  }

  #finishList(uids: ReadonlySet<string>, revision: string): void {
    this.cache.finishList(uids, revision);
    this.#log.debug('listed', { objects: uids.size, revision });
    for (const resolve of this.#whenSynced.splice(0)) resolve();
  }

  #watch(from: string): void {
    const { client, kind, selection, world } = this.#options;
    const number = ++this.#streams;
    const openedAt = world.clock.monotonic();
    // As client-go: between five and ten minutes, so that not all watches of a cluster end together.
    const timeoutSeconds = Math.floor(300 * (1 + world.random.float()));
    const stream = client.watch(
      kind,
      { ...selection, resourceVersion: from, timeoutSeconds },
      {
        events: (events) => {
          if (number === this.#streams) this.#dispatch({ type: 'events', events });
        },
        end: (error) => {
          if (number !== this.#streams) return;
          this.#log.debug('watch ended', { from, error: error?.message });
          this.#dispatch({ type: 'ended', cause: endCause(error, world.clock.monotonic() - openedAt) });
        },
      },
    );
    if (number === this.#streams) this.#stream = stream;
    else stream.close();
  }

  #wait(failures: number): void {
    const { timers, random } = this.#options.world;
    const longest = Math.min(firstWaitMs * 2 ** (failures - 1), this.#options.longestWaitMs ?? usualLongestWaitMs);
    this.#cancelWait = timers.after(longest * (0.5 + random.float() / 2), () => this.#dispatch({ type: 'due' }));
  }
}

const firstWaitMs = 800;
const usualLongestWaitMs = 30_000;
/** A stream that was open for this long was no failure, whichever side ended it. */
const healthyMs = 5_000;

function endCause(error: ApiError | undefined, openMs: number): EndCause {
  if (error?.code === 410) return 'expired';
  const passing = error === undefined || error.code === 429 || error.code >= 500;
  // The server does not have that revision yet, and did not get it in time: perhaps it never will.
  if (!passing || (error !== undefined && hasCause(error, 'ResourceVersionTooLarge'))) return 'refused';
  return openMs >= healthyMs ? 'lasted' : 'cut';
}
