import type { Event, EventsEvent } from '../../generated/types.ts';
import type { Column, Conversion, Kind } from '../../kind.ts';
import type { KubeObject } from '../../object.ts';
import { nameIsDnsSubdomain, pathSegmentProblems } from '../../validation/names.ts';
import { age, nameColumn, textColumn, wideColumn } from '../../printer-columns.ts';
import { validateEvent, validateNewEventOnly, validateNewEventUpdate } from './event-rules.ts';
import { coreEventOf, eventsEventOf } from './event-views.ts';
import { everyVerb } from '../../verbs.ts';

const firstSeen = (event: Event, now: number): string => age(event.firstTimestamp ?? event.eventTime, now);

function lastSeen(event: Event, now: number): string {
  if (event.series !== undefined) return age(event.series.lastObservedTime, now);
  return event.lastTimestamp === null ? firstSeen(event, now) : age(event.lastTimestamp, now);
}

function objectOf({ involvedObject: { kind = '', name = '' } }: Event): string {
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`;
}

/** The reporting component and host; an empty old field gives way to the new one. */
function sourceOf({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source.component || reportingComponent;
  const host = source.host || reportingInstance;
  return host === '' ? component : `${component}, ${host}`;
}

const countOf = (event: Event): number => (event.series === undefined ? event.count || 1 : (event.series.count ?? 0));

const columns: readonly Column<Event>[] = [
  textColumn('Last Seen', lastSeen),
  textColumn('Type', (event) => event.type ?? ''),
  textColumn('Reason', (event) => event.reason ?? ''),
  textColumn('Object', objectOf),
  wideColumn('Subobject', (event) => event.involvedObject.fieldPath ?? ''),
  wideColumn('Source', sourceOf),
  textColumn('Message', (event) => (event.message ?? '').trim()),
  wideColumn('First Seen', firstSeen),
  wideColumn('Count', countOf),
  { ...nameColumn, priority: 1 },
];

export const eventKind: Kind<Event> = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  singular: 'event',
  shortNames: ['ev'],
  categories: [],
  namespaced: true,
  type: 'Event',
  storage: { resource: 'events' },
  verbs: everyVerb,
  // Names are asked for no more than that they fit into a path: too many programs made up their own.
  validateName: pathSegmentProblems,
  validate: (event) => validateEvent(event, 'reportingComponent'),
  checks: { create: ['object'], update: ['object'] },
  hasGeneration: false,
  createOnUpdate: true,
  unconditionalUpdate: true,
  selectableFields: {
    'involvedObject.kind': (event) => event.involvedObject.kind ?? '',
    'involvedObject.namespace': (event) => event.involvedObject.namespace ?? '',
    'involvedObject.name': (event) => event.involvedObject.name ?? '',
    'involvedObject.uid': (event) => event.involvedObject.uid ?? '',
    'involvedObject.apiVersion': (event) => event.involvedObject.apiVersion ?? '',
    'involvedObject.resourceVersion': (event) => event.involvedObject.resourceVersion ?? '',
    'involvedObject.fieldPath': (event) => event.involvedObject.fieldPath ?? '',
    reason: (event) => event.reason ?? '',
    reportingComponent: (event) => event.reportingComponent,
    source: (event) => event.source.component || event.reportingComponent,
    type: (event) => event.type ?? '',
  },
  columns,
};

const views: Conversion = {
  fromStored: (stored: KubeObject) => eventsEventOf(stored as Event),
  toStored: (object: KubeObject) => coreEventOf(object as EventsEvent),
};

export const eventsEventKind: Kind<EventsEvent> = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  singular: 'event',
  shortNames: ['ev'],
  categories: [],
  namespaced: true,
  type: 'EventsEvent',
  storage: { resource: 'events', convert: views },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  validate: (event) => validateEvent(coreEventOf(event), 'reportingController'),
  validateCreate: (event) => validateNewEventOnly(coreEventOf(event)),
  validateUpdate: (event, old) => validateNewEventUpdate(coreEventOf(event), coreEventOf(old)),
  checks: { create: ['object', 'metadata'], update: ['object', 'metadataChange', 'change'] },
  hasGeneration: false,
  createOnUpdate: true,
  unconditionalUpdate: true,
  selectableFields: {
    reason: (event) => event.reason ?? '',
    'regarding.kind': (event) => event.regarding.kind ?? '',
    'regarding.namespace': (event) => event.regarding.namespace ?? '',
    'regarding.name': (event) => event.regarding.name ?? '',
    'regarding.uid': (event) => event.regarding.uid ?? '',
    'regarding.apiVersion': (event) => event.regarding.apiVersion ?? '',
    'regarding.resourceVersion': (event) => event.regarding.resourceVersion ?? '',
    'regarding.fieldPath': (event) => event.regarding.fieldPath ?? '',
    reportingController: (event) => event.reportingController ?? '',
    type: (event) => event.type ?? '',
  },
  columns: columns.map((column) => ({ ...column, cell: (event, now) => column.cell(coreEventOf(event), now) })),
};
