/** What the decision of every controller is made of. Pure, so that `decide.ts` files may import it. */
import type { ObjectReference } from '../api/generated/types.ts';
import type { KubeObject } from '../api/object.ts';

export interface Decision<Action, Why extends Reason = Reason> {
  /** In the order in which they have to happen. Any prefix may be all that happens. */
  readonly actions: readonly Action[];
  /** Why these actions, or why none. */
  readonly reasons: readonly Why[];
  /** When to decide again although nothing changed; milliseconds since 1970. */
  readonly again?: number;
}

/** A reason is data: events, conditions and explanations are renderings of it. */
export interface Reason {
  readonly code: string;
  readonly text: string;
  /** Which component or person acts next. */
  readonly next?: string;
}

/** One write of one object. `ObjectWriter` performs it. */
export type ObjectWrite<T extends KubeObject = KubeObject> =
  | { readonly do: 'create'; readonly object: T }
  /**
   * Compared and swapped on the resourceVersion of `from`: an object of a cache, or one that an earlier action of the same list
   * writes, which is no conflict.
   */
  | { readonly do: 'update' | 'updateStatus'; readonly object: T; readonly from: T }
  /** Only the object of this uid. With `ifUnchanged`, only in this version. */
  | { readonly do: 'delete'; readonly object: T; readonly ifUnchanged?: true };

/** The write that turns one object into the other: none if they are the same. */
export const update = <T extends KubeObject>(before: T, after: T): readonly ObjectWrite<T>[] =>
  before === after ? [] : [{ do: 'update', object: after, from: before }];
export const updateStatus = <T extends KubeObject>(before: T, after: T): readonly ObjectWrite<T>[] =>
  before === after ? [] : [{ do: 'updateStatus', object: after, from: before }];

/** Records an event about an object. `RecordedEvents` performs it. */
export interface RecordEvent {
  readonly do: 'recordEvent';
  readonly event: ObjectEvent<KubeObject | ObjectReference>;
  /** The event becomes the last one of this key, so that later decisions do not record it again. */
  readonly rememberAs?: string;
  /** The state that the event is about, where reason and message do not tell it from others. */
  readonly state?: string;
}

export interface EventDraft {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface ObjectEvent<About extends KubeObject | ObjectReference = KubeObject> extends EventDraft {
  readonly about: About;
}

export interface RecordedEvent {
  readonly reason: string;
  readonly message: string;
  readonly state?: string | undefined;
  /** When it was recorded last; milliseconds since 1970. */
  readonly at: number;
  /** When the state was recorded first; absent: `at`. */
  readonly since?: number;
  /** So many events were recorded since that the recorder has forgotten its count: a renewal would be another object, not a greater count. */
  readonly isForgotten?: boolean;
}

/** The last event of a key; undefined: none so far. The event about an object's state has the object's uid as its key. */
export type LastEvent = (key: string) => RecordedEvent | undefined;

/** An event about a change: recorded once, behind the write that made the change. */
export const recordOnce = (event: RecordEvent['event']): RecordEvent => ({ do: 'recordEvent', event });

/**
 * When the event about a state that still holds is recorded again: after fifteen seconds, as Kubernetes does, then after twice the time
 * each, up to five minutes, which is what the recorder lets pass for one object. A count that the recorder has forgotten is one of very many:
 * it is renewed only before the event expires, after an hour.
 */
export function renewalOf({ at, since = at, isForgotten = false }: RecordedEvent): number {
  return at + (isForgotten ? expiringMs : Math.min(Math.max(at - since, firstRenewalMs), longestRenewalMs));
}

const firstRenewalMs = 15_000;
const longestRenewalMs = 5 * 60_000;
const expiringMs = 30 * 60_000;

/** An event about a state: recorded when the state is new, and again while it holds. */
export function recordIfChanged(
  event: ObjectEvent,
  last: RecordedEvent | undefined,
  now: number,
): { readonly actions: readonly RecordEvent[]; readonly again: number } {
  const same = last !== undefined && last.reason === event.reason && last.message === event.message ? last : undefined;
  if (same !== undefined && renewalOf(same) > now) return { actions: [], again: renewalOf(same) };
  const again = renewalOf({ ...event, at: now, since: same?.since ?? same?.at ?? now });
  return { actions: [{ do: 'recordEvent', event, rememberAs: event.about.metadata.uid ?? '' }], again };
}
