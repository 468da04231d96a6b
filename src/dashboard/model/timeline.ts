/** What happened to a claim and to what belongs to it, in the words of `moor simulate`. */
import type { Event } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { narrate } from '../../why/timeline/narration.ts';
import { describeEvent } from '../../why/timeline/event-description.ts';

export interface TimelineEntry {
  readonly key: string;
  /** RFC 3339; '': the object does not say. */
  readonly at: string;
  readonly type: 'change' | 'event' | 'warning';
  readonly who: string;
  readonly about: string;
  readonly what: string;
  /** Of an event that repeats. */
  readonly times: number;
}

/** The lines for one change of an object, as a watch from an old revision delivers it. */
export function changeEntries(before: Stored | undefined, after: Stored | undefined): readonly TimelineEntry[] {
  const object = after ?? before;
  if (object === undefined) return [];
  const { at, who } = lastWrite(after ?? object, after === undefined);
  return narrate(before, after).map(({ about, what }, index) => ({
    key: `${object.metadata.uid} ${object.metadata.resourceVersion} ${index} ${after === undefined ? 'gone' : ''}`,
    at,
    type: 'change',
    who,
    about,
    what,
    times: 1,
  }));
}

/** managedFields says when an object was written last, and by which component. */
function lastWrite({ metadata }: KubeObject, isGone: boolean): { readonly at: string; readonly who: string } {
  const writes = (metadata.managedFields ?? []).toSorted((a, b) => ((a.time ?? '') < (b.time ?? '') ? -1 : 1));
  const last = writes.at(-1);
  const at = isGone ? (metadata.deletionTimestamp ?? '') : '';
  return { at: at === '' ? (last?.time ?? metadata.creationTimestamp ?? '') : at, who: isGone ? '' : (last?.manager ?? '') };
}

export function eventEntry(event: Stored<Event & KubeObject>): TimelineEntry | undefined {
  const described = describeEvent(event);
  if (described === undefined) return undefined;
  const at = event.lastTimestamp ?? event.series?.lastObservedTime ?? event.eventTime ?? event.firstTimestamp ?? event.metadata.creationTimestamp ?? '';
  return { key: event.metadata.uid, at, times: event.series?.count ?? event.count ?? 1, ...described };
}

/** Oldest first; of one second, in the order in which they came. */
export const sorted = (entries: Iterable<TimelineEntry>): readonly TimelineEntry[] =>
  [...entries].toSorted((a, b) => Math.floor(Date.parse(a.at) / 1000) - Math.floor(Date.parse(b.at) / 1000) || 0);

/** 'too old resource version: 1 (4711)': the oldest revision from which a watch can begin. */
export const oldestRevision = (message: string): string | undefined => /too old resource version: \d+ \((\d+)\)/.exec(message)?.[1];
