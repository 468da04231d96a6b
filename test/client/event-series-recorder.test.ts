import { describe, expect, test } from 'vitest';
import type { EventsEvent } from '../../src/api/generated/types.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { eventKind, eventsEventKind } from '../../src/api/kinds/core/event.ts';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { allKinds } from '../../src/api/kinds/index.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { createInProcessTransport } from '../../src/cluster/access/in-process-transport.ts';
import { createApi } from '../../src/apiserver/create-api.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { type Client, createClient, type Result } from '../../src/client/client.ts';
import { EventSeriesRecorder } from '../../src/client/events/event-series-recorder.ts';
import type { Transport } from '../../src/client/transport.ts';

const ok = <T>(result: Result<T>): T => {
  if (!result.ok) throw result.error;
  return result.value;
};

interface Fixture {
  readonly world: SimulatedWorld;
  readonly client: Client;
  readonly recorder: EventSeriesRecorder;
  readonly about: KubeObject;
  /** While false, nothing gets through from the recorder. */
  isReachable: boolean;
  readonly events: () => Promise<readonly EventsEvent[]>;
}

const withRecorder = (body: (fixture: Fixture) => Promise<void>) =>
  simulate(1, async (world) => {
    const api = createApi({ store: openMemoryStore(), world, kinds: allKinds });
    const transport = createInProcessTransport(api, { name: 'test', groups: ['system:masters'] }, 'test');
    const client = createClient({ transport });
    ok(await client.create(namespaceKind, { metadata: { name: 'default' } }));
    const about = ok(await client.create(configMapKind, { metadata: { namespace: 'default', name: 'thing' } }));
    const gate: Transport = {
      watch: (request, sink) => transport.watch(request, sink),
      send: (request) => (set.isReachable ? transport.send(request) : Promise.resolve({ type: 'unreachable', error: new Error('no way') })),
    };
    const recorder = new EventSeriesRecorder({
      world,
      client: createClient({ transport: gate }),
      eventKind: eventsEventKind,
      controller: 'tester',
      instance: 'tester-1',
    });
    const set: Fixture = { world, client, recorder, about, isReachable: true, events: async () => ok(await client.list(eventsEventKind)).items };
    await body(set);
  });

const report = { type: 'Normal', reason: 'Tried', action: 'Trying', message: 'once' } as const;

describe('events in their newer form', () => {
  test('one event says who, what, about what and in which doing', () =>
    withRecorder(async ({ world, recorder, about, events, client }) => {
      recorder.record(about, { ...report, related: about });
      await world.sleep(10);
      const [event] = await events();
      expect(event).toMatchObject({
        reportingController: 'tester',
        reportingInstance: 'tester-1',
        action: 'Trying',
        reason: 'Tried',
        type: 'Normal',
        note: 'once',
        regarding: { kind: 'ConfigMap', namespace: 'default', name: 'thing', resourceVersion: about.metadata.resourceVersion },
        related: { name: 'thing' },
      });
      expect(event?.series).toBeUndefined();
      const [old] = ok(await client.list(eventKind)).items;
      expect(old).toMatchObject({ message: 'once', source: {}, firstTimestamp: null, reportingComponent: 'tester' });
    }));

  test('the same again becomes a series, whatever the message; another version of the object begins anew', () =>
    withRecorder(async ({ world, recorder, about, events }) => {
      recorder.record(about, report);
      recorder.record(about, { ...report, message: 'twice' });
      await world.sleep(10);
      expect((await events()).map(({ note, series }) => [note, series?.count])).toEqual([['once', 2]]);
      for (let i = 0; i < 5; i++) recorder.record(about, report);
      recorder.record({ ...about, metadata: { ...about.metadata, resourceVersion: '99' } }, report);
      await world.sleep(10);
      expect((await events()).map(({ series }) => series?.count)).toEqual([2, undefined]);
    }));

  test('what was counted is written when it is over, and then forgotten', () =>
    withRecorder(async ({ world, recorder, about, events }) => {
      for (let i = 0; i < 7; i++) recorder.record(about, report);
      await world.sleep(13 * 60_000);
      expect((await events()).map(({ series }) => series?.count)).toEqual([7]);
      await world.sleep(13 * 60_000);
      recorder.record(about, report);
      await world.sleep(10);
      expect((await events()).map(({ series }) => series?.count)).toEqual([7, undefined]);
    }));

  test('while it goes on, the count is written every few minutes', () =>
    withRecorder(async ({ world, recorder, about, events }) => {
      const written: (number | undefined)[] = [];
      for (let i = 0; i < 5; i++) {
        recorder.record(about, report);
        await world.sleep(5 * 60_000);
        written.push((await events())[0]?.series?.count);
      }
      expect(await events()).toHaveLength(1);
      expect(written).toEqual([undefined, 2, 3, 4, 5]);
    }));

  test('an event that has expired meanwhile begins again with its count', () =>
    withRecorder(async ({ world, recorder, about, events, client }) => {
      recorder.record(about, report);
      await world.sleep(10);
      for (const { metadata } of await events()) ok(await client.delete(eventsEventKind, { namespace: 'default', name: metadata.name ?? '' }));
      recorder.record(about, report);
      await world.sleep(10);
      expect((await events()).map(({ series }) => series?.count)).toEqual([2]);
    }));

  test('what does not get through is tried again; what is refused is not', () =>
    withRecorder(async (set) => {
      set.isReachable = false;
      set.recorder.record(set.about, report);
      await set.world.sleep(5_000);
      set.isReachable = true;
      await set.world.sleep(15_000);
      expect(await set.events()).toHaveLength(1);
      set.recorder.record({ ...set.about, metadata: { ...set.about.metadata, namespace: 'absent' } }, report);
      await set.world.sleep(60_000);
      expect(set.world.lines.filter(({ message }) => message === 'event refused')).toHaveLength(1);
    }));

  test('stopping waits for what is under way, and takes no more', () =>
    withRecorder(async ({ recorder, about, events }) => {
      recorder.record(about, report);
      await recorder.stop();
      expect(await events()).toHaveLength(1);
      recorder.record(about, { ...report, reason: 'Late' });
      await recorder.stop();
      expect(await events()).toHaveLength(1);
    }));
});
