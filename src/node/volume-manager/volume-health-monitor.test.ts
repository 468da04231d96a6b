import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { NodeDriver, VolumeHealth } from '../../drivers/contract.ts';
import { ActualState } from './actual-state.ts';
import { VolumeHealthMonitor } from './volume-health-monitor.ts';

/** One pod with a mounted CSI volume, and minutes that pass when told. */
function monitored({ isMounted = true }: { readonly isMounted?: boolean } = {}) {
  const waiting = new Set<() => void>();
  const events: string[] = [];
  const asked: string[] = [];
  const actual = new ActualState();
  const record = { type: 'published', key: 'uid-1/data', podUid: 'uid-1', pod: 'default/web', podVolume: 'data', driver: 'kubernetes.io/csi' } as const;
  const csi = { driver: 'fake.example.com', handle: 'vol-1' };
  const named = { name: 'pv-1', uniqueName: 'pv-1', target: '/t', stagingPath: undefined, claim: undefined, attached: undefined, csi };
  actual.expect({ ...record, ...named });
  const volume = actual.get(record.key);
  if (volume !== undefined && isMounted) volume.mounted = { mode: 'Filesystem', hostPath: '/t/mount', readOnly: false };
  const health: { now: VolumeHealth | undefined } = { now: { abnormal: true, message: 'a disk is gone' } };
  const driver: Partial<NodeDriver> = {
    nodeGetVolumeHealth: async ({ handle }, path) => {
      asked.push(`${handle} ${path}`);
      return { ok: true, value: health.now };
    },
  };
  const pod = { metadata: { name: 'web', namespace: 'default', uid: 'uid-1' } } as Stored<Pod>;
  const monitor = new VolumeHealthMonitor({
    timers: {
      after: (_, callback) => {
        waiting.add(callback);
        return () => void waiting.delete(callback);
      },
      soon: queueMicrotask,
    },
    recorder: { record: (_, { reason, message }) => void events.push(`${reason} ${message}`) },
    driver: () => driver as NodeDriver,
    pods: () => [pod],
    volumesOf: (uid) => actual.ofPod(uid),
  });
  const minute = async () => {
    const due = [...waiting];
    waiting.clear();
    for (const callback of due) callback();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { monitor, minute, events, asked, health, waiting };
}

test('each minute the driver is asked, and each new message is an event of the pod', async () => {
  const { monitor, minute, events, asked, health } = monitored();
  monitor.start();
  monitor.start();
  expect(asked).toEqual([]);
  await minute();
  await minute();
  expect(asked).toEqual(['vol-1 /t/mount', 'vol-1 /t/mount']);
  expect(events).toEqual(['VolumeConditionAbnormal Volume data: a disk is gone']);
  health.now = { abnormal: false, message: '' };
  await minute();
  health.now = { abnormal: true, message: 'a disk is gone' };
  await minute();
  expect(events).toHaveLength(2);
});

test('a driver that does not tell has no events', async () => {
  const { monitor, minute, events, asked, health } = monitored();
  health.now = undefined;
  monitor.start();
  await minute();
  expect(asked).toHaveLength(1);
  expect(events).toEqual([]);
});

test('without a mounted volume no timer runs, until the next one is mounted', async () => {
  const { monitor, minute, asked, waiting } = monitored({ isMounted: false });
  monitor.start();
  await minute();
  expect(waiting.size).toBe(0);
  monitor.start();
  expect(waiting.size).toBe(1);
  expect(asked).toEqual([]);
});

test('a stopped monitor asks nothing', async () => {
  const { monitor, minute, asked, waiting } = monitored();
  monitor.start();
  monitor.stop();
  expect(waiting.size).toBe(0);
  monitor.start();
  await minute();
  expect(asked).toEqual([]);
});
