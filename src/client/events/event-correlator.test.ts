import { expect, test } from 'vitest';
import { type Correlated, EventCorrelator, type FreshEvent } from './event-correlator.ts';

const event = (about: string, message: string, more: Partial<FreshEvent> = {}): FreshEvent => ({
  metadata: { namespace: 'default', name: `${about}.1` },
  involvedObject: { kind: 'PersistentVolumeClaim', namespace: 'default', name: about, uid: `uid-${about}`, apiVersion: 'v1' },
  reason: 'FailedBinding',
  message,
  type: 'Normal',
  source: { component: 'persistentvolume-controller' },
  firstTimestamp: '2026-01-01T00:00:00Z',
  lastTimestamp: '2026-01-01T00:00:00Z',
  count: 1,
  eventTime: null,
  reportingComponent: 'persistentvolume-controller',
  reportingInstance: '',
  ...more,
});

const minutes = 60_000;
const newCorrelator = () => new EventCorrelator((about) => `${about.involvedObject.name}.combined`);

/** 'create a.1 ×1 "x"', as much of an outcome as can be seen on the server. */
function show(outcome: Correlated): string {
  if (outcome.type === 'skip') return 'skip';
  return `${outcome.type} ${outcome.event.metadata.name} ×${outcome.event.count} ${outcome.event.message}`;
}

test('the same event again counts up the first one, from its first time on', () => {
  const correlator = newCorrelator();
  const results = [0, 1, 2].map((i) =>
    correlator.correlate(event('a', 'no volume', { metadata: { namespace: 'default', name: `a.${i}` }, lastTimestamp: `2026-01-01T00:00:0${i}Z` }), i),
  );
  expect(results.map(show)).toEqual(['create a.0 ×1 no volume', 'patch a.0 ×2 no volume', 'patch a.0 ×3 no volume']);
  expect(results[2]).toMatchObject({
    event: { firstTimestamp: '2026-01-01T00:00:00Z' },
    patch: { count: 3, lastTimestamp: '2026-01-01T00:00:02Z', message: 'no volume' },
  });
});

test('another object, reason, type or source is another event', () => {
  const correlator = newCorrelator();
  const variants = [
    event('a', 'x'),
    event('b', 'x'),
    event('a', 'x', { reason: 'Other' }),
    event('a', 'x', { type: 'Warning' }),
    event('a', 'x', { source: { component: 'other' } }),
    event('a', 'y'),
  ];
  expect(variants.map((variant) => correlator.correlate(variant, 0).type)).toEqual(variants.map(() => 'create'));
});

test('the name that the server gave counts', () => {
  const correlator = newCorrelator();
  correlator.correlate(event('a', 'x'), 0);
  correlator.recorded(event('a', 'x', { metadata: { namespace: 'default', name: 'a.from-server' }, count: 5 }));
  expect(show(correlator.correlate(event('a', 'x'), 1))).toBe('patch a.from-server ×6 x');
});

test('the tenth event that differs by its message alone begins to combine them', () => {
  const correlator = newCorrelator();
  const results = Array.from({ length: 12 }, (_, i) => show(correlator.correlate(event('a', `try ${i}`), i)));
  expect(results.slice(0, 9)).toEqual(Array.from({ length: 9 }, (_, i) => `create a.1 ×1 try ${i}`));
  expect(results.slice(9)).toEqual([
    'create a.combined ×1 (combined from similar events): try 9',
    'patch a.combined ×2 (combined from similar events): try 10',
    'patch a.combined ×3 (combined from similar events): try 11',
  ]);
});

test('after ten quiet minutes events are told apart again', () => {
  const correlator = newCorrelator();
  for (let i = 0; i < 10; i++) correlator.correlate(event('a', `try ${i}`), i);
  expect(show(correlator.correlate(event('a', 'later'), 10 * minutes + 10))).toBe('create a.1 ×1 later');
});

test('a source may write 25 events about an object, then one in five minutes; others are not affected', () => {
  const correlator = newCorrelator();
  const results = Array.from({ length: 30 }, () => correlator.correlate(event('a', 'x'), 0).type);
  expect(results.filter((type) => type === 'skip')).toHaveLength(5);
  expect(correlator.correlate(event('b', 'x'), 0).type).toBe('create');
  expect(correlator.correlate(event('a', 'x'), 4 * minutes).type).toBe('skip');
  // What was skipped was counted all the same.
  expect(show(correlator.correlate(event('a', 'x'), 5 * minutes))).toBe('patch a.1 ×32 x');
  expect(correlator.correlate(event('a', 'x'), 6 * minutes).type).toBe('skip');
});

test('what it remembers is bounded', () => {
  const correlator = newCorrelator();
  for (let i = 0; i < 5000; i++) correlator.correlate(event(`claim-${i}`, 'x'), 0);
  expect(correlator.correlate(event('claim-0', 'x'), 0).type).toBe('create');
  expect(correlator.correlate(event('claim-4999', 'x'), 0).type).toBe('patch');
});
