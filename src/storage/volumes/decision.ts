/**
 * The words in which the storage controllers decide: what to do, why, and what to tell people.
 * A decision is a list of actions, any prefix of which may be all that happens.
 */
import type { KubeObject } from '../../api/object.ts';
import type { ClaimRef } from './volume.ts';

export interface VolumeDecision<Action, Why extends VolumeReason = VolumeReason> {
  readonly actions: readonly Action[];
  readonly reasons: readonly Why[];
  /** When to decide again although nothing changed; milliseconds since 1970. */
  readonly again?: number;
}

/** Why it is so; `text` is for people, everything else is data. */
export interface VolumeReason {
  readonly code: string;
  readonly text: string;
  /** Whose move it is. */
  readonly next: Actor;
}

export type Actor =
  | 'binder'
  | 'provisioner'
  | 'external provisioner'
  | 'reclaimer'
  | 'scheduler'
  | 'attach-detach'
  | 'driver'
  | 'user'
  | 'administrator'
  | 'nobody';

/** One write of one object. */
export type VolumeWrite<T extends KubeObject> =
  | { readonly do: 'create'; readonly object: T }
  /**
   * Only if nobody else wrote it since the decision saw it. `from`: what it is made of: what was seen, or what an earlier action of
   * the same list writes, which does not count as somebody else.
   */
  | { readonly do: 'update' | 'updateStatus'; readonly object: T; readonly from: T }
  /** Only the object of this uid. */
  | { readonly do: 'delete'; readonly object: T };

/** Reads the claim from the server, not from a cache. Goes on only if no claim of that uid exists: data depends on it. */
export interface ConfirmClaimGone {
  readonly do: 'confirmClaimGone';
  readonly claim: ClaimRef;
}

export interface RecordEvent {
  readonly do: 'tell';
  readonly event: ObjectEvent;
  /** Whoever tells it remembers it as `Told` under this key, so that it is not told again and again. */
  readonly rememberAs?: string;
}

export interface ObjectEvent {
  readonly about: KubeObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** What was last told. */
export interface RecordedEvent {
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** By `rememberAs`; undefined: nothing so far. How things stand with an object is remembered under its uid. */
export type LastEvent = (key: string) => RecordedEvent | undefined;

/** The component that Kubernetes names in these events. */
export const volumeEventSource = 'persistentvolume-controller';

/** Events live for an hour; what still holds is said again before it is forgotten. */
const repeatAfterMs = 30 * 60_000;

/** How things stand: told if it is news, or has not been said for long. */
export function recordIfChanged(
  event: ObjectEvent,
  told: RecordedEvent | undefined,
  now: number,
): { readonly actions: readonly RecordEvent[]; readonly again: number } {
  const isNews = told === undefined || told.reason !== event.reason || told.message !== event.message || told.at + repeatAfterMs <= now;
  return isNews
    ? { actions: [{ do: 'tell', event, rememberAs: event.about.metadata.uid ?? '' }], again: now + repeatAfterMs }
    : { actions: [], again: told.at + repeatAfterMs };
}

/** What happened: told once, behind the write that made it so. */
export const recordOnce = (event: ObjectEvent): RecordEvent => ({ do: 'tell', event });

/** The write that turns one object into the other: none if they are the same. */
export const update = <T extends KubeObject>(before: T, after: T): readonly VolumeWrite<T>[] =>
  before === after ? [] : [{ do: 'update', object: after, from: before }];
export const updateStatus = <T extends KubeObject>(before: T, after: T): readonly VolumeWrite<T>[] =>
  before === after ? [] : [{ do: 'updateStatus', object: after, from: before }];
