/**
 * Events expire an hour after their last write (kube-apiserver: --event-ttl). The store has no TTL, so the server keeps the order of their writes.
 * Of most events only the bytes are read after their first minute: their decoded form is freed.
 */
import { type Entry, prefixEnd, remove, type Store, StoreError } from '../../store/contract.ts';
import type { Cancel, World } from '../../world/world.ts';
import type { KubeObject } from '../../api/object.ts';
import { forgetDecoded } from '../objects/object-revision.ts';
import type { Resource } from '../objects/resources.ts';

const LIFETIME_MS = 60 * 60_000;
const SWEEP_EVERY_MS = 60_000;
/** Events that one transaction removes. */
const BATCH = 128;
const PAGE = 1_000;

interface EventWrite {
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

interface ExpiryContext {
  readonly store: Store;
  readonly world: World;
  /** Asked before each sweep: false if another server removes the events. Undefined: none does. */
  readonly isDue?: (() => boolean) | undefined;
}

/** Removes expired events, until it is cancelled. */
export function expireEvents(deps: ExpiryContext, events: Resource): Cancel {
  const expiry = new EventExpiry(deps, events);
  expiry.start();
  return () => expiry.stop();
}

class EventExpiry {
  readonly #store: Store;
  readonly #world: World;
  readonly #events: Resource;
  readonly #isDue: () => boolean;
  /** In the order of their last writes: expired ones come first. */
  readonly #written = new Map<string, EventWrite>();
  /** Written since the last sweep. */
  #fresh: Entry[] = [];
  #unwatch: Cancel | undefined;
  #cancelSweep: Cancel | undefined;
  /** Events that this process has not seen being written are read, or are being read. */
  #isRead = false;
  #stopped = false;

  constructor({ store, world, isDue = () => true }: ExpiryContext, events: Resource) {
    this.#isDue = isDue;
    this.#store = store;
    this.#world = world;
    this.#events = events;
  }

  start(): void {
    this.#follow(this.#store.revision());
    // Existing events are read at the first sweep: a starting server has more urgent work, and no expiry is due earlier.
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#unwatch?.();
    this.#cancelSweep?.();
  }

  async #readAll(): Promise<void> {
    this.#isRead = true;
    try {
      await this.#readExisting();
    } catch (error) {
      this.#isRead = false;
      throw error;
    }
  }

  /** Adds the events that were written before this process began to watch. */
  async #readExisting(): Promise<void> {
    const to = prefixEnd(this.#events.prefix);
    const found: [string, EventWrite][] = [];
    for (let from = this.#events.prefix; !this.#stopped; ) {
      const { entries, remaining } = await this.#store.range({ from, to, limit: PAGE });
      for (const { key, modRevision, value } of entries) if (!this.#written.has(key)) found.push([key, { revision: modRevision, at: creationOf(value) }]);
      const last = entries.at(-1);
      if (remaining === 0 || last === undefined) break;
      from = `${last.key}\0`;
      await new Promise<void>((resolve) => this.#world.timers.soon(resolve));
    }
    // Events were lost meanwhile: the next sweep reads again.
    if (!this.#isRead) return;
    const followed = [...this.#written];
    this.#written.clear();
    for (const [key, written] of found.sort(([, a], [, b]) => a.at - b.at)) this.#written.set(key, written);
    for (const [key, written] of followed) this.#written.set(key, written);
  }

  #follow(after: number): void {
    const watch = this.#store.watch(
      { prefix: this.#events.prefix, after },
      {
        changes: (revision, changes) => {
          const at = this.#world.clock.now();
          for (const { key, entry } of changes) {
            this.#written.delete(key);
            if (entry === undefined) continue;
            this.#written.set(key, { revision, at });
            this.#fresh.push(entry);
          }
        },
        end: (cause) => (cause.code === 'compacted' ? this.#followAgain() : this.stop()),
      },
    );
    this.#unwatch = () => watch.stop();
  }

  /** The store has lost events: what was written when is not known any more. */
  #followAgain(): void {
    this.#isRead = false;
    this.#written.clear();
    // Deferred: the store has not taken over its new state yet.
    this.#world.timers.soon(() => {
      if (!this.#stopped) this.#follow(this.#store.revision());
    });
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#cancelSweep = this.#world.timers.after(SWEEP_EVERY_MS, () => void this.#run());
  }

  async #run(): Promise<void> {
    try {
      for (const entry of this.#fresh.splice(0)) forgetDecoded(entry);
      if (!this.#isRead) await this.#readAll();
      if (this.#isDue()) await this.#sweep();
      this.#schedule();
    } catch (error) {
      if (error instanceof StoreError && error.code === 'closed') return;
      this.#world.log.warn('cannot remove expired events', { error: String(error) });
      this.#schedule();
    }
  }

  async #sweep(): Promise<void> {
    const before = this.#world.clock.now() - LIFETIME_MS;
    for (;;) {
      const due = this.#takeDue(before);
      if (due.length === 0 || this.#stopped) return;
      await this.#removeAll(due);
      for (const [key, written] of due) if (this.#written.get(key) === written) this.#written.delete(key);
    }
  }

  #takeDue(before: number): [string, EventWrite][] {
    const due: [string, EventWrite][] = [];
    for (const [key, written] of this.#written) {
      if (written.at > before || due.length >= BATCH) break;
      due.push([key, written]);
    }
    return due;
  }

  /** An event that was written again meanwhile is kept: the watch has moved it to the end. */
  async #removeAll(due: readonly [string, EventWrite][]): Promise<void> {
    const compares = due.map(([key, { revision }]) => ({ key, modRevision: revision }));
    const result = await this.#store.transact({ compares, writes: due.map(([key]) => remove(key)) });
    if (result.ok) return;
    const changed = new Set(result.conflicts.map(({ key }) => key));
    const rest = due.filter(([key]) => !changed.has(key));
    if (rest.length > 0) await this.#removeAll(rest);
  }
}

/** Decoded without the memo, which would keep all events in memory. */
function creationOf(value: Uint8Array): number {
  const { metadata } = JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()) as KubeObject;
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}
