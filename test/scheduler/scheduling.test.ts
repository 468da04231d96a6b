/** The scheduler against the real registry, in simulated time. */
import { describe, expect, test } from 'vitest';
import type { Node, Pod } from '../../src/api/generated/types.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { priorityClassKind } from '../../src/api/kinds/scheduling/priority-class.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import type { Client, Draft, Result } from '../../src/client/client.ts';
import { requestPath } from '../../src/api/request-info.ts';
import type { TransportRequest } from '../../src/client/transport.ts';
import { simulate, type SimulatedWorld } from '../../src/sim/world/world.ts';
import { VolumeCluster } from './volume-cluster.ts';

const ok = <T>(result: Result<T>): T => {
  if (!result.ok) throw result.error;
  return result.value;
};
const inDefault = (name: string) => ({ namespace: 'default', name });

class People {
  readonly client: Client;
  readonly world: SimulatedWorld;

  constructor(cluster: VolumeCluster) {
    this.client = cluster.client;
    this.world = cluster.world;
  }

  async node(name: string, cpu: string, spec: Draft<Node['spec']> = {}): Promise<void> {
    const status = { capacity: { cpu, pods: '10' }, allocatable: { cpu, pods: '10' }, conditions: [{ type: 'Ready', status: 'True' }] };
    ok(await this.client.create(nodeKind, { metadata: { name, labels: { 'kubernetes.io/hostname': name } }, spec }));
    ok(await this.client.patch(nodeKind, { name }, { type: 'merge', body: { status } }, { subresource: 'status' }));
    ok(await this.client.patch(nodeKind, { name }, { type: 'merge', body: { spec: { taints: spec?.taints ?? null } } }));
  }

  async pod(name: string, cpu: string, spec: Draft<Pod['spec']> = {}): Promise<void> {
    const containers = [{ name: 'app', image: 'pause', resources: { requests: { cpu } } }];
    ok(
      await this.client.create(podKind, {
        metadata: { ...inDefault(name), labels: { app: name } },
        spec: { terminationGracePeriodSeconds: 0, containers, ...spec },
      }),
    );
  }

  async get(name: string): Promise<Pod> {
    return ok(await this.client.get(podKind, inDefault(name)));
  }

  async nodeOf(name: string): Promise<string> {
    return (await this.get(name)).spec.nodeName ?? '';
  }

  async scheduled(name: string): Promise<string> {
    const found = (await this.get(name)).status.conditions?.find(({ type }) => type === 'PodScheduled');
    return found === undefined ? 'unknown' : [found.status, found.reason, found.message].filter((part) => part !== undefined).join(' ');
  }

  /** 'Warning FailedScheduling: … x2' */
  async events(name: string): Promise<readonly string[]> {
    const events = ok(await this.client.list(eventKind)).items.filter(({ involvedObject }) => involvedObject.name === name);
    return events.map(
      ({ type, reason, message, series, reportingComponent }) =>
        `${reportingComponent}: ${type} ${reason}: ${message}${series === undefined ? '' : ` x${series.count}`}`,
    );
  }

  async priority(name: string, value: number, preemptionPolicy = 'PreemptLowerPriority'): Promise<void> {
    ok(await this.client.create(priorityClassKind, { metadata: { name }, value, preemptionPolicy }));
  }
}

const story = (body: (people: People, world: SimulatedWorld, cluster: VolumeCluster) => Promise<void>) => async () => {
  for (const seed of [1, 2]) {
    await simulate(seed, async (world) => {
      const cluster = await VolumeCluster.start(world, 'transaction');
      cluster.schedule('scheduler');
      await world.sleep(100);
      await body(new People(cluster), world, cluster);
    });
  }
};

