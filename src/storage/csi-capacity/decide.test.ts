import { describe, expect, test } from 'vitest';
import type { CSIStorageCapacity } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import type { CapacityAnswer } from './actions.ts';
import { type CsiCapacitySnapshot, decide } from './decide.ts';

const now = 1_000_000;
const GiB = 1024n ** 3n;

const measured: DriverCapabilities = {
  name: 'csi.example.com',
  provisions: true,
  deletes: true,
  mountOptions: true,
  block: true,
  expands: 'never',
  attaches: true,
  csi: { topology: true, clones: false, restores: false, modifies: false, reportsCapacity: true },
};

const given: CsiCapacitySnapshot = {
  driver: measured,
  isWanted: true,
  classes: [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'late' },
      provisioner: 'csi.example.com',
      volumeBindingMode: 'WaitForFirstConsumer',
      parameters: { kind: 'ssd', 'csi.storage.k8s.io/fstype': 'xfs' },
    },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'immediate' },
      provisioner: 'csi.example.com',
      volumeBindingMode: 'Immediate',
    },
  ],
  segments: [{ zone: 'a' }, { zone: 'b' }],
  objects: [],
  answer: () => undefined,
  changedAt: now - 1,
  nameOf: (...parts) => parts.join(' '),
};

const nameIn = (zone: string): string => `csi.example.com late {"zone":"${zone}"}`;
const answered = (answer: Partial<CapacityAnswer>) => (): CapacityAnswer => ({ at: now, failures: 0, capacity: { available: GiB }, ...answer });

const object = (name: string, capacity: string): Stored<CSIStorageCapacity> => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIStorageCapacity',
  metadata: { namespace: 'kube-system', name, uid: name, resourceVersion: '1' },
  nodeTopology: {},
  storageClassName: 'late',
  capacity,
});

const asked = (snapshot: CsiCapacitySnapshot): readonly string[] =>
  decide(snapshot, now).actions.flatMap((action) => (action.do === 'getCapacities' ? action.questions.map(({ name }) => name) : []));

describe('the driver is asked', () => {
  test('for each segment of a class that waits for its first consumer, with the parameters that are its own', () => {
    expect(decide(given, now).actions).toEqual([
      {
        do: 'getCapacities',
        driver: 'csi.example.com',
        questions: ['a', 'b'].map((zone) => ({ name: nameIn(zone), storageClassName: 'late', parameters: { kind: 'ssd' }, topology: { zone } })),
      },
    ]);
  });

  test.each([
    { what: 'every minute', answer: { at: now - 60_000 }, changedAt: 0, asks: true, again: undefined },
    { what: 'not before', answer: { at: now - 59_999 }, changedAt: 0, asks: false, again: now + 1 },
    { what: 'after a change', answer: { at: now - 2000 }, changedAt: now - 1000, asks: true, again: undefined },
    { what: 'not for each of many changes', answer: { at: now - 400 }, changedAt: now, asks: false, again: now + 600 },
    { what: 'more slowly after failures', answer: { at: now - 1000, failures: 4 }, changedAt: now, asks: false, again: now + 3000 },
    { what: 'if the clock was set back', answer: { at: now + 1 }, changedAt: 0, asks: true, again: undefined },
  ])('$what', ({ answer, changedAt, asks, again }) => {
    const snapshot = { ...given, objects: ['a', 'b'].map((zone) => object(nameIn(zone), '1Gi')), answer: answered(answer), changedAt };
    expect(asked(snapshot)).toEqual(asks ? [nameIn('a'), nameIn('b')] : []);
    expect(decide(snapshot, now).again).toBe(again);
  });

  test('once for all nodes, if it has no topology', () => {
    const csi = { topology: false, clones: false, restores: false, modifies: false, reportsCapacity: true };
    expect(asked({ ...given, driver: { ...measured, csi } })).toEqual(['csi.example.com late {}']);
  });
});

describe('its answer', () => {
  test('is published, and nothing is decided after that', () => {
    const snapshot = { ...given, segments: [{ zone: 'a' }], changedAt: 0, answer: answered({ capacity: { available: 3n * GiB, maximumVolumeSize: GiB } }) };
    const { actions } = decide(snapshot, now);
    expect(actions).toEqual([
      {
        do: 'create',
        object: {
          apiVersion: 'storage.k8s.io/v1',
          kind: 'CSIStorageCapacity',
          metadata: {
            namespace: 'kube-system',
            name: nameIn('a'),
            labels: { 'csi.storage.k8s.io/drivername': 'csi.example.com', 'csi.storage.k8s.io/managed-by': 'mooring' },
          },
          nodeTopology: { matchLabels: { zone: 'a' } },
          storageClassName: 'late',
          capacity: '3Gi',
          maximumVolumeSize: '1Gi',
        },
      },
    ]);
    const settled = { ...object(nameIn('a'), '3Gi'), maximumVolumeSize: '1Gi' };
    expect(decide({ ...snapshot, objects: [settled] }, now).actions).toEqual([]);
  });

  test('changes the object; a failure leaves it as it was', () => {
    const known = { ...object(nameIn('a'), '3Gi'), maximumVolumeSize: '1Gi' };
    const snapshot = { ...given, segments: [{ zone: 'a' }], changedAt: 0, objects: [known] };
    expect(decide({ ...snapshot, answer: answered({}) }, now).actions).toEqual([{ do: 'update', object: object(nameIn('a'), '1Gi'), from: known }]);
    expect(decide({ ...snapshot, answer: () => ({ at: now, failures: 1 }) }, now).actions).toEqual([]);
  });
});

test.each<{ what: string; change: Partial<CsiCapacitySnapshot> }>([
  { what: 'the class', change: { classes: [] } },
  { what: 'the segment', change: { segments: [] } },
  { what: 'the driver', change: { driver: undefined, isWanted: false } },
  { what: 'storageCapacity of the CSIDriver', change: { isWanted: false } },
])('the objects go with $what', ({ change }) => {
  const known = object(nameIn('a'), '1Gi');
  expect(decide({ ...given, objects: [known], answer: answered({}), ...change }, now).actions).toEqual([{ do: 'delete', object: known }]);
});
