/** Each invariant can be violated, and holds where it must. */
import { describe, expect, test } from 'vitest';
import { put } from '../../store/contract.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import { leftUndone } from './end-state.ts';
import { mountedStays, onePod } from './attaching.ts';
import type { Invariant } from './invariant.ts';
import { Observer, type Violation } from './observer.ts';
import { withinLimit } from './limit.ts';
import { staysInOutage } from './workloads.ts';
import { deletedAfterClaim, intentBeforeEffect, notOfferedUnscrubbed, retained } from './reclaiming.ts';

const outOfService = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' };

/** A store with an observer, and a clock that the test sets. */
async function watched(...invariants: readonly Invariant[]) {
  const [store, violations, time] = [openMemoryStore(), [] as Violation[], { now: 0 }];
  const observer = new Observer({ invariants, now: () => time.now, onChange: () => undefined, onViolation: (violation) => violations.push(violation) });
  await observer.follow(store);
  const write = async (key: string, object: object) => {
    await store.transact({ compares: [], writes: [put(`/registry/${key}`, Buffer.from(JSON.stringify(object)))] });
  };
  const remove = (key: string) => store.transact({ compares: [], writes: [{ type: 'delete', key: `/registry/${key}` }] });
  return {
    observer,
    time,
    write,
    names: () => violations.map(({ invariant }) => invariant),
    node: (status: 'True' | 'Unknown', taints: readonly object[] = []) =>
      write('nodes/n', { metadata: { name: 'n' }, spec: { taints }, status: { conditions: [{ type: 'Ready', status }] } }),
    volume: (phase: string, spec: object) => write('persistentvolumes/v', { metadata: { name: 'v' }, spec, status: { phase } }),
    remove,
    removeVolume: () => remove('persistentvolumes/v'),
    claim: (mode: string) =>
      write('persistentvolumeclaims/default/c', {
        metadata: { name: 'c', namespace: 'default', uid: 'u' },
        spec: { volumeName: 'v', accessModes: [mode] },
        status: { phase: 'Bound' },
      }),
    pod: (name: string, status: object) =>
      write(`pods/default/${name}`, {
        metadata: { name, namespace: 'default' },
        spec: { nodeName: 'n', volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'c' } }] },
        status,
      }),
  };
}

const running = { phase: 'Running', containerStatuses: [{ state: { running: {} } }] };
const bound = (policy: string) => ({
  claimRef: { namespace: 'default', name: 'c', uid: 'u' },
  persistentVolumeReclaimPolicy: policy,
  csi: { volumeHandle: 'd' },
});

async function podWithDisk() {
  const watch = await watched(mountedStays);
  await watch.node('True');
  await watch.volume('Bound', bound('Delete'));
  await watch.claim('ReadWriteOnce');
  await watch.pod('p', running);
  return { ...watch, detach: () => watch.observer.diskChanged({ type: 'detached', handle: 'd', node: 'n' }) };
}

test('a disk that is detached from a node that was always ready is a violation, also if the node is new', async () => {
  const { detach, names } = await podWithDisk();
  detach();
  expect(names()).toEqual([mountedStays.name]);
});

test('a disk may be detached from a node that has just become ready again; later it may not', async () => {
  const { detach, names, node, time } = await podWithDisk();
  await node('Unknown');
  await node('True');
  time.now = 100_000;
  detach();
  expect(names()).toEqual([]);
  time.now = 120_000;
  detach();
  expect(names()).toEqual([mountedStays.name]);
});

test('a disk may be detached from a node that is out of service', async () => {
  const { detach, names, node } = await podWithDisk();
  await node('True', [outOfService]);
  detach();
  expect(names()).toEqual([]);
});

test('two pods that run with a ReadWriteOncePod claim are a violation', async () => {
  const watch = await watched(onePod);
  await watch.volume('Bound', bound('Delete'));
  await watch.claim('ReadWriteOncePod');
  await watch.pod('p', running);
  await watch.pod('q', { phase: 'Pending' });
  expect(watch.names()).toEqual([]);
  await watch.pod('q', running);
  expect(watch.names()).toEqual([onePod.name]);
});

test.each([
  ['Retain', 1],
  ['Delete', 0],
])('the disk of a volume with policy %s is deleted after the PersistentVolume was deleted: %i violations', async (policy, count) => {
  const watch = await watched(retained());
  await watch.volume('Released', bound(policy));
  await watch.removeVolume();
  watch.observer.diskChanged({ type: 'deleted', handle: 'd' });
  expect(watch.names()).toHaveLength(count);
});

test.each([
  ['before the policy became Retain', ['Delete', 'ask', 'Retain', 'arrive'], 0],
  ['after the policy became Retain', ['Delete', 'Retain', 'ask', 'arrive'], 1],
])('a disk is deleted by a call that was made %s', async (_, steps, count) => {
  const watch = await watched(retained());
  for (const step of steps) {
    if (step === 'ask' || step === 'arrive') watch.observer.driverCalled({ id: 1, deletes: 'd', arrives: step === 'arrive' });
    else await watch.volume('Released', bound(step));
  }
  watch.observer.diskChanged({ type: 'deleted', handle: 'd' });
  expect(watch.names()).toHaveLength(count);
});