describe('a pod', () => {
  test(
    'that fits gets a node, a condition and an event',
    story(async (people, world) => {
      await people.node('n1', '2');
      await people.pod('web', '1');
      await world.sleep(1000);
      expect(await people.nodeOf('web')).toBe('n1');
      expect(await people.scheduled('web')).toBe('True');
      expect(await people.events('web')).toEqual(['default-scheduler: Normal Scheduled: Successfully assigned default/web to n1']);
    }),
  );

  test('that fits nowhere gets the reason also if the writes of it are lost for half a minute', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, 'transaction');
      const isLost = ({ info }: TransportRequest) => world.clock.monotonic() < 30_000 && requestPath(info).endsWith('/pods/web/status');
      cluster.schedule('scheduler', (server) => ({
        watch: (request, sink) => server.watch(request, sink),
        send: async (request) => (isLost(request) ? { type: 'unreachable', error: new Error('the request was lost') } : await server.send(request)),
      }));
      const people = new People(cluster);
      await people.pod('web', '3');
      await world.sleep(29_000);
      expect(await people.scheduled('web')).toBe('unknown');
      await world.sleep(15_000);
      expect(await people.scheduled('web')).toBe('False Unschedulable no nodes available to schedule pods');
    }));

  test(
    'that fits nowhere gets the reason, and a node as soon as an event helps, without a timer',
    story(async (people, world) => {
      await people.pod('web', '3');
      await world.sleep(500);
      expect(await people.scheduled('web')).toBe('False Unschedulable no nodes available to schedule pods');
      await people.node('small', '1');
      await people.node('tainted', '4', { taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }] });
      await world.sleep(500);
      const why =
        '0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). no new claims to deallocate, ' +
        'preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.';
      expect(await people.scheduled('web')).toBe(`False Unschedulable ${why}`);
      expect(await people.events('web')).toContain(`default-scheduler: Warning FailedScheduling: ${why}`);
      ok(await people.client.patch(nodeKind, { name: 'tainted' }, { type: 'merge', body: { spec: { taints: null } } }));
      await world.sleep(500);
      expect(await people.nodeOf('web')).toBe('tainted');
      expect(await people.scheduled('web')).toBe('True');
    }),
  );

  test(
    'that is rejected repeatedly for the same reason is not written again; the Event becomes a series',
    story(async (people, world) => {
      await people.node('n1', '1');
      await people.pod('web', '2');
      await world.sleep(500);
      const { resourceVersion } = (await people.get('web')).metadata;
      const why =
        'default-scheduler: Warning FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, ' +
        'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.';
      expect(await people.events('web')).toEqual([why]);
      for (let i = 0; i < 4; i++) {
        // A deleted pod might have been in its way.
        await people.pod('other', '0');
        await world.sleep(400);
        ok(await people.client.delete(podKind, inDefault('other')));
        await world.sleep(400);
      }
      expect((await people.get('web')).metadata.resourceVersion).toBe(resourceVersion);
      // The first Event is about the pod before its status was written.
      expect(await people.events('web')).toEqual([why, `${why} x2`]);
      // The pod is retried every five minutes; the series count is written every half an hour.
      await world.sleep(45 * 60_000);
      expect((await people.events('web')).at(-1)).toMatch(/ x1[0-9]$/);
    }),
  );

  test(
    'with scheduling gates waits without Events',
    story(async (people, world) => {
      await people.node('n1', '1');
      await people.pod('web', '1', { schedulingGates: [{ name: 'wait' }] });
      await world.sleep(5_000);
      expect(await people.nodeOf('web')).toBe('');
      expect(await people.scheduled('web')).toMatch(/^False SchedulingGated/);
      expect(await people.events('web')).toEqual([]);
      ok(await people.client.patch(podKind, inDefault('web'), { type: 'merge', body: { spec: { schedulingGates: null } } }));
      await world.sleep(500);
      expect(await people.nodeOf('web')).toBe('n1');
    }),
  );

  test(
    'of another scheduler is ignored',
    story(async (people, world) => {
      await people.node('n1', '1');
      await people.pod('web', '1', { schedulerName: 'mine' });
      await world.sleep(5_000);
      expect(await people.nodeOf('web')).toBe('');
      expect(await people.events('web')).toEqual([]);
    }),
  );

  test(
    'holds its resources until it terminates, is deleted, or its node gets more allocatable',
    story(async (people, world) => {
      await people.node('n1', '1');
      for (const name of ['one', 'two', 'three', 'four']) {
        await people.pod(name, '1');
        await world.sleep(300);
      }
      const where = async () =>
        (await Promise.all(['one', 'two', 'three', 'four'].map((name) => people.client.get(podKind, inDefault(name))))).map((found) =>
          found.ok ? (found.value.spec.nodeName ?? '-') : 'gone',
        );
      expect(await where()).toEqual(['n1', '-', '-', '-']);
      ok(await people.client.patch(podKind, inDefault('one'), { type: 'merge', body: { status: { phase: 'Succeeded' } } }, { subresource: 'status' }));
      await world.sleep(500);
      expect(await where()).toEqual(['n1', 'n1', '-', '-']);
      ok(await people.client.delete(podKind, inDefault('two')));
      await world.sleep(500);
      expect(await where()).toEqual(['n1', 'gone', 'n1', '-']);
      ok(await people.client.patch(nodeKind, { name: 'n1' }, { type: 'merge', body: { status: { allocatable: { cpu: '2' } } } }, { subresource: 'status' }));
      await world.sleep(500);
      expect(await where()).toEqual(['n1', 'gone', 'n1', 'n1']);
    }),
  );
});

describe('priority', () => {
  test(
    'a pod of higher priority preempts others, is nominated, and no other pod takes the room meanwhile',
    story(async (people, world) => {
      await people.node('n1', '2');
      await people.priority('important', 100);
      await people.pod('low', '2', { terminationGracePeriodSeconds: 30 });
      await world.sleep(500);
      await people.pod('high', '2', { priorityClassName: 'important' });
      await world.sleep(1000);
      const going = await people.get('low');
      expect(going.metadata.deletionTimestamp).toBeDefined();
      expect(going.status.conditions?.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({
        status: 'True',
        reason: 'PreemptionByScheduler',
        message: 'default-scheduler: preempting to accommodate a higher priority pod',
      });
      const { uid = '' } = (await people.get('high')).metadata;
      expect(await people.events('low')).toContain(`default-scheduler: Normal Preempted: Preempted by pod ${uid} on node n1`);
      expect((await people.get('high')).status.nominatedNodeName).toBe('n1');
      expect(await people.scheduled('high')).toBe('False Unschedulable 0/1 nodes are available: 1 Insufficient cpu.');
      // As the kubelet does once its containers have ended; at that moment another pod competes for the room.
      await people.pod('thief', '1');
      ok(await people.client.delete(podKind, inDefault('low'), { gracePeriodSeconds: 0 }));
      await world.sleep(1000);
      expect(await people.nodeOf('high')).toBe('n1');
      expect((await people.get('high')).status.nominatedNodeName).toBeUndefined();
      expect(await people.nodeOf('thief')).toBe('');
    }),
  );

  test(
    'of many pending pods, the one with the highest priority comes first',
    story(async (people, world) => {
      for (const [name, priority] of [
        ['low', 1],
        ['high', 3],
        ['middle', 2],
      ] as const)
        await people.priority(name, priority, 'Never').then(() => people.pod(name, '1', { priorityClassName: name }));
      await world.sleep(500);
      await people.node('n1', '1');
      await world.sleep(1000);
      expect([await people.nodeOf('high'), await people.nodeOf('middle'), await people.nodeOf('low')]).toEqual(['n1', '', '']);
    }),
  );
});
