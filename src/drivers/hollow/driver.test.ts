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

describe('a volume of the hollow driver', () => {
  test('is in the zone of the selected node', async () => {
    expect(await zoneOf({ selectedNode: 'node-2' })).toBe('zone-b');
    expect(await zoneOf({ selectedNode: 'node-2', allowedTopologies: allowed('zone-b') })).toBe('zone-b');
  });

  test('is not created outside of allowedTopologies', async () => {
    expect(await zoneOf({ selectedNode: 'node-2', allowedTopologies: allowed('zone-c') })).toBe('ResourceExhausted');
    expect(await zoneOf({ allowedTopologies: allowed('elsewhere') })).toBe('ResourceExhausted');
  });

  test('has a zone, the same one for a repeated call', async () => {
    const first = await zoneOf({});
    expect(zones).toContain(first);
    expect(await zoneOf({})).toBe(first);
    expect(await zoneOf({ allowedTopologies: allowed('zone-c') })).toBe('zone-c');
  });

  test('has no topology without zones', async () => {
    expect(await zoneOf({}, hollowDriver({ name: 'disk.example.com', zones: [], zoneOf: () => undefined }))).toBeUndefined();
  });

  test('has a handle that is derived from its name', async () => {
    const answer = await driver.createVolume(request, leader);
    const source = answer.ok ? answer.value.source : {};
    expect(source).toEqual({ csi: { driver: 'disk.example.com', volumeHandle: driver.handleFor('pvc-1') } });
    expect(driver.handleOf(source)).toBe('pvc-1');
    expect(driver.handleOf({ csi: { driver: 'other', volumeHandle: 'pvc-1' } })).toBeUndefined();
  });

  test('expands to the requested size', async () => {
    expect(await driver.controllerExpandVolume?.({ handle: 'pvc-1', capacity: '2Gi' }, leader)).toEqual({
      ok: true,
      value: { capacity: '2Gi', nodeExpansionRequired: false },
    });
  });
});