test('a call made after the policy became Retain is a violation, also if an earlier one is still under way', async () => {
  const watch = await watched(retained());
  await watch.volume('Released', bound('Delete'));
  watch.observer.driverCalled({ id: 1, deletes: 'd', arrives: false });
  await watch.volume('Released', bound('Retain'));
  watch.observer.driverCalled({ id: 2, deletes: 'd', arrives: false });
  watch.observer.driverCalled({ id: 2, deletes: 'd', arrives: true });
  watch.observer.diskChanged({ type: 'deleted', handle: 'd' });
  expect(watch.names()).toHaveLength(1);
});

test.each(['Released', 'Failed'])('a volume that was %s is offered again only after a recycler pod has succeeded, each time', async (phase) => {
  const watch = await watched(notOfferedUnscrubbed());
  const round = async (scrubber: string) => {
    await watch.volume('Bound', bound('Recycle'));
    await watch.volume(phase, bound('Recycle'));
    if (scrubber !== '') await watch.pod('recycler-for-v', { phase: scrubber });
    await watch.volume('Available', { persistentVolumeReclaimPolicy: 'Recycle' });
    return watch.names().length;
  };
  expect(await round('Succeeded')).toBe(0);
  expect(await round('')).toBe(1);
  expect(await round('Running')).toBe(2);
});

test.each([
  ['no fault disturbed the controllers', Number.NEGATIVE_INFINITY, 1],
  ['a fault disturbed them long ago', 0, 1],
  ['a fault disturbs them', 40_000, 0],
])('in a full outage a node evicts its pods, and %s', async (_, disturbedUntil, count) => {
  const watch = await watched(staysInOutage(false, () => disturbedUntil));
  await watch.node('True');
  await watch.node('Unknown');
  watch.time.now = 40_000;
  await watch.node('Unknown', [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }]);
  expect(watch.names()).toHaveLength(count);
});

test('a node that is ready again and still tainted is left undone', async () => {
  const { node, observer } = await watched();
  await node('True', [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }]);
  expect(leftUndone(observer.facts)).toBeUndefined();
  await node('True', [outOfService]);
  expect(leftUndone(observer.facts)).toBe('node n is ready, and still has the taint of one that is not');
});

test('an attachment that no pod uses is left undone', async () => {
  const watch = await watched();
  await watch.volume('Bound', bound('Delete'));
  await watch.claim('ReadWriteOnce');
  await watch.write('storage.k8s.io/volumeattachments/a', {
    metadata: { name: 'a' },
    spec: { nodeName: 'n', source: { persistentVolumeName: 'v' } },
    status: {},
  });
  expect(leftUndone(watch.observer.facts)).toBe('attachment a to n still exists, where no pod uses it');
  await watch.pod('p', { phase: 'Pending' });
  expect(leftUndone(watch.observer.facts)).toBeUndefined();
});

test('a claim that is bound to another volume does not keep the one that was provisioned for it', async () => {
  const watch = await watched(deletedAfterClaim);
  await watch.volume('Released', bound('Delete'));
  const claim = (volumeName: string) =>
    watch.write('persistentvolumeclaims/default/c', { metadata: { name: 'c', uid: 'u' }, spec: { volumeName }, status: { phase: 'Bound' } });
  await claim('other');
  watch.observer.diskChanged({ type: 'deleted', handle: 'd' });
  expect(watch.names()).toEqual([]);
  for (const volumeName of ['v', '']) {
    await claim(volumeName);
    watch.observer.diskChanged({ type: 'deleted', handle: 'd' });
  }
  expect(watch.names()).toEqual([deletedAfterClaim.name, deletedAfterClaim.name]);
});

const guard = 'external-provisioner.volume.kubernetes.io/finalizer';

test.each([
  ['was always to be deleted', [['Delete', guard], ['Delete']], 1],
  ['lost its finalizer to Retain, and is to be deleted again', [['Delete', guard], ['Retain'], ['Delete']], 0],
  ['had its finalizer again', [['Retain'], ['Delete', guard], ['Delete']], 1],
])('a volume that %s leaves its disk behind', async (_, states, count) => {
  const watch = await watched(intentBeforeEffect());
  watch.observer.facts.changeDisk({ type: 'created', handle: 'd', capacity: '1Gi' });
  for (const [policy = '', ...finalizers] of states) {
    const metadata = { name: 'v', finalizers, annotations: { 'pv.kubernetes.io/provisioned-by': 'd' } };
    await watch.write('persistentvolumes/v', { metadata, spec: bound(policy), status: { phase: 'Released' } });
  }
  await watch.removeVolume();
  expect(watch.names()).toHaveLength(count);
});

