/** The invariants about machines and admission can be violated, and hold where they must. */
import { expect, test } from 'vitest';
import { put } from '../../store/contract.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import type { MachineEvent } from '../host/simulated-machine.ts';
import { emptyBeforeGone, namespaceLeftUndone, notInTerminating, withinLimitRange, withinQuota } from './admission.ts';
import type { Invariant } from './invariant.ts';
import { journalFirst, leftMounted, notUnderRunningPod, runsWithItsDisks, unmountedBeforeDetach } from './machines.ts';
import { Observer, type Violation } from './observer.ts';

async function watched(...invariants: readonly Invariant[]) {
  const [store, violations, time] = [openMemoryStore(), [] as Violation[], { now: 0 }];
  const observer = new Observer({ invariants, now: () => time.now, onChange: () => undefined, onViolation: (violation) => violations.push(violation) });
  await observer.follow(store);
  const write = async (key: string, object: object) =>
    void (await store.transact({ compares: [], writes: [put(`/registry/${key}`, Buffer.from(JSON.stringify(object)))] }));
  const remove = async (key: string) => void (await store.transact({ compares: [], writes: [{ type: 'delete', key: `/registry/${key}` }] }));
  return { observer, time, write, remove, names: () => violations.map(({ invariant }) => invariant) };
}

const claim = (name: string, storage = '1Gi') => ({
  metadata: { name, namespace: 'team', uid: `uid of ${name}`, creationTimestamp: '2026-01-01T00:01:00Z' },
  spec: { volumeName: 'v', accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
  status: { phase: 'Bound' },
});
const pod = (name: string, more: object = {}) => ({
  metadata: { name, namespace: 'team', uid: `uid of ${name}`, ...more },
  spec: { nodeName: 'n', volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }] },
  status: { phase: 'Pending' },
});
const volume = {
  metadata: { name: 'v' },
  spec: { claimRef: { namespace: 'team', name: 'c', uid: 'uid of c' }, csi: { volumeHandle: 'disk' } },
  status: { phase: 'Bound' },
};
const node = { metadata: { name: 'n' }, spec: {}, status: { conditions: [{ type: 'Ready', status: 'True' }] } };

const events: readonly [string, MachineEvent, Invariant, number][] = [
  ['a mount without a record', { do: 'mount', target: '/var/lib/node/pods/u/volumes/x', journaled: false }, journalFirst, 1],
  ['a mount with a record', { do: 'mount', target: '/var/lib/node/pods/u/volumes/x', journaled: true }, journalFirst, 0],
  ['a mount elsewhere', { do: 'mount', target: '/mnt', journaled: false }, journalFirst, 0],
  ['an unmount under a container', { do: 'unmount', target: '/x', users: ['uid of p'] }, notUnderRunningPod, 1],
  ['an unmount that no container sees', { do: 'unmount', target: '/x', users: [] }, notUnderRunningPod, 0],
  ['a container with its disk', { do: 'start', podUid: 'uid of p', disks: new Map([['data', 'disk']]) }, runsWithItsDisks, 0],
  ['a container with another disk', { do: 'start', podUid: 'uid of p', disks: new Map([['data', 'other']]) }, runsWithItsDisks, 1],
  ['a container with an empty directory', { do: 'start', podUid: 'uid of p', disks: new Map([['data', undefined]]) }, runsWithItsDisks, 1],
];

test.each(events)('%s', async (_, event, invariant, count) => {
  const watch = await watched(invariant);
  await watch.write('persistentvolumes/v', volume);
  await watch.write('persistentvolumeclaims/team/c', claim('c'));
  await watch.write('pods/team/p', pod('p'));
  watch.observer.machineChanged('n', event);
  expect(watch.names()).toHaveLength(count);
});

test('a disk is detached from a live node that has it mounted', async () => {
  const watch = await watched(unmountedBeforeDetach);
  watch.observer.unplugged('n', 'disk', true);
  expect(watch.names()).toEqual([]);
  await watch.write('nodes/n', node);
  watch.observer.unplugged('n', 'disk', false);
  expect(watch.names()).toEqual([]);
  watch.observer.unplugged('n', 'disk', true);
  expect(watch.names()).toEqual([unmountedBeforeDetach.name]);
});

test('what is mounted for a pod that is gone is left undone', async () => {
  const { observer, write } = await watched();
  const target = '/var/lib/node/pods/uid of p/volumes/x';
  await write('pods/team/p', pod('p'));
  expect(leftMounted(observer.facts, 'n', [target, '/var/lib/node/plugins/x'])).toBeUndefined();
  expect(leftMounted(observer.facts, 'n', ['/var/lib/node/pods/gone/volumes/x'])).toContain('its pod is gone');
});

