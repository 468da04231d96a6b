import type { Event, EventsEvent } from '../../generated/types.ts';

/**
 * Events are stored once and seen twice: as v1, which came first, and as events.k8s.io/v1, which gave fields better names and
 * called the fields that should no longer be used deprecated. Nothing is lost on the way, in either direction.
 */
export function eventsEventOf(event: Event): EventsEvent {
  const { series } = event;
  return {
    kind: 'Event',
    apiVersion: 'events.k8s.io/v1',
    metadata: event.metadata,
    eventTime: event.eventTime,
    ...present('series', series === undefined ? undefined : { count: series.count ?? 0, lastObservedTime: series.lastObservedTime }),
    ...present('reportingController', event.reportingComponent),
    ...present('reportingInstance', event.reportingInstance),
    ...present('action', event.action),
    ...present('reason', event.reason),
    regarding: event.involvedObject,
    ...present('related', event.related),
    ...present('note', event.message),
    ...present('type', event.type),
    deprecatedSource: event.source,
    deprecatedFirstTimestamp: event.firstTimestamp,
    deprecatedLastTimestamp: event.lastTimestamp,
    ...present('deprecatedCount', event.count),
  };
}

export function coreEventOf(event: EventsEvent): Event {
  const { series } = event;
  return {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: event.metadata,
    involvedObject: event.regarding,
    ...present('reason', event.reason),
    ...present('message', event.note),
    source: event.deprecatedSource,
    firstTimestamp: event.deprecatedFirstTimestamp,
    lastTimestamp: event.deprecatedLastTimestamp,
    ...present('count', event.deprecatedCount),
    ...present('type', event.type),
    eventTime: event.eventTime,
    ...present('series', series === undefined ? undefined : { ...present('count', series.count), lastObservedTime: series.lastObservedTime }),
    ...present('action', event.action),
    ...present('related', event.related),
    reportingComponent: event.reportingController ?? '',
    reportingInstance: event.reportingInstance ?? '',
  };
}

/** A field that is left out when it is empty. */
function present<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined || value === '' || value === 0 ? {} : ({ [key]: value } as { [P in K]?: V });
}
