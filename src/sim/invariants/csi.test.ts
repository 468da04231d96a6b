/** The invariants about CSI drivers with exceptions can be violated, and hold where they must. */
import { expect, test } from 'vitest';
import { snapshotAnnotations } from '../../api/volumes/snapshot-annotations.ts';
import { CsiBackend } from '../drivers/csi/backend.ts';
import { csiInvariants } from './csi.ts';
import { Facts, type ObjectChange } from './facts.ts';

const features = {
  name: 'a.csi.example.com',
  prefix: 'a',
  attaches: true,
  stages: true,
  zones: false,
  limit: 0,
  expansion: 'online',
  clones: true,
  lists: true,
  extraGi: 0,
  snapshotRounds: 0,
} as const;

const memberOf = (group: string) => ({ annotations: { [snapshotAnnotations.groupHandle]: group } });

test.each([
  ['while a snapshot of it is being taken', {}, {}, 1],
  ['once the snapshot has a handle', {}, { snapshotHandle: 'a.snap' }, 0],
  ['once its group was taken', memberOf('a.group'), {}, 0],
  ['while a group is said to be taken, and no snapshot of it exists', memberOf('a.other'), {}, 1],
])('a volume is deleted %s', (_, metadata, status, violations) => {
  const [facts, backend] = [new Facts(), new CsiBackend(features)];
  backend.taken.set('a.snap', { id: 'a.snap', name: 'snap', volume: 'a.disk', content: '', bytes: 1n, pending: 0, group: 'a.group' });
  const content = { metadata, spec: { driver: features.name, source: { volumeHandle: 'a.disk' }, volumeSnapshotRef: {} }, status };
  // The type says what the object is.
  facts.change({ type: 'content', key: 'c', revision: 1, before: undefined, after: content } as unknown as ObjectChange, 0);
  const change = { type: 'csi', backend, id: 'a.disk', event: { do: 'delete-volume', attachedTo: [], publishedOn: [] } } as const;
  expect(csiInvariants().flatMap((invariant) => invariant.check(change, facts, 0) ?? [])).toHaveLength(violations);
});
