import { ApiError, statusErrors } from '../../api/status.ts';
import { type Change, prefixEnd, type Store, StoreError, type Watch } from '../../store/contract.ts';
import type { Cancel, World } from '../../world/world.ts';
import type { OpenWatch, WatchEvent, WatchSink } from '../api.ts';
import { waitForRevision } from '../objects/wait-for-revision.ts';
import type { Resource } from '../objects/resources.ts';
import type { Selection } from '../objects/selection.ts';
import { revisionOf } from '../objects/object-revision.ts';
import { bookmark } from './bookmark.ts';
import { eventOf } from './shared-events.ts';

const BOOKMARK_EVERY_MS = 60_000;
/** The last bookmark comes this long before the timeout, so that the next watch resumes from about now. */
const LAST_BOOKMARK_BEFORE_END_MS = 2_000;
/** Objects of the initial state in one page. */
const INITIAL_PAGE = 500;

export interface WatchContext {
  readonly store: Store;
  readonly world: World;
}

export interface WatchPlan {
  readonly resource: Resource;
  /** The prefix of a collection, or one key. */
  readonly prefix: string;
  readonly selection: Selection;
  readonly start: /** The current state first (not older than the revision), then changes. */
    | { readonly type: 'state' /** 'now': the state at a moment after the request. */; readonly notBefore: number | 'now'; readonly announceEnd: boolean }
    /** Changes after the revision. */
    | { readonly type: 'after'; readonly revision: number };
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
  /** For custom resources: calls when their definition changes or goes. */
  readonly whenRedefined?: (call: () => void) => Cancel;
}

/**
 * A watch of one client on one resource.
 *
 * Expected flow: the initial state in pages, each after the sink has drained the last; then the changes of each revision
 * together, as the store commits them; bookmarks in between; the end at the timeout.
 *
 * Guarantees: every change exactly once, in the order of revisions, and nothing after `stop`.
 */
export class ResourceWatch implements OpenWatch {
  readonly #context: WatchContext;
  readonly #plan: WatchPlan;
  readonly #sink: WatchSink;
  readonly #deadline: number;
  #watch: Watch | undefined;
  #cancelEnd: Cancel | undefined;
  #cancelBookmark: Cancel | undefined;
  #cancelRedefined: Cancel | undefined;
  #ended = false;

  constructor(context: WatchContext, plan: WatchPlan, sink: WatchSink) {
    this.#context = context;
    this.#plan = plan;
    this.#sink = sink;
    this.#deadline = context.world.clock.monotonic() + plan.timeoutMs;
  }

  open(): this {
    const { start, timeoutMs } = this.#plan;
    this.#cancelEnd = this.#context.world.timers.after(timeoutMs, () => this.#end(undefined));
    this.#cancelRedefined = this.#plan.whenRedefined?.(() => this.#end(undefined));
    if (start.type === 'after') this.#follow(start.revision);
    else void this.#sendState(start.notBefore, start.announceEnd);
    return this;
  }

  stop(): void {
    this.#ended = true;
    this.#watch?.stop();
    this.#cancelEnd?.();
    this.#cancelBookmark?.();
    this.#cancelRedefined?.();
  }

  #end(error: ApiError | undefined): void {
    if (this.#ended) return;
    this.stop();
    this.#sink.end(error?.toStatus());
  }

  async #sendState(notBefore: number | 'now', announceEnd: boolean): Promise<void> {
    try {
      await waitForRevision(this.#context, notBefore === 'now' ? await this.#context.store.currentRevision() : notBefore);
      const revision = await this.#sendPages();
      if (this.#ended) return;
      if (announceEnd) this.#sink.events([bookmark(this.#plan.resource, revision, true)]);
      this.#follow(revision);
    } catch (error) {
      this.#end(error instanceof ApiError ? error : this.#failure(error, this.#context.store.revision()));
    }
  }

  /** @returns the revision at which all pages were read */
  async #sendPages(): Promise<number> {
    const { resource, prefix, selection } = this.#plan;
    const { store } = this.#context;
    const to = prefix.endsWith('/') ? prefixEnd(prefix) : `${prefix}\0`;
    const revision = store.revision();
    let from = prefix;
    for (;;) {
      const { entries, remaining } = await store.range({ from, to, revision, limit: INITIAL_PAGE });
      if (this.#ended) return revision;
      const page = entries.map((entry) => revisionOf(resource, entry)).filter((stored) => selection.everything || selection.matches(stored.object));
      if (page.length > 0) this.#sink.events(page.map((stored): WatchEvent => ({ type: 'ADDED', stored, memo: undefined })));
      const last = entries.at(-1);
      if (remaining === 0 || last === undefined) return revision;
      from = `${last.key}\0`;
      await this.#sink.drained?.();
    }
  }

  #follow(revision: number): void {
    if (this.#plan.bookmarks) this.#scheduleBookmark();
    const watch = this.#context.store.watch(
      { prefix: this.#plan.prefix, after: revision },
      { changes: (_, changes) => this.#deliver(changes), end: (cause) => this.#end(this.#failure(cause, revision)) },
    );
    // The store may end the watch before `watch` returns.
    if (this.#ended) watch.stop();
    else this.#watch = watch;
  }

  #deliver(changes: readonly Change[]): void {
    if (this.#ended) return;
    const { resource, selection } = this.#plan;
    const events: WatchEvent[] = [];
    for (const change of changes) {
      const event = eventOf(resource, change, selection);
      if (event !== undefined) events.push(event);
    }
    if (events.length > 0) this.#sink.events(events);
  }

  #scheduleBookmark(): void {
    const { clock, timers } = this.#context.world;
    const untilLast = this.#deadline - clock.monotonic() - LAST_BOOKMARK_BEFORE_END_MS;
    // A timer of less than a millisecond may fire without any time passing: it would be scheduled again and again.
    if (untilLast < 1) return;
    this.#cancelBookmark = timers.after(Math.min(BOOKMARK_EVERY_MS, untilLast), () => {
      if (this.#ended || this.#watch === undefined) return;
      this.#sink.events([bookmark(this.#plan.resource, this.#watch.progress(), false)]);
      this.#scheduleBookmark();
    });
  }

  /** undefined: the server is stopping, which clients treat as a broken connection. */
  #failure(cause: unknown, revision: number): ApiError | undefined {
    if (cause instanceof StoreError && cause.code === 'closed') return undefined;
    if (cause instanceof StoreError && cause.code === 'compacted') {
      return statusErrors.expired(`too old resource version: ${revision} (${this.#context.store.compactedRevision()})`);
    }
    return statusErrors.internal(cause instanceof Error ? cause.message : String(cause));
  }
}
