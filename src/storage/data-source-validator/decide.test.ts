import { expect, test } from 'vitest';
import { pvc } from '../../../test/storage/objects.ts';
import type { PersistentVolumeClaim } from '../../api/generated/types.ts';
import { decide } from './decide.ts';

const backup = { apiGroup: 'example.com', kind: 'Backup', name: 'monday' };
const claimOf = (dataSourceRef: PersistentVolumeClaim['spec']['dataSourceRef'], phase = 'Pending'): PersistentVolumeClaim =>
  pvc('data', '1Gi', { spec: dataSourceRef === undefined ? {} : { dataSourceRef }, status: { phase } });
const events = (claim: PersistentVolumeClaim, registered: readonly string[] = []): readonly string[] =>
  decide({ claim, isRegistered: ({ group, kind }) => registered.includes(`${group}/${kind}`), lastEvent: () => undefined }, 0).actions.map(
    ({ event }) => `${event.type} ${event.reason}: ${event.message}`,
  );

test('a claim is told if no volume populator is registered for the kind of its data source', () => {
  expect(events(claimOf(backup))).toEqual(['Warning UnrecognizedDataSourceKind: The datasource for this PVC does not match any registered VolumePopulator']);
  expect(events(claimOf(backup), ['other.example.com/Backup', 'example.com/Other'])).toHaveLength(1);
  expect(events(claimOf(backup), ['example.com/Backup'])).toEqual([]);
});

test.each([
  ['none', undefined],
  ['a claim', { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'a' }],
  ['a snapshot', { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' }],
])('%s needs no volume populator', (_, source) => expect(events(claimOf(source))).toEqual([]));

test('a VolumeSnapshot of another group does, and a claim that has its volume does not', () => {
  expect(events(claimOf({ apiGroup: 'example.com', kind: 'VolumeSnapshot', name: 's' }))).toHaveLength(1);
  expect(events(claimOf(backup, 'Bound'))).toEqual([]);
});
