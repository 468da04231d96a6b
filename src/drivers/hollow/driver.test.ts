import { describe, expect, test } from 'vitest';
import { hollowDriver } from './driver.ts';

const zones = ['zone-a', 'zone-b', 'zone-c'];
const driver = hollowDriver({ name: 'disk.example.com', zones, zoneOf: (node) => (node === 'node-2' ? 'zone-b' : undefined) });
const leader = { lease: 'l', epoch: 1 };
const request = { name: 'pvc-1', capacity: '1Gi', accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem', storageClassName: 'fast', reclaimPolicy: 'Delete' };
const allowed = (...values: string[]) => [{ matchLabelExpressions: [{ key: 'topology.kubernetes.io/zone', values }] }];

async function zoneOf(more: object, asked = driver): Promise<unknown> {
  const answer = await asked.createVolume({ ...request, ...more }, leader);
  if (!answer.ok) return answer.code;
  return answer.value.nodeAffinity?.required?.nodeSelectorTerms?.[0]?.matchExpressions?.[0]?.values?.[0];
}

describe('a volume of a driver behind which there is nothing', () => {
  test('is in the zone of the node that was chosen', async () => {
    expect(await zoneOf({ selectedNode: 'node-2' })).toBe('zone-b');
    expect(await zoneOf({ selectedNode: 'node-2', allowedTopologies: allowed('zone-b') })).toBe('zone-b');
  });

  test('is not made where its class does not allow it', async () => {
    expect(await zoneOf({ selectedNode: 'node-2', allowedTopologies: allowed('zone-c') })).toBe('ResourceExhausted');
    expect(await zoneOf({ allowedTopologies: allowed('elsewhere') })).toBe('ResourceExhausted');
  });

  test('is somewhere, and there again when it is asked for again', async () => {
    const first = await zoneOf({});
    expect(zones).toContain(first);
    expect(await zoneOf({})).toBe(first);
    expect(await zoneOf({ allowedTopologies: allowed('zone-c') })).toBe('zone-c');
  });

  test('is everywhere if there are no zones', async () => {
    expect(await zoneOf({}, hollowDriver({ name: 'disk.example.com', zones: [], zoneOf: () => undefined }))).toBeUndefined();
  });

  test('has a handle by which it is known again', async () => {
    const answer = await driver.createVolume(request, leader);
    const source = answer.ok ? answer.value.source : {};
    expect(source).toEqual({ csi: { driver: 'disk.example.com', volumeHandle: driver.handleFor('pvc-1') } });
    expect(driver.handleOf(source)).toBe('pvc-1');
    expect(driver.handleOf({ csi: { driver: 'other', volumeHandle: 'pvc-1' } })).toBeUndefined();
  });

  test('grows to what is asked for', async () => {
    expect(await driver.controllerExpandVolume?.({ handle: 'pvc-1', capacity: '2Gi' }, leader)).toEqual({
      ok: true,
      value: { capacity: '2Gi', nodeExpansionRequired: false },
    });
  });
});
