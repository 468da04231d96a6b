import { type Entry, prefixEnd, type Store, StoreError, type Watch } from '../../store/contract.ts';
import type { Cancel, Timers } from '../../world/world.ts';

/** What a key holds now (undefined: nothing), and held when the follower was told last. */
export interface FollowedChange {
  readonly key: string;
  readonly entry: Entry | undefined;
  readonly previous: Entry | undefined;
}

export interface FollowOptions {
  readonly store: Store;
  readonly timers: Timers;
  readonly prefix: string;
  /** Never empty. At the start, and after lost events, a page at a time. */
  readonly changes: (changes: readonly FollowedChange[]) => void;
  /** Awaited before a page that was read is handed on. */
  readonly beforePage?: (entries: readonly Entry[]) => Promise<void>;
  /** The store is closed, or has failed. */
  readonly ended?: () => void;
}

const PAGE = 500;
const LIST_AGAIN_MS = 1_000;

/**
 * All keys under a prefix: listed once, then followed by a watch. A store that servers share may lose the events in between and end the watch
 * with `compacted`: the keys are then listed again, and the difference is handed on. Without that, a role that was taken away would be in
 * force until the server starts again.
 */
export class PrefixFollower {
  readonly #options: FollowOptions;
  readonly #known = new Map<string, Entry>();
  #watch: Watch | undefined;
  #cancelTimer: Cancel | undefined;
  #stopped = false;

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  /** Resolves once all keys were handed on. @throws StoreError if they cannot be read */
  async start(): Promise<void> {
    const gone = new Set(this.#known.keys());
    const revision = await this.#list(gone);
    if (this.#stopped) return;
    this.#take([...gone].map((key) => ({ key, entry: undefined })));
    const { store, prefix } = this.#options;
    this.#watch = store.watch({ prefix, after: revision }, { changes: (_, changes) => this.#take(changes), end: (cause) => this.#lost(cause) });
  }

  /** Begins as soon as the keys can be read. */
  startEventually(): void {
    this.#startAgain();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer?.();
    this.#watch?.stop();
  }

  /** Takes the keys that are there out of `gone`. @returns the revision of all pages */
  async #list(gone: Set<string>): Promise<number> {
    const { store, prefix, beforePage } = this.#options;
    const to = prefixEnd(prefix);
    let page = await store.range({ from: prefix, to, limit: PAGE });
    for (;;) {
      if (beforePage !== undefined) await beforePage(page.entries);
      for (const { key } of page.entries) gone.delete(key);
      this.#take(page.entries.filter(({ key, modRevision }) => this.#known.get(key)?.modRevision !== modRevision).map((entry) => ({ key: entry.key, entry })));
      const last = page.entries.at(-1);
      if (page.remaining === 0 || last === undefined || this.#stopped) return page.revision;
      page = await store.range({ from: `${last.key}\0`, to, limit: PAGE, revision: page.revision });
    }
  }

  #take(changes: readonly Pick<FollowedChange, 'key' | 'entry'>[]): void {
    if (changes.length === 0 || this.#stopped) return;
    const followed = changes.map(({ key, entry }) => ({ key, entry, previous: this.#known.get(key) }));
    for (const { key, entry } of changes) {
      if (entry === undefined) this.#known.delete(key);
      else this.#known.set(key, entry);
    }
    this.#options.changes(followed);
  }

  #lost(cause: unknown): void {
    if (this.#stopped) return;
    if (cause instanceof StoreError && (cause.code === 'closed' || cause.code === 'failed')) this.#options.ended?.();
    // Deferred: the store has not taken over its new state yet.
    else this.#options.timers.soon(() => this.#startAgain());
  }

  #startAgain(): void {
    if (this.#stopped) return;
    this.start().catch((error: unknown) => {
      if (error instanceof StoreError && (error.code === 'closed' || error.code === 'failed')) this.#lost(error);
      else this.#cancelTimer = this.#options.timers.after(LIST_AGAIN_MS, () => this.#startAgain());
    });
  }
}
