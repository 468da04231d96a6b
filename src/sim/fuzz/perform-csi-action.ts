import type { PersistentVolumeClaim } from '../../api/generated/types.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { volumeGroupSnapshotClassKind, volumeGroupSnapshotKind } from '../../api/kinds/snapshot/volume-group-snapshot.ts';
import { snapshotGroup, volumeSnapshotClassKind, volumeSnapshotKind } from '../../api/kinds/snapshot/volume-snapshot.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import type { Draft } from '../../client/client.ts';
import type { UserRequests } from './perform-namespace-action.ts';
import type { CsiAction } from './plan/csi-actions.ts';

/** The label of claims that are snapshotted together. */
const groupLabel = 'group';

const inDefault = (name: string) => ({ namespace: 'default', name });

/** `write`: of every pod that runs. */
export async function performCsiAction(action: CsiAction, requests: UserRequests, write: () => void): Promise<string> {
  switch (action.do) {
    case 'create-csi-driver':
      return requests.create(csiDriverKind, { metadata: { name: action.driver }, spec: { attachRequired: action.attaches } });
    case 'create-csi-class':
      return requests.create(storageClassKind, {
        metadata: { name: action.name },
        provisioner: action.driver,
        reclaimPolicy: action.reclaim,
        volumeBindingMode: action.waits ? 'WaitForFirstConsumer' : 'Immediate',
        allowVolumeExpansion: true,
      });
    case 'create-snapshot-class': {
      const { name, driver, policy } = action;
      return requests.create(action.ofGroups ? volumeGroupSnapshotClassKind : volumeSnapshotClassKind, { metadata: { name }, driver, deletionPolicy: policy });
    }
    case 'create-csi-claim':
      return requests.create(persistentVolumeClaimKind, claim(action));
    case 'create-snapshot':
      return requests.create(volumeSnapshotKind, {
        metadata: inDefault(action.name),
        spec: { source: { persistentVolumeClaimName: action.claim }, volumeSnapshotClassName: action.snapshotClass },
      });
    case 'create-group-snapshot':
      return requests.create(volumeGroupSnapshotKind, {
        metadata: inDefault(action.name),
        spec: { source: { selector: { matchLabels: { [groupLabel]: action.group } } }, volumeGroupSnapshotClassName: action.snapshotClass },
      });
    case 'delete-snapshot':
      return requests.delete(volumeSnapshotKind, inDefault(action.name));
    case 'delete-group-snapshot':
      return requests.delete(volumeGroupSnapshotKind, inDefault(action.name));
    case 'write':
      write();
      return 'done';
  }
}

const claim = ({ name, storageClass, sizeGi, group, from }: Extract<CsiAction, { do: 'create-csi-claim' }>): Draft<PersistentVolumeClaim> => ({
  metadata: { ...inDefault(name), ...(group === undefined ? {} : { labels: { [groupLabel]: group } }) },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: `${sizeGi}Gi` } },
    storageClassName: storageClass,
    ...(from === undefined ? {} : { dataSource: from.kind === 'VolumeSnapshot' ? { apiGroup: snapshotGroup, ...from } : { ...from } }),
  },
});
