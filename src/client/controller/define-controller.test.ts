import { expect, test, vi } from 'vitest';
import type { ObjectWrite, RecordEvent } from '../decision.ts';
import { RecordedEvents } from '../events/event-dedup.ts';
import { defineController } from './define-controller.ts';
import type { Outcome } from './loop.ts';

type Action = ObjectWrite | RecordEvent | { readonly do: 'attach' | 'detach'; readonly volume: string };

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const clock = { now: () => 7, monotonic: () => 0 };

function controllerWith(more: { readonly delete?: () => Promise<Outcome> } = {}) {
  const write = vi.fn(async (): Promise<Outcome> => 'conflict');
  const record = vi.fn();
  const events = new RecordedEvents({ record }, clock);
  const controller = defineController<string, string, Action>({
    name: 'test',
    sources: [],
    snapshot: (key) => key,
    decide: () => ({ actions: [], reasons: [] }),
    writer: { perform: write },
    events,
    actions: { attach: async ({ volume }, key, snapshot) => ({ retry: `${volume} ${key} ${snapshot}` }), detach: async () => 'done', ...more },
  });
  return { perform: (action: Action) => controller.perform(action, 'key', 'snapshot'), write, record, events };
}

test('an action of its own is performed by its entry, with the key and the snapshot', async () => {
  const { perform } = controllerWith();
  expect(await perform({ do: 'attach', volume: 'vol' })).toEqual({ retry: 'vol key snapshot' });
  expect(await perform({ do: 'detach', volume: 'vol' })).toBe('done');
});

test('writes are performed by the writer, unless there is an entry', async () => {
  const { perform, write } = controllerWith({ delete: async () => 'done' });
  expect(await perform({ do: 'create', object })).toBe('conflict');
  expect(await perform({ do: 'delete', object })).toBe('done');
  expect(write.mock.calls).toEqual([[{ do: 'create', object }]]);
});

test('events are recorded and remembered', async () => {
  const { perform, record, events } = controllerWith();
  const event = { type: 'Normal', reason: 'Bound', message: 'it is bound' } as const;
  expect(await perform({ do: 'recordEvent', event: { about: object, ...event }, rememberAs: 'uid', state: 'bound' })).toBe('done');
  expect(record.mock.calls).toEqual([[object, event]]);
  expect(events.lastEvent('uid')).toMatchObject({ reason: 'Bound', message: 'it is bound', state: 'bound', at: 7, since: 7, isForgotten: false });
});
