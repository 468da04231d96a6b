import type { Cancel, World } from '../world/world.ts';

/**
 * A queue of keys to be worked on: each at most once in the queue, and by one worker at a time, as client-go's workqueue.
 *
 * Where a key is, and what always holds:
 * - `queued`:     to be worked on, in order of arrival. A key is in it at most once, and never while in `processing`.
 * - `processing`: being worked on, between `take` and `done`.
 * - `dirty`:      added again while in `processing`: a subset of it. The worker may have missed the change, so
 *                 `done` puts the key back into `queued`.
 * - `delayed`:    to be added at a certain time; independent of the above. Only the earliest time counts.
 * A key in none of them needs nothing. Its failures are remembered until `forget`.
 *
 * The queue is as long as there are keys, that is objects, at most: it needs no limit of its own.
 */
export class WorkQueue<Key extends string> {
  readonly #world: Pick<World, 'timers' | 'clock'>;
  readonly #backoff: Backoff;
  readonly #queued = new Set<Key>();
  /** Where the next key is taken from. Kept: an iterator that starts anew steps over every key taken since the set last shrank. */
  #next = this.#queued.values();
  readonly #processing = new Set<Key>();
  readonly #dirty = new Set<Key>();
  readonly #delayed = new Map<Key, { readonly at: number; readonly cancel: Cancel }>();
  readonly #failures = new Map<Key, number>();
  #stopped = false;
  /** Called whenever a key came into `queued`: there may be something to take. */
  onReady: () => void = () => undefined;

  constructor(world: Pick<World, 'timers' | 'clock'>, backoff: Backoff = defaultBackoff) {
    this.#world = world;
    this.#backoff = backoff;
  }

  add(key: Key): void {
    if (this.#stopped) return;
    if (this.#processing.has(key)) {
      this.#dirty.add(key);
    } else {
      const { size } = this.#queued;
      if (this.#queued.add(key).size > size) this.onReady();
    }
  }

  addAfter(key: Key, ms: number): void {
    if (this.#stopped) return;
    if (ms <= 0) return this.add(key);
    const at = this.#world.clock.monotonic() + ms;
    const planned = this.#delayed.get(key);
    if (planned !== undefined && planned.at <= at) return;
    planned?.cancel();
    const cancel = this.#world.timers.after(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { at, cancel });
  }

  /** After a failure: adds the key again, later each time. Returns in how many milliseconds. */
  retry(key: Key): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const ms = Math.min(this.#backoff.firstMs * 2 ** Math.min(failures, 60), this.#backoff.longestMs);
    this.addAfter(key, ms);
    return ms;
  }

  failures(key: Key): number {
    return this.#failures.get(key) ?? 0;
  }

  /** After a success: the next failure counts as the first. */
  forget(key: Key): void {
    if (this.#failures.size > 0) this.#failures.delete(key);
  }

  /** The key that has waited longest; the worker must call `done` with it, whatever happens. */
  take(): Key | undefined {
    if (this.#stopped) return undefined;
    if (this.#queued.size === 0) return undefined;
    let next = this.#next.next();
    if (next.done === true) {
      // An iterator that has come to an end stays there, even if keys are added.
      this.#next = this.#queued.values();
      next = this.#next.next();
    }
    const key = next.value as Key;
    this.#queued.delete(key);
    this.#processing.add(key);
    return key;
  }

  done(key: Key): void {
    this.#processing.delete(key);
    if (this.#dirty.size > 0 && this.#dirty.delete(key)) this.add(key);
  }

  /** No key is taken from now on; those in `processing` may still finish. */
  stop(): void {
    this.#stopped = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#queued.clear();
    this.#dirty.clear();
    this.#failures.clear();
  }

  /** How many keys wait, delayed ones included. */
  get size(): number {
    return this.#queued.size + this.#dirty.size + this.#delayed.size;
  }

  get processing(): number {
    return this.#processing.size;
  }

  /** No key waits or is being worked on; delayed ones do not count. */
  get idle(): boolean {
    return this.#queued.size === 0 && this.#processing.size === 0;
  }
}

export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Quick at first, since most failures are conflicts; never longer than a user who watches would wait. */
export const defaultBackoff: Backoff = { firstMs: 5, longestMs: 60_000 };