describe('a disk beyond the attach limit', () => {
  /** A claim of a WaitForFirstConsumer class; `meanwhile` happens before it has its volume. */
  async function attached(meanwhile: (step: { chooseNode: () => Promise<void>; deleteClass: () => Promise<unknown> }) => Promise<void>) {
    const watch = await watched(withinLimit(0));
    const claim = (annotations: object, volumeName?: string) =>
      watch.write('persistentvolumeclaims/default/c', {
        metadata: { name: 'c', namespace: 'default', uid: 'u', annotations },
        spec: { storageClassName: 'late', volumeName },
        status: {},
      });
    const chosen = { 'volume.kubernetes.io/selected-node': 'n' };
    await watch.write('storage.k8s.io/storageclasses/late', { metadata: { name: 'late' }, volumeBindingMode: 'WaitForFirstConsumer' });
    await claim({});
    await meanwhile({ chooseNode: () => claim(chosen), deleteClass: () => watch.remove('storage.k8s.io/storageclasses/late') });
    await watch.volume('Bound', bound('Delete'));
    await claim(chosen, 'v');
    watch.time.now += 200_000;
    watch.observer.diskChanged({ type: 'attached', handle: 'd', node: 'n' });
    return watch.names().length;
  }

  test('is a violation', async () => {
    expect(await attached(({ chooseNode }) => chooseNode())).toBe(1);
  });

  test('does not count if the StorageClass was deleted before the disk existed', async () => {
    const inOrder = async ({ chooseNode, deleteClass }: { chooseNode: () => Promise<void>; deleteClass: () => Promise<unknown> }) => {
      await chooseNode();
      await deleteClass();
    };
    expect(await attached(inOrder)).toBe(0);
  });

  test('is a violation also after another StorageClass was deleted', async () => {
    const watch = await watched(withinLimit(0));
    await watch.write('storage.k8s.io/storageclasses/other', { metadata: { name: 'other' }, volumeBindingMode: 'WaitForFirstConsumer' });
    await watch.remove('storage.k8s.io/storageclasses/other');
    await watch.volume('Bound', bound('Delete'));
    await watch.claim('ReadWriteOnce');
    watch.observer.diskChanged({ type: 'attached', handle: 'd', node: 'n' });
    expect(watch.names()).toHaveLength(1);
  });

  test.each([
    ['was always ready', [], 1],
    ['has just come back', ['away', 'back'], 0],
    ['came back some time ago', ['away', 'back', 'wait'], 1],
    ['came back some time ago, but a fault disturbs the scheduler', ['away', 'back', 'wait', 'disturb'], 0],
    ['came back some time ago, and a fault disturbed the scheduler before', ['away', 'back', 'disturb', 'wait'], 1],
  ])('depends on whether the node %s', async (_, steps, count) => {
    let disturbedUntil = Number.NEGATIVE_INFINITY;
    const watch = await watched(withinLimit(0, () => disturbedUntil));
    await watch.node('True');
    for (const step of steps) {
      if (step === 'away') await watch.remove('nodes/n');
      else if (step === 'back') await watch.node('True');
      else if (step === 'disturb') disturbedUntil = watch.time.now;
      else watch.time.now += 200_000;
    }
    await watch.volume('Bound', bound('Delete'));
    await watch.claim('ReadWriteOnce');
    await watch.pod('p', {});
    watch.observer.diskChanged({ type: 'attached', handle: 'd', node: 'n' });
    expect(watch.names()).toHaveLength(count);
  });

  test.each([
    ['is a violation although its pod has ended', [], 1],
    ['does not count if its pod has ended and the scheduler may not have its VolumeAttachment', ['disturb'], 0],
    ['is a violation some time after the last fault', ['disturb', 'wait'], 1],
    ['is a violation while its pod runs, whatever the scheduler has', ['disturb', 'run'], 1],
  ])('%s', async (_, steps, count) => {
    let disturbedUntil = Number.NEGATIVE_INFINITY;
    const watch = await watched(withinLimit(1, () => disturbedUntil));
    const next = (name: string, claimName: string) =>
      watch.write(`pods/default/${name}`, {
        metadata: { name, namespace: 'default', uid: name },
        spec: { nodeName: 'n', volumes: [{ name: 'd', persistentVolumeClaim: { claimName } }] },
        status: {},
      });
    await watch.volume('Bound', bound('Delete'));
    await watch.claim('ReadWriteOnce');
    watch.observer.diskChanged({ type: 'attached', handle: 'd', node: 'n' });
    await watch.pod('p', steps.includes('run') ? running : { phase: 'Succeeded' });
    for (const step of steps) {
      if (step === 'disturb') disturbedUntil = watch.time.now;
      else if (step === 'wait') watch.time.now += 60_000;
    }
    await next('q', 'other');
    watch.observer.diskChanged({ type: 'attached', handle: 'e', node: 'n' });
    expect(watch.names()).toHaveLength(count);
  });
});
