import { describe, expect, it } from 'vitest';
import { pod } from '../../test/storage/objects.ts';
import { simulate, type SimulatedWorld } from '../sim/world/world.ts';
import type { Pod } from '../api/generated/types.ts';
import type { ClusterEvent, Plugin } from './framework.ts';
import { readPod } from './pod-info.ts';
import { SchedulingQueue } from './scheduling-queue.ts';

/** Rejects pods until a node with the pod's name changes. */
const picky: Plugin = {
  name: 'Picky',
  preFilter: () => 'skip',
  queueingHints: { events: ['node'], hint: ({ name }, { after }) => after?.metadata.name === name },
};
const patient: Plugin = { name: 'Patient', preFilter: () => 'skip', queueingHints: { events: ['claim'], hint: () => true } };
const unschedulablePlugins = new Set(['Picky']);

const made = (name: string, spec: Partial<Pod['spec']> = {}) => readPod(pod(name, [], { spec }));
const nodeNamed = (name: string): ClusterEvent =>
  ({ resource: 'node', before: undefined, after: { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: {}, status: {} } }) as unknown as ClusterEvent;
const claim = { resource: 'claim', before: undefined, after: {} } as ClusterEvent;

const withQueue = (body: (queue: SchedulingQueue, world: SimulatedWorld) => Promise<void>) =>
  simulate(1, (world) => body(new SchedulingQueue(world, [picky, patient]), world));
const names = (queue: SchedulingQueue): readonly string[] => {
  const taken: string[] = [];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) taken.push(next.name);
  return taken;
};

