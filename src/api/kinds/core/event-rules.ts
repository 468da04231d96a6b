import { type FieldError, invalid, required } from '../../field-error.ts';
import type { Event } from '../../generated/types.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { goForm } from '../../validation/go-form.ts';
import { IMMUTABLE } from '../../validation/metadata.ts';
import { dnsSubdomainProblems, labelKeyProblems } from '../../validation/names.ts';
import { byteLength } from '../../validation/text.ts';

const MAX_LENGTH = 128;
const MAX_NOTE_LENGTH = 1024;

/** What both views ask of an event; only the name of one field differs. */
export function validateEvent(event: Event, controllerField: 'reportingComponent' | 'reportingController'): FieldError[] {
  const namespace = event.metadata.namespace ?? '';
  return [
    ...(event.eventTime === null ? validateOldEvent(event, namespace) : validateNewEvent(event, namespace, controllerField)),
    ...dnsSubdomainProblems(namespace).map((wrong) => invalid('namespace', namespace, wrong)),
  ];
}

function validateOldEvent({ involvedObject }: Event, namespace: string): FieldError[] {
  const about = involvedObject.namespace ?? '';
  // Events about objects without a namespace are kept in the default one.
  const fits = about === '' ? namespace === '' || namespace === 'default' : namespace === about;
  return fits ? [] : [wrongNamespace(about)];
}

const wrongNamespace = (about: string): FieldError => invalid('involvedObject.namespace', about, 'does not match event.namespace');

function validateNewEvent(event: Event, namespace: string, controllerField: string): FieldError[] {
  const about = event.involvedObject.namespace ?? '';
  const controller = event.reportingComponent;
  const errors: FieldError[] = about === '' && namespace !== 'default' && namespace !== 'kube-system' ? [wrongNamespace(about)] : [];
  if (controller === '') errors.push(required(controllerField));
  errors.push(...labelKeyProblems(controller).map((wrong) => invalid(controllerField, controller, wrong)));
  for (const field of ['reportingInstance', 'action', 'reason'] as const) {
    const value = event[field] ?? '';
    if (value === '') errors.push(required(field));
    errors.push(...atMost(value, MAX_LENGTH, field));
  }
  return [...errors, ...atMost(event.message ?? '', MAX_NOTE_LENGTH, 'message')];
}

const atMost = (value: string, limit: number, field: string): FieldError[] =>
  byteLength(value) > limit ? [invalid(field, '', `can have at most ${limit} characters`)] : [];

/** An event that is created through events.k8s.io may not use deprecated fields. */
export function validateNewEventOnly(event: Event): FieldError[] {
  const { type = '', source } = event;
  const errors = validateSeries(event);
  const unset = (field: string, isSet: boolean): void => {
    if (isSet) errors.push(invalid(field, '', 'needs to be unset'));
  };
  if (event.eventTime === null) errors.push(required('eventTime'));
  if (type !== 'Normal' && type !== 'Warning') errors.push(invalid('type', '', `has invalid value: ${type}`));
  unset('firstTimestamp', event.firstTimestamp !== null);
  unset('lastTimestamp', event.lastTimestamp !== null);
  unset('count', (event.count ?? 0) !== 0);
  unset('source', (source.component ?? '') !== '' || (source.host ?? '') !== '');
  return errors;
}

function validateSeries({ series }: Event): FieldError[] {
  if (series === undefined) return [];
  return [
    ...((series.count ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(series.lastObservedTime === null ? [required('series.lastObservedTime')] : []),
  ];
}

/** Through the newer view, only the series of an event goes on. */
export function validateNewEventUpdate(event: Event, old: Event): FieldError[] {
  const fixed = (field: string, value: unknown, before: unknown, shown: unknown = value): FieldError[] =>
    semanticallyEqual(value, before) ? [] : [invalid(field, shown, IMMUTABLE)];
  const text = (field: 'reason' | 'message' | 'type' | 'action'): FieldError[] => fixed(field, event[field] ?? '', old[field] ?? '');
  return [
    ...(semanticallyEqual(event.series, old.series) ? [] : validateSeries(event)),
    ...fixed('involvedObject', event.involvedObject, old.involvedObject, shownReference(event.involvedObject)),
    ...text('reason'),
    ...text('message'),
    ...fixed('source', event.source, old.source, { Component: event.source.component ?? '', Host: event.source.host ?? '' }),
    ...fixed('firstTimestamp', event.firstTimestamp, old.firstTimestamp),
    ...fixed('lastTimestamp', event.lastTimestamp, old.lastTimestamp),
    ...fixed('count', event.count ?? 0, old.count ?? 0),
    ...text('reason'),
    ...text('type'),
    ...fixed('eventTime', event.eventTime, old.eventTime),
    ...text('action'),
    ...fixed('related', event.related, old.related, event.related === undefined ? null : shownReference(event.related)),
    ...fixed('reportingController', event.reportingComponent, old.reportingComponent),
    ...fixed('reportingInstance', event.reportingInstance, old.reportingInstance),
  ];
}

const shownReference = (reference: Event['involvedObject']): object => goForm('ObjectReference', reference);
