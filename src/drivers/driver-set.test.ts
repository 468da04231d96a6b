import { describe, expect, test } from 'vitest';
import { type CreateIntentSpec, type IntentOf, newIntent } from '../api/volumes/intent.ts';
import { failed, type Leader, type VolumeDriver } from './contract.ts';
import { DriverSet } from './driver-set.ts';

const leader: Leader = { lease: 'kube-system/moor-controllers', epoch: 7 };
const led = (...drivers: VolumeDriver[]) => new DriverSet(drivers).fencedBy(leader);
const asset = { handle: 'h', capacity: '1Gi', source: {} };

function driver(calls: Partial<VolumeDriver>): VolumeDriver {
  return {
    capabilities: { name: 'd', provisions: true, deletes: true, mountOptions: false, block: false, expands: 'never', attaches: false },
    createVolume: async () => ({ ok: true, value: asset }),
    deleteVolume: async () => ({ ok: true, value: undefined }),
    listVolumes: async () => ({ ok: true, value: [] }),
    handleFor: () => undefined,
    handleOf: ({ hostPath }) => hostPath?.path,
    ...calls,
  };
}

const intent = newIntent('pvc-1', {
  operation: 'Create',
  driver: 'd',
  claimRef: { namespace: 'n', name: 'c', uid: '1' },
  request: { capacity: '1Gi', accessModes: [], volumeMode: 'Filesystem', storageClassName: 's', reclaimPolicy: 'Delete' },
}) as IntentOf<CreateIntentSpec>;

describe('a failure', () => {
  test.each([
    ['InvalidArgument', true],
    ['Internal', true],
    ['OutOfRange', true],
    ['ResourceExhausted', false],
    ['DeadlineExceeded', false],
    ['Unavailable', false],
    ['Aborted', false],
    ['Canceled', false],
    ['Unknown', false],
  ] as const)('with code %s is final: %s', async (code, final) => {
    const set = led(driver({ createVolume: async () => failed(code, 'why') }));
    expect(await set.create(intent)).toEqual({ type: 'failed', message: 'why', final });
  });

  test('of a driver that throws is not final', async () => {
    const set = led(driver({ createVolume: () => Promise.reject(new Error('broken')) }));
    expect(await set.create(intent)).toEqual({ type: 'failed', message: 'broken', final: false });
  });

  test('to delete an asset in use is no error', async () => {
    const set = led(driver({ deleteVolume: async () => failed('FailedPrecondition', 'attached') }));
    expect(await set.delete('d', asset)).toEqual({ type: 'failed', message: 'attached', final: true, inUse: true });
  });
});

test('a call to a missing driver is not final: it may have happened earlier', async () => {
  const set = led();
  expect(await set.create(intent)).toMatchObject({ type: 'failed', final: false });
  expect(set.facts('d')).toBeUndefined();
});

test('a volume is deleted by the handle in its source; the source of another driver is refused', async () => {
  const deleted: string[] = [];
  const set = led(
    driver({
      deleteVolume: async (handle) => {
        deleted.push(handle);
        return { ok: true, value: undefined };
      },
    }),
  );
  expect(await set.deleteSource('d', { hostPath: { path: '/tmp/x' } })).toEqual({ type: 'deleted' });
  expect(await set.deleteSource('d', { nfs: { server: 's', path: '/x' } })).toMatchObject({ type: 'failed', final: true });
  expect(deleted).toEqual(['/tmp/x']);
});

test('every call that changes a volume carries the fencing token', async () => {
  const leaders: Leader[] = [];
  const note = (value: Leader) => void leaders.push(value);
  const set = led(
    driver({
      createVolume: async (_, by) => (note(by), { ok: true, value: asset }),
      deleteVolume: async (_, by) => (note(by), { ok: true, value: undefined }),
      controllerExpandVolume: async ({ capacity }, by) => (note(by), { ok: true, value: { capacity, nodeExpansionRequired: false } }),
    }),
  );
  await set.create(intent);
  await set.delete('d', asset);
  await set.expand('d', { hostPath: { path: '/tmp/x' } }, '2Gi');
  expect(leaders).toEqual([leader, leader, leader]);
});

describe('expanding a volume', () => {
  const source = { hostPath: { path: '/tmp/x' } };

  test('returns the new size', async () => {
    const set = led(driver({ controllerExpandVolume: async () => ({ ok: true, value: { capacity: '3Gi', nodeExpansionRequired: true } }) }));
    expect(await set.expand('d', source, '2Gi')).toEqual({ type: 'expanded', capacity: '3Gi', nodeExpansionRequired: true });
  });

  test.each([
    ['OutOfRange', true, true],
    ['NotFound', true, true],
    ['InvalidArgument', true, true],
    ['Internal', true, false],
    ['Unavailable', false, false],
  ] as const)('that fails as %s: final %s, infeasible %s', async (code, final, infeasible) => {
    const set = led(driver({ controllerExpandVolume: async () => failed(code, 'why') }));
    expect(await set.expand('d', source, '2Gi')).toEqual({ type: 'failed', message: 'why', final, infeasible });
  });

  test('is refused by drivers that cannot', async () => {
    expect(await led(driver({})).expand('d', source, '2Gi')).toMatchObject({ type: 'failed', final: true, message: 'd does not expand volumes' });
  });
});
