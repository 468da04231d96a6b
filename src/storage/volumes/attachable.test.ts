import { expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeSpec } from '../../api/generated/types.ts';
import { attachableOf, parseUniqueName, uniqueNameOf } from './attachable.ts';

const volume = (spec: PersistentVolumeSpec): PersistentVolume => ({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'vol' }, spec, status: {} });
const csi = { driver: 'driver', volumeHandle: 'handle' };
const gcePersistentDisk = { pdName: 'pd' };

test.each<[PersistentVolumeSpec, boolean]>([
  [{ csi, accessModes: ['ReadWriteOnce'] }, true],
  [{ csi, accessModes: ['ReadWriteOncePod'] }, true],
  [{ csi, accessModes: ['ReadWriteMany'] }, false],
  [{ csi, accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] }, false],
  [{ csi }, false],
  [{ gcePersistentDisk, accessModes: ['ReadWriteMany'] }, true],
  [{ gcePersistentDisk, accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] }, true],
  [{ gcePersistentDisk, accessModes: ['ReadOnlyMany'] }, false],
])('%j is for one node only: %s', (spec, exclusive) => expect(attachableOf(volume(spec))?.exclusive).toBe(exclusive));

test('what the control plane never attaches', () => {
  expect(attachableOf(volume({ hostPath: { path: '/tmp' }, accessModes: ['ReadWriteOnce'] }))).toBeUndefined();
});

test('a volume’s name in a node’s status can be read back, whatever its driver calls it', () => {
  for (const handle of ['handle', 'a^b', 'a/b', '']) expect(parseUniqueName(uniqueNameOf({ driver: 'driver', handle }))).toEqual({ driver: 'driver', handle });
  for (const name of ['kubernetes.io/csi/driver', 'kubernetes.io/nfs/a^b', '']) expect(parseUniqueName(name)).toBeUndefined();
});
