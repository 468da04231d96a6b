import { expect, test } from 'vitest';
import { isFull, placesOf } from './attach-headroom.ts';
import { copiesIn, expansionsIn } from './in-progress.ts';
import { leaksOf } from './leaks.ts';
import { type StorageLists, StorageView } from './storage-view.ts';
import { showBytes, usageIn } from './usage.ts';

const none: StorageLists = { claims: [], volumes: [], pods: [], attachments: [], nodes: [], csiNodes: [], classes: [], drivers: [], snapshots: [] };
const view = (lists: { readonly [List in keyof StorageLists]?: readonly object[] }) => new StorageView({ ...none, ...lists } as unknown as StorageLists);
const meta = (name: string, more: object = {}) => ({ name, uid: name, resourceVersion: '1', ...more });
const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
const node = (name: string, zone: string) => ({ metadata: meta(name, { labels: { 'topology.kubernetes.io/zone': zone } }), spec: {}, status: ready });
const attachment = (name: string, nodeName: string, volume = name) => ({
  metadata: meta(name),
  spec: { attacher: 'disks', nodeName, source: { persistentVolumeName: volume } },
  status: {},
});

test('nodes by zone, in the order of their numbers, with the slots of each driver', () => {
  const zones = placesOf(
    view({
      nodes: [node('node-10', 'b'), node('node-2', 'b'), node('node-1', 'a')],
      csiNodes: [{ metadata: meta('node-2'), spec: { drivers: [{ name: 'disks', allocatable: { count: 2 } }] } }],
      attachments: [attachment('x', 'node-2'), attachment('y', 'node-2'), attachment('z', 'node-10')],
    }),
  );
  expect(zones.map(({ zone, nodes }) => [zone, nodes.map(({ name }) => name)])).toEqual([
    ['a', ['node-1']],
    ['b', ['node-2', 'node-10']],
  ]);
  const [two, ten] = zones[1]?.nodes.flatMap(({ headroom }) => headroom) ?? [];
  expect(two).toEqual({ driver: 'disks', attached: ['x', 'y'], limit: 2 });
  expect([two, ten].map((each) => each !== undefined && isFull(each))).toEqual([true, false]);
});

test('leaks: Released volumes, claims that no pod uses, Lost claims, attachments without a node or volume', () => {
  const claim = (name: string, phase: string) => ({
    metadata: meta(name, { namespace: 'shop' }),
    spec: { resources: {} },
    status: { phase, capacity: { storage: '1Gi' } },
  });
  const leaks = leaksOf(
    view({
      claims: [claim('used', 'Bound'), claim('unused', 'Bound'), claim('lost', 'Lost'), claim('pending', 'Pending')],
      pods: [{ metadata: meta('p', { namespace: 'shop' }), spec: { volumes: [{ persistentVolumeClaim: { claimName: 'used' } }] }, status: {} }],
      volumes: [
        {
          metadata: meta('kept'),
          spec: { capacity: { storage: '7Gi' }, persistentVolumeReclaimPolicy: 'Retain', claimRef: { namespace: 'shop', name: 'gone' } },
          status: { phase: 'Released' },
        },
        { metadata: meta('free'), spec: {}, status: { phase: 'Available' } },
        { metadata: meta('bound'), spec: {}, status: { phase: 'Bound' } },
      ],
      nodes: [node('n1', 'a')],
      attachments: [attachment('fine', 'n1', 'bound'), attachment('no-node', 'n2', 'bound'), attachment('no-volume', 'n1')],
    }),
  );
  expect(leaks.released).toMatchObject([{ name: 'kept', size: '7Gi', reclaimPolicy: 'Retain', claim: 'shop/gone' }]);
  expect(leaks.available.map(({ name }) => name)).toEqual(['free']);
  expect(leaks.unused.map(({ name }) => name)).toEqual(['unused']);
  expect(leaks.lost.map(({ name }) => name)).toEqual(['lost']);
  expect(leaks.attachments.map(({ name, missing }) => [name, missing])).toEqual([
    ['no-node', 'node'],
    ['no-volume', 'volume'],
  ]);
});

test('expansions that are not complete, and claims made from others', () => {
  const claim = (name: string, to: string, from: string | undefined, dataSource?: object) => ({
    metadata: meta(name, { namespace: 'shop' }),
    spec: { resources: { requests: { storage: to } }, ...(dataSource === undefined ? {} : { dataSource }) },
    status: { phase: 'Bound', ...(from === undefined ? {} : { capacity: { storage: from } }), allocatedResourceStatuses: { storage: 'NodeResizePending' } },
  });
  const claims = view({
    claims: [claim('grows', '2Gi', '1Gi'), claim('done', '1Gi', '1Gi'), claim('new', '1Gi', undefined, { kind: 'VolumeSnapshot', name: 's' })],
  });
  expect(expansionsIn(claims)).toEqual([{ namespace: 'shop', name: 'grows', from: '1Gi', to: '2Gi', state: 'NodeResizePending' }]);
  expect(copiesIn(claims)).toEqual([{ namespace: 'shop', name: 'new', source: 'VolumeSnapshot/s', phase: 'Bound' }]);
});

test('usage, as kubelets report it; figures that are not there are left out', () => {
  const pvcRef = { name: 'data', namespace: 'shop' };
  const volume = [{ usedBytes: 5, capacityBytes: 10, pvcRef }, { usedBytes: 5, capacityBytes: 10 }, { pvcRef: { ...pvcRef, name: 'silent' } }];
  expect([...usageIn({ pods: [{ volume }, {}] })]).toEqual([['shop/data', { usedBytes: 5, capacityBytes: 10 }]]);
  expect([...usageIn({})]).toEqual([]);
});

test('bytes, short', () => {
  expect([0, 999, 1024, 1536, 5 * 1024 ** 3, 20.4 * 1024 ** 4].map(showBytes)).toEqual(['0', '999', '1Ki', '1.5Ki', '5Gi', '20Ti']);
});