describe('the scheduling queue', () => {
  it('pops by priority, then in order of arrival', () =>
    withQueue(async (queue, world) => {
      queue.set(made('low', { priority: 1 }));
      queue.set(made('first'));
      await world.sleep(1);
      queue.set(made('high', { priority: 1000 }));
      queue.set(made('second'));
      expect(names(queue)).toEqual(['high', 'low', 'first', 'second']);
    }));

  it('does not pop a pod that is in flight, whatever its updates', () =>
    withQueue(async (queue) => {
      queue.set(made('p'));
      expect(names(queue)).toEqual(['p']);
      queue.set(made('p', { priority: 5 }));
      queue.changed(nodeNamed('p'));
      expect(names(queue)).toEqual([]);
      expect(queue.get(made('p').uid)?.priority).toBe(5);
    }));

  it('keeps a rejected pod until a hint says Queue', () =>
    withQueue(async (queue, world) => {
      for (const name of ['p', 'q']) queue.set(made(name));
      names(queue);
      for (const name of ['p', 'q']) queue.rejected(made(name).uid, { unschedulablePlugins });
      expect(queue.busy).toBe(false);
      await world.sleep(60_000);
      queue.changed(nodeNamed('other'));
      queue.changed(claim);
      expect(names(queue)).toEqual([]);
      queue.changed(nodeNamed('q'));
      expect(names(queue)).toEqual(['q']);
    }));

  it('queues a pod without a rejecting plugin on every event', () =>
    withQueue(async (queue) => {
      queue.set(made('p'));
      names(queue);
      queue.rejected(made('p').uid, { unschedulablePlugins: new Set() });
      queue.changed(nodeNamed('other'));
      expect(names(queue)).toEqual(['p']);
    }));

  it('pops pods in backoff after all others, but does not wait for the backoff if activeQ is empty', () =>
    withQueue(async (queue, world) => {
      const busy = made('busy', { priority: 100 });
      queue.set(busy);
      for (let round = 0; round < 3; round++) {
        expect(names(queue)).toEqual(['busy']);
        queue.rejected(busy.uid, { unschedulablePlugins });
        queue.changed(nodeNamed('busy'));
      }
      queue.set(made('fresh'));
      expect(names(queue)).toEqual(['fresh', 'busy']);
      queue.rejected(busy.uid, { unschedulablePlugins });
      await world.sleep(11_000);
      queue.set(made('fresher'));
      queue.changed(nodeNamed('busy'));
      expect(names(queue)).toEqual(['busy', 'fresher']);
    }));

  it('skips the backoff after a Pending rejection', () =>
    withQueue(async (queue) => {
      queue.set(made('waiting'));
      names(queue);
      queue.rejected(made('waiting').uid, { unschedulablePlugins: new Set(['Patient']), pendingPlugins: new Set(['Patient']) });
      queue.set(made('other'));
      queue.changed(claim);
      expect(names(queue)).toEqual(['waiting', 'other']);
    }));

  it('retries after an error with a backoff of one second, two, four … and ten at most, without an event', () =>
    withQueue(async (queue, world) => {
      const times: number[] = [];
      let last = world.clock.monotonic();
      queue.onReady = () => {
        times.push(world.clock.monotonic() - last);
        expect(names(queue)).toEqual(['p']);
        last = world.clock.monotonic();
        queue.failed(made('p').uid);
      };
      queue.set(made('p'));
      await world.sleep(60_000);
      expect(times).toEqual([0, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000, 10_000]);
    }));

  it('retries a rejected pod whose status could not be written, with the backoff of its rejections', () =>
    withQueue(async (queue, world) => {
      const times: number[] = [];
      let last = world.clock.monotonic();
      queue.onReady = () => {
        times.push(world.clock.monotonic() - last);
        names(queue);
        last = world.clock.monotonic();
        queue.rejected(made('p').uid, { unschedulablePlugins });
        if (times.length < 6) queue.unreported(made('p').uid);
      };
      queue.set(made('p'));
      await world.sleep(60_000);
      expect(times).toEqual([0, 1000, 2000, 4000, 8000, 10_000]);
    }));

  it('retries no pod whose next cycle has begun, and one that is held only once it is not', () =>
    withQueue(async (queue, world) => {
      const { uid } = made('p');
      queue.set(made('p'));
      names(queue);
      queue.unreported(uid);
      await world.sleep(20_000);
      expect(names(queue)).toEqual([]);
      queue.rejected(uid, { unschedulablePlugins });
      queue.hold(uid);
      queue.unreported(uid);
      await world.sleep(20_000);
      expect(names(queue)).toEqual([]);
      queue.unhold(uid, { retry: false });
      expect(names(queue)).toEqual(['p']);
    }));

  it('retries an unschedulable pod after five minutes, once', () =>
    withQueue(async (queue, world) => {
      queue.set(made('p'));
      names(queue);
      queue.rejected(made('p').uid, { unschedulablePlugins });
      await world.sleep(299_000);
      expect(names(queue)).toEqual([]);
      let isReady = false;
      queue.onReady = () => {
        isReady = true;
      };
      await world.sleep(2_000);
      expect(isReady).toBe(true);
      expect(names(queue)).toEqual(['p']);
    }));

  it('keeps a gated pod until its gates are removed', () =>
    withQueue(async (queue, world) => {
      queue.set(made('p', { schedulingGates: [{ name: 'quota' }] }));
      queue.changed(nodeNamed('p'));
      await world.sleep(600_000);
      expect(names(queue)).toEqual([]);
      queue.set(made('p'));
      expect(names(queue)).toEqual(['p']);
    }));

  it('delays a hint for a held pod until unhold, and retries after its backoff if the victims could not be evicted', () =>
    withQueue(async (queue, world) => {
      const { uid } = made('p');
      queue.set(made('p'));
      names(queue);
      queue.rejected(uid, { unschedulablePlugins });
      queue.hold(uid);
      queue.changed(nodeNamed('p'));
      expect(names(queue)).toEqual([]);
      queue.unhold(uid, { retry: false });
      expect(names(queue)).toEqual(['p']);

      queue.rejected(uid, { unschedulablePlugins });
      queue.hold(uid);
      queue.unhold(uid, { retry: false });
      expect(names(queue)).toEqual([]);
      queue.hold(uid);
      queue.unhold(uid, { retry: true });
      expect(names(queue)).toEqual([]);
      await world.sleep(10_000);
      expect(names(queue)).toEqual(['p']);
    }));

  it('deletes a pod from any queue', () =>
    withQueue(async (queue, world) => {
      for (const name of ['active', 'failed', 'rejected', 'gated']) queue.set(made(name, name === 'gated' ? { schedulingGates: [{ name: 'x' }] } : {}));
      names(queue);
      queue.failed(made('failed').uid);
      queue.rejected(made('rejected').uid, { unschedulablePlugins });
      queue.rejected(made('active').uid, { unschedulablePlugins: new Set() });
      queue.changed(nodeNamed('x'));
      for (const name of ['active', 'failed', 'rejected', 'gated']) queue.delete(made(name).uid);
      await world.sleep(600_000);
      expect(names(queue)).toEqual([]);
      expect(queue.busy).toBe(false);
    }));
});
