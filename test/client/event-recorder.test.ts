import { expect, test } from 'vitest';
import { configMap, startTestCluster, type TestCluster } from './test-cluster.ts';
import type { Event } from '../../src/api/generated/types.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import { createClient } from '../../src/client/client.ts';
import { EventRecorder } from '../../src/client/events/event-recorder.ts';
import type { Transport } from '../../src/client/transport.ts';

const newRecorder = (world: SimulatedWorld, transport: Transport) =>
  new EventRecorder({ world, client: createClient({ transport }), eventKind, component: 'persistentvolume-controller' });

async function object(cluster: TestCluster, name: string): Promise<KubeObject> {
  const made = await cluster.client.create(configMapKind, configMap(name, ''));
  if (!made.ok) throw made.error;
  return made.value;
}

async function recorded(cluster: TestCluster): Promise<Event[]> {
  const all = await cluster.client.list(eventKind);
  if (!all.ok) throw all.error;
  return [...all.value.items];
}

const bound = { type: 'Normal', reason: 'Bound', message: 'it is bound' } as const;

test('an event says who, about what, when and why, as client-go writes it', () =>
  simulate(1, async (world) => {
    const cluster = await startTestCluster(world);
    const about = await object(cluster, 'data');
    newRecorder(world, cluster.transport).record(about, bound);
    await world.sleep(1);
    const { namespace, name, uid, resourceVersion } = about.metadata;
    expect(await recorded(cluster)).toMatchObject([
      {
        metadata: { namespace: 'default', name: expect.stringMatching(/^data\.[0-9a-f]{16}$/) as string },
        involvedObject: { kind: 'ConfigMap', apiVersion: 'v1', namespace, name, uid, resourceVersion },
        reason: 'Bound',
        message: 'it is bound',
        type: 'Normal',
        count: 1,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        eventTime: null,
        source: { component: 'persistentvolume-controller' },
        reportingComponent: 'persistentvolume-controller',
        reportingInstance: '',
      },
    ]);
  }));

test('the same event again is counted, not repeated; another one has a name of its own even at the same moment', () =>
  simulate(1, async (world) => {
    const cluster = await startTestCluster(world);
    const about = await object(cluster, 'data');
    const [one, two] = [newRecorder(world, cluster.transport), newRecorder(world, cluster.transport)];
    for (let i = 0; i < 5; i++) one.record(about, bound);
    for (let i = 0; i < 5; i++) one.record(about, { ...bound, message: `message ${i}` });
    two.record(about, { ...bound, reason: 'Other' });
    await world.sleep(1000);
    one.record(about, bound);
    await world.sleep(1000);
    const events = await recorded(cluster);
    expect(events.map((event) => `${event.reason} ${event.message} ×${event.count}`).sort()).toEqual([
      'Bound it is bound ×6',
      ...[0, 1, 2, 3, 4].map((i) => `Bound message ${i} ×1`),
      'Other it is bound ×1',
    ]);
    expect(events.find(({ count }) => count === 6)).toMatchObject({ firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:00:01Z' });
  }));

test('one recorder records for several hosts, whose events are counted apart, up to its limit of waiting events', () =>
  simulate(1, async (world) => {
    const cluster = await startTestCluster(world);
    const about = await object(cluster, 'data');
    const recorder = new EventRecorder({ world, client: createClient({ transport: cluster.transport }), eventKind, component: 'kubelet', waitingLimit: 3 });
    for (const host of ['n1', 'n2', 'n1', 'n3']) recorder.record(about, bound, host);
    await world.sleep(1000);
    expect((await recorded(cluster)).map(({ source, reportingInstance, count }) => `${source.host} ${reportingInstance} ×${count}`).sort()).toEqual([
      'n1 n1 ×2',
      'n2 n2 ×1',
    ]);
  }));

test('events about something in no namespace go to `default`; a name that no event can have is replaced', () =>
  simulate(1, async (world) => {
    const cluster = await startTestCluster(world);
    const recorder = newRecorder(world, cluster.transport);
    recorder.record({ kind: 'PersistentVolume', apiVersion: 'v1', name: 'vol', uid: 'u' }, bound);
    recorder.record({ kind: 'ClusterRole', apiVersion: 'rbac.authorization.k8s.io/v1', name: 'System:Node', uid: 'u' }, bound);
    await world.sleep(1);
    const names = (await recorded(cluster)).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    expect(names).toEqual(expect.arrayContaining([expect.stringMatching(/^default\/vol\./), expect.stringMatching(/^default\/[0-9a-f-]{36}$/)]));
  }));

test('an event that expired meanwhile begins anew, with its count', () =>
  simulate(1, async (world) => {
    const cluster = await startTestCluster(world);
    const about = await object(cluster, 'data');
    const recorder = newRecorder(world, cluster.transport);
    recorder.record(about, bound);
    await world.sleep(1);
    for (const { metadata } of await recorded(cluster)) await cluster.client.delete(eventKind, { namespace: 'default', name: metadata.name ?? '' });
    recorder.record(about, bound);
    await world.sleep(1);
    expect(await recorded(cluster)).toMatchObject([{ count: 2 }]);
  }));

test('an event without an answer is tried again; one that was written but not answered is not written twice', () =>
  simulate(1, async (world) => {
    const cluster = await startTestCluster(world);
    const about = await object(cluster, 'data');
    let sent = 0;
    const flaky: Transport = {
      send: async (request) => {
        sent++;
        if (sent === 1) return { type: 'unreachable', error: new Error('lost on the way') };
        const answer = await cluster.transport.send(request);
        return sent === 2 ? { type: 'unreachable', error: new Error('answer lost') } : answer;
      },
      watch: () => ({ close: () => undefined }),
    };
    newRecorder(world, flaky).record(about, bound);
    await world.sleep(60_000);
    expect(sent).toBe(3);
    expect(await recorded(cluster)).toHaveLength(1);
  }));

test('it never fails or waits, drops events beyond its limit, and logs that', () =>
  simulate(1, async (world) => {
    let sent = 0;
    const dead: Transport = {
      send: () => (sent++, Promise.resolve({ type: 'unreachable', error: new Error('no server') })),
      watch: () => ({ close: () => undefined }),
    };
    const recorder = newRecorder(world, dead);
    for (let i = 0; i < 1500; i++) recorder.record({ kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: `pod-${i}`, uid: `${i}` }, bound);
    await world.sleep(3_600_000);
    const lines = world.lines.filter(({ message }) => message.includes('dropped'));
    expect(lines.map(({ message, fields }) => [message, fields['count']])).toEqual([
      ['events are dropped: too many are waiting', undefined],
      ['events were dropped', 500],
    ]);
    // Twelve tries each, then they are given up.
    expect(sent).toBe(12_000);
    recorder.record({ kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: 'later', uid: 'x' }, bound);
    await world.sleep(1);
    expect(sent).toBe(12_001);
  }));

test('stopping writes what waits, and takes no more', () =>
  simulate(1, async (world) => {
    const cluster = await startTestCluster(world);
    const recorder = newRecorder(world, cluster.transport);
    for (let i = 0; i < 50; i++) recorder.record({ kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: `pod-${i}`, uid: `${i}` }, bound);
    await recorder.stop();
    recorder.record({ kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: 'late', uid: 'x' }, bound);
    await world.sleep(1000);
    expect(await recorded(cluster)).toHaveLength(50);
  }));
