/**
 * A change of the store as a watch event. All watchers for which the change has the same type share one event,
 * so it is encoded once: the events are kept in the memo of the change.
 */
import type { Change } from '../../store/contract.ts';
import type { ObjectRevision, WatchEvent, WatchEventType } from '../api.ts';
import type { Resource } from '../objects/resources.ts';
import type { Selection } from '../objects/selection.ts';
import { removedRevisionOf, revisionOf } from '../objects/object-revision.ts';

class SharedEvents {
  readonly #views = new Map<Resource, Map<WatchEventType, WatchEvent>>();

  get(resource: Resource, type: WatchEventType, stored: () => ObjectRevision): WatchEvent {
    let events = this.#views.get(resource);
    if (events === undefined) {
      events = new Map();
      this.#views.set(resource, events);
    }
    let event = events.get(type);
    if (event === undefined) {
      event = { type, stored: stored(), memo: undefined };
      events.set(type, event);
    }
    return event;
  }
}

/** The event for a watcher with this selection; undefined: the selection does not match. */
export function eventOf(resource: Resource, change: Change, selection: Selection): WatchEvent | undefined {
  const { entry, previous, revision } = change;
  const shown = entry !== undefined && (selection.everything || selection.matches(revisionOf(resource, entry).object));
  const wasShown = previous !== undefined && (selection.everything || selection.matches(revisionOf(resource, previous).object));
  if (!shown && !wasShown) return undefined;
  const shared = sharedEventsOf(change);
  if (shown) return shared.get(resource, wasShown ? 'MODIFIED' : 'ADDED', () => revisionOf(resource, entry));
  // The object was deleted, or no longer matches: DELETED carries the last state that matched.
  return previous === undefined ? undefined : shared.get(resource, 'DELETED', () => removedRevisionOf(resource, previous, revision));
}

function sharedEventsOf(change: Change): SharedEvents {
  if (change.memo instanceof SharedEvents) return change.memo;
  const shared = new SharedEvents();
  change.memo = shared;
  return shared;
}
