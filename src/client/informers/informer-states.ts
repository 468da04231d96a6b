import type { KubeObject } from '../../api/object.ts';
import { isNewer } from '../revision.ts';
import type { StreamEvent } from '../transport.ts';

/**
 * How an informer follows a collection, as a pure state machine.
 *
 *     idle ──start──► listing ──last page──► watching ──cut──► watching from where it was
 *                      ▲  │ failed            │  │ cut again and again
 *                      │  ▼                   │  ▼
 *                      └─ backing off ◄───────┴─ backing off ──due──► watching
 *                                 410, or events from the past: list again; refused: back off, then list again
 *
 * Expected flow: one list, then one watch that lasts until the server closes it, resumed from its last revision.
 *
 * Guarantees
 * - Nothing is lost: a watch resumes after the last revision that is known to be complete. The events of one revision
 *   may have been cut in the middle, so the newest revision seen counts as complete only once something newer, or a
 *   bookmark, has come. The cache ignores events that are delivered twice.
 * - Nothing is invented: after a 410 the whole collection is listed again, and objects that it lacks are reported as deleted.
 * - One request or stream is under way at any time.
 */
export type InformerState =
  | { readonly phase: 'idle' }
  | Listing
  | Watching
  | { readonly phase: 'backing-off'; readonly failures: number; readonly next: { readonly type: 'list' } | { readonly type: 'watch'; readonly from: string } }
  | { readonly phase: 'stopped' };

interface Listing {
  readonly phase: 'listing';
  readonly failures: number;
  /** All pages are of one revision, and these uids were in them so far. Grows in place: a copy per page would be quadratic. */
  readonly uids: Set<string>;
  /** A page token expired before: ask for everything at once, so that even a server that compacts quickly can be listed. */
  readonly whole: boolean;
}

interface Watching {
  readonly phase: 'watching';
  /** How often the stream failed in a row without having delivered anything. */
  readonly failures: number;
  /** Every event up to this revision has been delivered. */
  readonly complete: string;
  /** Some events of this revision have been delivered. */
  readonly latest: string;
}

export type InformerInput =
  | { readonly type: 'start' }
  | { readonly type: 'page'; readonly items: readonly KubeObject[]; readonly revision: string; readonly continue: string | undefined }
  | { readonly type: 'list-failed'; readonly expired: boolean }
  | { readonly type: 'events'; readonly events: readonly StreamEvent[] }
  | { readonly type: 'ended'; readonly cause: EndCause }
  /** The time to back off is over. */
  | { readonly type: 'due' }
  | { readonly type: 'stop' };

/** `lasted`: cut after it had been open for a good while. `refused`: the server will not watch from there, now or ever. */
export type EndCause = 'cut' | 'lasted' | 'expired' | 'refused';

export type InformerEffect =
  | { readonly type: 'list'; readonly whole: boolean; readonly continue: string | undefined }
  | { readonly type: 'watch'; readonly from: string }
  | { readonly type: 'close' }
  | { readonly type: 'wait'; readonly failures: number }
  | { readonly type: 'observe'; readonly items: readonly KubeObject[] }
  | { readonly type: 'finish-list'; readonly uids: ReadonlySet<string>; readonly revision: string }
  | { readonly type: 'apply'; readonly events: readonly StreamEvent[]; readonly latest: string };

export interface Transition {
  readonly state: InformerState;
  readonly effects: readonly InformerEffect[];
}

export function transition(state: InformerState, input: InformerInput): Transition {
  if (input.type === 'stop') return { state: { phase: 'stopped' }, effects: [{ type: 'close' }] };
  switch (state.phase) {
    case 'idle':
      return input.type === 'start' ? list(0) : stay(state);
    case 'listing':
      return whileListing(state, input);
    case 'watching':
      return whileWatching(state, input);
    case 'backing-off':
      if (input.type !== 'due') return stay(state);
      return state.next.type === 'list' ? list(state.failures) : watch(state.next.from, state.failures);
    case 'stopped':
      return stay(state);
  }
}

function whileListing(state: Listing, input: InformerInput): Transition {
  if (input.type === 'list-failed') {
    // A token that expired between two pages is not the server's fault: list again at once, but in one piece.
    if (input.expired && !state.whole) return { state: { ...state, uids: new Set(), whole: true }, effects: [listEffect(true)] };
    return backOff(state.failures + 1, { type: 'list' });
  }
  if (input.type !== 'page') return stay(state);
  for (const item of input.items) state.uids.add(item.metadata.uid ?? '');
  const observe: InformerEffect = { type: 'observe', items: input.items };
  if (input.continue !== undefined) return { state, effects: [observe, { type: 'list', whole: state.whole, continue: input.continue }] };
  const watching = watch(input.revision, state.failures);
  return { state: watching.state, effects: [observe, { type: 'finish-list', uids: state.uids, revision: input.revision }, ...watching.effects] };
}

function whileWatching(state: Watching, input: InformerInput): Transition {
  if (input.type === 'events') return whenEvents(state, input.events);
  if (input.type !== 'ended') return stay(state);
  switch (input.cause) {
    case 'lasted':
      return watch(state.complete, 0);
    case 'cut':
      // The first cut costs nothing; a stream that is cut each time as soon as it opens does.
      return state.failures === 0 ? watch(state.complete, 1) : backOff(state.failures + 1, { type: 'watch', from: state.complete });
    case 'expired':
      return state.failures === 0 ? list(1) : backOff(state.failures + 1, { type: 'list' });
    case 'refused':
      return backOff(state.failures + 1, { type: 'list' });
  }
}

function whenEvents(state: Watching, events: readonly StreamEvent[]): Transition {
  let { complete, latest } = state;
  for (const { type, object } of events) {
    const revision = object.metadata.resourceVersion ?? latest;
    // Events from before the revision asked for: the server's data was replaced by older data. Begin anew.
    if (isNewer(state.complete, revision)) return { ...list(0), effects: [{ type: 'close' }, ...list(0).effects] };
    if (isNewer(revision, latest)) {
      complete = latest;
      latest = revision;
    }
    if (type === 'BOOKMARK') complete = latest;
  }
  return { state: { phase: 'watching', failures: 0, complete, latest }, effects: [{ type: 'apply', events, latest }] };
}

const stay = (state: InformerState): Transition => ({ state, effects: [] });

const listEffect = (whole: boolean): InformerEffect => ({ type: 'list', whole, continue: undefined });

const list = (failures: number): Transition => ({
  state: { phase: 'listing', failures, uids: new Set(), whole: false },
  effects: [listEffect(false)],
});

const watch = (from: string, failures: number): Transition => ({
  state: { phase: 'watching', failures, complete: from, latest: from },
  effects: [{ type: 'watch', from }],
});

const backOff = (failures: number, next: { type: 'list' } | { type: 'watch'; from: string }): Transition => ({
  state: { phase: 'backing-off', failures, next },
  effects: [{ type: 'wait', failures }],
});
