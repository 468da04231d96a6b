/** Events live for an hour after they were last written. The store knows no time, so the server keeps the order of their writes. */
import { prefixEnd, remove, type Store, StoreError } from '../../store/contract.ts';
import type { Cancel, World } from '../../world/world.ts';
import type { Resource } from './resources.ts';
import { storedOf } from './stored.ts';

const LIFETIME_MS = 60 * 60_000;
const SWEEP_EVERY_MS = 60_000;
/** Events that go in one transaction. */
const BATCH = 128;
const PAGE = 1_000;

interface Written {
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Removes events that are over, until it is cancelled. */
export function expireEvents(deps: { readonly store: Store; readonly world: World }, events: Resource): Cancel {
  const expiry = new EventExpiry(deps, events);
  void expiry.start();
  return () => expiry.stop();
}

class EventExpiry {
  readonly #store: Store;
  readonly #world: World;
  readonly #events: Resource;
  /** In the order of their last writes: what is over stands at the front. */
  readonly #written = new Map<string, Written>();
  #cancels: Cancel[] = [];
  #stopped = false;

  constructor({ store, world }: { readonly store: Store; readonly world: World }, events: Resource) {
    this.#store = store;
    this.#world = world;
    this.#events = events;
  }

  async start(): Promise<void> {
    try {
      const revision = await this.#readExisting();
      if (!this.#stopped) this.#follow(revision);
      this.#schedule();
    } catch (error) {
      if (error instanceof StoreError && error.code === 'closed') return;
      this.#world.log.error('events do not expire', { error: String(error) });
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#cancels) cancel();
    this.#cancels = [];
  }

  async #readExisting(): Promise<number> {
    const revision = this.#store.revision();
    const to = prefixEnd(this.#events.prefix);
    const found: [string, Written][] = [];
    for (let from = this.#events.prefix; !this.#stopped; ) {
      const { entries, remaining } = await this.#store.range({ from, to, revision, limit: PAGE });
      for (const entry of entries) {
        const { creationTimestamp = '' } = storedOf(this.#events, entry).object.metadata;
        found.push([entry.key, { revision: entry.modRevision, at: Date.parse(creationTimestamp) || 0 }]);
      }
      const last = entries.at(-1);
      if (remaining === 0 || last === undefined) break;
      from = `${last.key}\0`;
    }
    for (const [key, written] of found.sort(([, a], [, b]) => a.at - b.at)) this.#written.set(key, written);
    return revision;
  }

  #follow(after: number): void {
    const watch = this.#store.watch(
      { prefix: this.#events.prefix, after },
      {
        changes: (revision, changes) => {
          const at = this.#world.clock.now();
          for (const { key, type } of changes) {
            this.#written.delete(key);
            if (type === 'put') this.#written.set(key, { revision, at });
          }
        },
        end: () => this.stop(),
      },
    );
    this.#cancels.push(() => watch.stop());
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#cancels.push(this.#world.timers.after(SWEEP_EVERY_MS, () => void this.#sweep().then(() => this.#schedule())));
  }

  async #sweep(): Promise<void> {
    // Only the watch is left to cancel: the timer has fired.
    this.#cancels = this.#cancels.slice(0, 1);
    const before = this.#world.clock.now() - LIFETIME_MS;
    try {
      for (;;) {
        const due = this.#takeDue(before);
        if (due.length === 0 || this.#stopped) return;
        await this.#removeAll(due);
      }
    } catch (error) {
      this.#world.log.warn('cannot remove events that are over', { error: String(error) });
    }
  }

  #takeDue(before: number): [string, Written][] {
    const due: [string, Written][] = [];
    for (const [key, written] of this.#written) {
      if (written.at > before || due.length >= BATCH) break;
      due.push([key, written]);
    }
    for (const [key] of due) this.#written.delete(key);
    return due;
  }

  /** One that was written again meanwhile is not over: the watch has put it at the end of the line. */
  async #removeAll(due: readonly [string, Written][]): Promise<void> {
    const compares = due.map(([key, { revision }]) => ({ key, modRevision: revision }));
    const result = await this.#store.transact({ compares, writes: due.map(([key]) => remove(key)) });
    if (result.ok) return;
    const changed = new Set(result.conflicts.map(({ key }) => key));
    const rest = due.filter(([key]) => !changed.has(key));
    if (rest.length > 0) await this.#removeAll(rest);
  }
}
