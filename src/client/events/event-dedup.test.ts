import { expect, test } from 'vitest';
import type { ObjectEvent } from '../decision.ts';
import { recordIfChanged } from '../decision.ts';
import { RecordedEvents } from './event-dedup.ts';

const event = (name: string, message = 'waiting for first consumer to be created before binding'): ObjectEvent => ({
  about: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name, namespace: 'default', uid: name } },
  type: 'Normal',
  reason: 'WaitForFirstConsumer',
  message,
});

function fixture() {
  let now = 0;
  const written: number[] = [];
  const events = new RecordedEvents({ record: () => void written.push(now) }, { now: () => now, monotonic: () => now });
  /** One pass of a controller; returns when it wants the next one. */
  const pass = (about: ObjectEvent): number => {
    const { actions, again } = recordIfChanged(about, events.lastEvent(about.about.metadata.uid ?? ''), now);
    for (const action of actions) events.record(action.event, action.rememberAs);
    return again;
  };
  return { written, pass, events, at: (time: number) => (now = time) };
}

const seconds = (times: readonly number[]) => times.map((time) => time / 1000);

test('while a state holds, its event is renewed at growing intervals of at most five minutes', () => {
  const { written, pass, at } = fixture();
  for (let time = 0; time <= 3_600_000; ) time = at(pass(event('data')));
  expect(seconds(written.slice(0, 8))).toEqual([0, 15, 30, 60, 120, 240, 480, 780]);
  const intervals = written.slice(1).map((time, i) => time - (written[i] ?? 0));
  expect(Math.max(...intervals)).toBe(300_000);
  expect(written).toHaveLength(17);
});

test('passes in between record nothing, and do not put the renewal off', () => {
  const { written, pass, at } = fixture();
  for (let time = 0; time <= 60_000; time += 1000) {
    at(time);
    pass(event('data'));
  }
  expect(seconds(written)).toEqual([0, 15, 30, 60]);
});

test('another state begins anew', () => {
  const { written, pass, at } = fixture();
  for (let time = 0; time <= 600_000; ) time = at(pass(event('data')));
  const before = written.length;
  const begin = at(1_000_000);
  const again = pass(event('data', 'waiting for pod web to be scheduled'));
  expect({ more: written.length - before, wait: again - begin }).toEqual({ more: 1, wait: 15_000 });
});

test('one of very many states is renewed before its event expires, and no sooner: its count is forgotten', () => {
  const { pass, at } = fixture();
  for (let i = 0; i < 4096; i++) pass(event(`claim-${i}`));
  at(20_000);
  expect(pass(event('claim-0'))).toBe(30 * 60_000);
  expect(pass(event('claim-4095'))).toBe(20_000 + 20_000);
});