test('a claim beyond the quota is a violation, unless the quota has just been created', async () => {
  const watch = await watched(withinQuota());
  const quota = { metadata: { name: 'q', namespace: 'team' }, spec: { hard: { persistentvolumeclaims: '1', 'requests.storage': '5Gi' } }, status: {} };
  await watch.write('resourcequotas/team/q', quota);
  await watch.write('persistentvolumeclaims/team/a', claim('a'));
  await watch.write('persistentvolumeclaims/team/b', claim('b'));
  await watch.write('persistentvolumeclaims/other/c', claim('c'));
  expect(watch.names()).toEqual([]);
  watch.time.now = 5_000;
  await watch.write('persistentvolumeclaims/team/d', claim('d'));
  expect(watch.names()).toEqual(['no namespace uses more than its quota']);
});

test('a pod that is terminating does not count', async () => {
  const watch = await watched(withinQuota());
  await watch.write('resourcequotas/team/q', { metadata: { name: 'q', namespace: 'team' }, spec: { hard: { pods: '1' } }, status: {} });
  watch.time.now = 5_000;
  await watch.write('pods/team/a', pod('a', { deletionTimestamp: '2026-01-01T00:00:00Z' }));
  await watch.write('pods/team/b', pod('b'));
  expect(watch.names()).toEqual([]);
  await watch.write('pods/team/c', pod('c'));
  expect(watch.names()).toHaveLength(1);
});

test('a claim beyond its LimitRange is a violation', async () => {
  const watch = await watched(withinLimitRange);
  const limits = [{ type: 'PersistentVolumeClaim', max: { storage: '2Gi' } }];
  await watch.write('limitranges/team/l', { metadata: { name: 'l', namespace: 'team', creationTimestamp: '2026-01-01T00:00:00Z' }, spec: { limits } });
  await watch.write('persistentvolumeclaims/team/a', claim('a', '2Gi'));
  expect(watch.names()).toEqual([]);
  await watch.write('persistentvolumeclaims/team/b', claim('b', '3Gi'));
  expect(watch.names()).toEqual([withinLimitRange.name]);
});

test('what is created in a namespace that is terminating or gone is a violation, and so is a namespace that leaves something', async () => {
  const watch = await watched(notInTerminating, emptyBeforeGone);
  await watch.write('namespaces/team', { metadata: { name: 'team' }, spec: {}, status: {} });
  await watch.write('persistentvolumeclaims/team/a', claim('a'));
  expect(watch.names()).toEqual([]);
  await watch.write('namespaces/team', { metadata: { name: 'team', deletionTimestamp: '2026-01-01T00:00:00Z' }, spec: {}, status: {} });
  await watch.write('pods/team/p', pod('p'));
  expect(watch.names()).toEqual([notInTerminating.name]);
  await watch.remove('namespaces/team');
  expect(watch.names()).toEqual([notInTerminating.name, emptyBeforeGone.name]);
  await watch.write('pods/nowhere/p', pod('p'));
  expect(watch.names()).toEqual([notInTerminating.name, emptyBeforeGone.name, notInTerminating.name]);
});

test('in the end a namespace is not terminating, has its service account, and its quota says what it uses', async () => {
  const { observer, write } = await watched();
  await write('namespaces/team', { metadata: { name: 'team', deletionTimestamp: '2026-01-01T00:00:00Z' }, spec: {}, status: {} });
  expect(namespaceLeftUndone(observer.facts)).toContain('still terminating');
  await write('namespaces/team', { metadata: { name: 'team' }, spec: {}, status: {} });
  expect(namespaceLeftUndone(observer.facts)).toContain('no service account');
  await write('serviceaccounts/team/default', { metadata: { name: 'default', namespace: 'team' } });
  expect(namespaceLeftUndone(observer.facts)).toBeUndefined();
  const quota = (used: string) => ({ metadata: { name: 'q', namespace: 'team' }, spec: { hard: { pods: '1' } }, status: { used: { pods: used } } });
  await write('resourcequotas/team/q', quota('1'));
  expect(namespaceLeftUndone(observer.facts)).toContain('quota team/q');
  await write('resourcequotas/team/q', quota('0'));
  expect(namespaceLeftUndone(observer.facts)).toBeUndefined();
});
