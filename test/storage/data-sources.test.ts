/** A claim that wants its volume filled never gets an empty one in its place. */
import type { PersistentVolumeClaimSpec } from '../../src/api/generated/types.ts';
import { annotations } from '../../src/api/volumes/annotations.ts';
import { hostPathDriver } from './fake-backend.ts';
import type { FakeCluster } from './fake-cluster.ts';
import { pv, pvc, storageClass } from './objects.ts';
import { scenario } from './scenario.ts';
import { create, selectNode } from './steps.ts';

const disks = 'disks.example.com';
const ofDisks = storageClass('class', { provisioner: disks });
const addDisks = (world: FakeCluster) => void world.backend.drivers.set(disks, { ...hostPathDriver, name: disks, mountOptions: true, block: true });
const snapshotGroup = 'snapshot.storage.k8s.io';

const from = (source: Partial<Pick<PersistentVolumeClaimSpec, 'dataSource' | 'dataSourceRef'>>) => pvc('data', '1Gi', { spec: source });
const clone = { dataSource: { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'other' } };

const refused: readonly (readonly [what: string, Parameters<typeof from>[0], message: string])[] = [
  [
    'a clone of another claim',
    clone,
    'CSI driver does not support clone operations: controller CLONE_VOLUME capability is not reported: spec.dataSource names PersistentVolumeClaim "other"; create the claim again without it',
  ],
  [
    'a snapshot',
    { dataSource: { apiGroup: snapshotGroup, kind: 'VolumeSnapshot', name: 'before' } },
    'CSI driver does not support snapshot restore: controller CREATE_DELETE_SNAPSHOT capability is not reported: spec.dataSource names VolumeSnapshot "before" of group snapshot.storage.k8s.io;',
  ],
  [
    'a snapshot of another group',
    { dataSourceRef: { apiGroup: 'example.com', kind: 'VolumeSnapshot', name: 'before' } },
    'the PVC source does not belong to the right APIGroup. Expected snapshot.storage.k8s.io, Got example.com: spec.dataSourceRef names VolumeSnapshot "before"',
  ],
  [
    'an unknown kind',
    { dataSourceRef: { apiGroup: 'example.com', kind: 'Backup', name: 'monday' } },
    'data source (Backup) is not handled by the provisioner, and no volume populator has provided a volume: spec.dataSourceRef names Backup "monday" of group example.com;',
  ],
  [
    'a source in another namespace',
    { dataSourceRef: { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'other', namespace: 'elsewhere' } },
    'dataSourceRef namespace specified but the CrossNamespaceVolumeDataSource feature is disabled: spec.dataSourceRef names PersistentVolumeClaim "other" in namespace elsewhere;',
  ],
];

for (const [what, source, message] of refused) {
  scenario(`${what} is refused by a driver that does not fill volumes`, {
    given: [ofDisks],
    when: [addDisks, create(from(source))],
    shows: 'pvc/data Pending',
    events: [`pvc/data Warning ProvisioningFailed: failed to provision volume with StorageClass "class": ${message}`],
  });
}

scenario('a data source is refused by what is no CSI driver, also if only dataSourceRef names it', {
  given: [storageClass('class', { provisioner: hostPathDriver.name }), from({ dataSourceRef: { apiGroup: 'example.com', kind: 'Backup', name: 'monday' } })],
  shows: 'pvc/data Pending',
  events: [
    'pvc/data Warning ProvisioningFailed: plugin "kubernetes.io/host-path" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource: spec.dataSourceRef names Backup',
  ],
});

scenario('a claim with a data source keeps the node that the scheduler chose: a populator needs it', {
  nodes: ['n1'],
  given: [storageClass('class', { provisioner: disks, volumeBindingMode: 'WaitForFirstConsumer' })],
  when: [addDisks, create(from(clone)), selectNode('data', 'n1')],
  shows: 'pvc/data Pending node=n1',
  events: ['pvc/data Warning ProvisioningFailed: failed to provision volume with StorageClass "class": CSI driver does not support clone operations'],
});

scenario('a claim with a data source gets the volume that a populator filled for it', {
  given: [ofDisks],
  when: [
    addDisks,
    create(from({ dataSourceRef: { apiGroup: 'example.com', kind: 'Backup', name: 'monday' } })),
    create(
      pv('filled', '1Gi', {
        metadata: { name: 'filled', annotations: { [annotations.provisionedBy]: 'csi.example.com' } },
        spec: { persistentVolumeReclaimPolicy: 'Retain', claimRef: { namespace: 'default', name: 'data', uid: 'uid-of-pvc-data' } },
      }),
    ),
  ],
  shows: `
    pv/filled 1Gi Bound default/data
    pvc/data Bound filled 1Gi marked done`,
  events: ['!pvc/data Warning DataSourceIgnored'],
});

scenario('as in Kubernetes a claim with a data source takes a free volume, and its owner is told', {
  given: [ofDisks, pv('spare', '1Gi'), from(clone)],
  shows: `
    pv/spare 1Gi Bound default/data marked
    pvc/data Bound spare 1Gi marked done`,
  events: [
    'pvc/data Warning DataSourceIgnored: spec.dataSource names PersistentVolumeClaim "other", and the claim gets the existing volume "spare" with the content that it has',
  ],
});

scenario('a volume that was reserved for a claim with a data source is the one that is meant', {
  given: [ofDisks, pv('chosen', '1Gi', { spec: { claimRef: { namespace: 'default', name: 'data' } } }), from(clone)],
  shows: `
    pv/chosen 1Gi Bound default/data
    pvc/data Bound chosen 1Gi marked done`,
  events: ['!pvc/data Warning DataSourceIgnored'],
});
