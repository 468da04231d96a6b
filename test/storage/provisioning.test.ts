import { annotations } from '../../src/api/volumes/annotations.ts';
import { hostPathDriver } from './fake-backend.ts';
import { pv, pvc, storageClass } from './objects.ts';
import { scenario } from './scenario.ts';
import { create, deleteClaim, deleteClass, driverFails, nodeIsFull, selectNode } from './steps.ts';
import type { FakeCluster } from './fake-cluster.ts';

const hostPath = (more: Parameters<typeof storageClass>[1] = {}) => storageClass('class', { provisioner: 'kubernetes.io/host-path', ...more });
const external = storageClass('class', { provisioner: 'csi.example.com' });
const delayed = hostPath({ volumeBindingMode: 'WaitForFirstConsumer' });
const bound = `
  pv/pvc-uid-of-pvc-data 1Gi Bound default/data marked held
  pvc/data Bound pvc-uid-of-pvc-data 1Gi marked done
  assets 1`;
const waiting =
  "Waiting for a volume to be created either by the external provisioner 'csi.example.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.";

scenario('a driver makes a volume, and the claim gets it', {
  given: [hostPath(), pvc('data', '1Gi')],
  shows: bound,
  events: ['pvc/data Normal ProvisioningSucceeded: Successfully provisioned volume pvc-uid-of-pvc-data using kubernetes.io/host-path'],
});

scenario('a volume that was made for a claim has the policy of its class, and the finalizer only if that is Delete', {
  given: [hostPath({ reclaimPolicy: 'Retain' }), pvc('data', '1Gi')],
  shows: `
    pv/pvc-uid-of-pvc-data 1Gi Bound default/data marked
    pvc/data Bound pvc-uid-of-pvc-data 1Gi marked done
    assets 1`,
});

scenario('a free volume is used rather than made', {
  given: [hostPath(), pv('spare', '5Gi'), pvc('data', '1Gi')],
  shows: `
    pv/spare 5Gi Bound default/data marked
    pvc/data Bound spare 5Gi marked done`,
});

scenario('a claim of a missing class gets an event, and gets a volume once the class is there', {
  given: [pvc('data', '1Gi'), hostPath()],
  shows: bound,
  events: ['pvc/data Warning ProvisioningFailed: storageclass.storage.k8s.io "class" not found'],
});

scenario('a class of an unknown in-tree provisioner is refused, and the claim is not annotated', {
  given: [
    storageClass('class'),
    storageClass('unknown', { provisioner: 'kubernetes.io/magic' }),
    storageClass('nfs', { provisioner: 'kubernetes.io/nfs' }),
    pvc('a', '1Gi'),
    pvc('b', '1Gi', { spec: { storageClassName: 'unknown' } }),
    pvc('c', '1Gi', { spec: { storageClassName: 'nfs' } }),
  ],
  shows: `
    pvc/a Pending
    pvc/b Pending class=unknown
    pvc/c Pending class=nfs`,
  events: [
    'pvc/a Warning ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner',
    'pvc/b Warning ProvisioningFailed: no volume plugin matched name: kubernetes.io/magic',
    'pvc/c Warning ProvisioningFailed: no provisionable volume plugin matched',
  ],
});

scenario('a class of an external provisioner is left to it', {
  given: [external, pvc('data', '1Gi')],
  shows: 'pvc/data Pending',
  events: [`pvc/data Normal ExternalProvisioning: ${waiting}`],
});

scenario('a claim gets the volume that an external provisioner made for it', {
  given: [
    external,
    pvc('data', '1Gi'),
    pv('made', '1Gi', {
      metadata: { name: 'made', annotations: { [annotations.provisionedBy]: 'csi.example.com' } },
      spec: { persistentVolumeReclaimPolicy: 'Delete', claimRef: { namespace: 'default', name: 'data', uid: 'uid-of-pvc-data' } },
    }),
  ],
  shows: `
    pv/made  1Gi Bound default/data
    pvc/data Bound made 1Gi marked done`,
});

scenario('a claim is marked anew when its class comes back with another provisioner', {
  given: [external, pvc('data', '1Gi')],
  when: [deleteClass('class'), create(storageClass('class', { provisioner: 'other.example.com' }))],
  shows: 'pvc/data Pending',
  events: [
    "pvc/data Normal ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'other.example.com'",
    'pvc/data Warning ProvisioningFailed: storageclass.storage.k8s.io "class" not found',
  ],
});

scenario('a claim gets its volume the moment that a driver appears', {
  given: [storageClass('class', { provisioner: 'kubernetes.io/late' }), pvc('data', '1Gi')],
  when: [(world: FakeCluster) => void world.backend.drivers.set('kubernetes.io/late', { ...hostPathDriver, name: 'kubernetes.io/late' })],
  shows: bound,
});

scenario('mount options that a driver does not know are refused', {
  given: [hostPath({ mountOptions: ['ro', 'soft'] }), pvc('data', '1Gi')],
  shows: 'pvc/data Pending',
  events: ['pvc/data Warning ProvisioningFailed: Mount options are not supported by the provisioner but StorageClass "class" has mount options [ro soft]'],
});

scenario('a block volume of a driver that makes none is refused', {
  given: [hostPath(), pvc('data', '1Gi', { spec: { volumeMode: 'Block' } })],
  shows: 'pvc/data Pending',
  events: [
    'pvc/data Warning ProvisioningFailed: Failed to provision volume with StorageClass "class": kubernetes.io/host-path does not support block volume provisioning',
  ],
});

scenario('a claim with a data source is refused by what is not CSI', {
  given: [hostPath(), pvc('data', '1Gi', { spec: { dataSource: { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'other' } } })],
  shows: 'pvc/data Pending',
  events: [
    'pvc/data Warning ProvisioningFailed: plugin "kubernetes.io/host-path" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource: spec.dataSource names PersistentVolumeClaim "other"; create the claim again without it, or with a StorageClass whose provisioner supports it',
  ],
});

scenario('a class that waits for a consumer makes nothing before the scheduler has chosen a node', {
  nodes: ['n1'],
  given: [delayed, pvc('data', '1Gi')],
  shows: 'pvc/data Pending',
  events: ['pvc/data Normal WaitForFirstConsumer'],
});

scenario('a class that waits for a consumer makes the volume for the chosen node', {
  nodes: ['n1'],
  given: [delayed, pvc('data', '1Gi')],
  when: [selectNode('data', 'n1')],
  shows: `
    pv/pvc-uid-of-pvc-data 1Gi Bound default/data marked held
    pvc/data Bound pvc-uid-of-pvc-data 1Gi marked done node=n1
    assets 1`,
});

scenario('a chosen node that does not exist is an error', {
  given: [delayed, pvc('data', '1Gi')],
  when: [selectNode('data', 'n9')],
  shows: 'pvc/data Pending node=n9',
  events: ['pvc/data Warning ProvisioningFailed: Failed to get target node: node "n9" not found'],
});

scenario('a driver that fails for the chosen node gives the choice back to the scheduler', {
  nodes: ['n1'],
  given: [delayed, pvc('data', '1Gi')],
  when: [nodeIsFull('n1'), selectNode('data', 'n1')],
  shows: 'pvc/data Pending',
  events: ['pvc/data Warning ProvisioningFailed: Failed to provision volume with StorageClass "class": out of space'],
});

scenario('old zone parameters do not go with waiting for a consumer', {
  nodes: ['n1'],
  given: [
    storageClass('class', { provisioner: 'kubernetes.io/aws-ebs', volumeBindingMode: 'WaitForFirstConsumer', parameters: { type: 'io1', Zone: 'us-west-2b' } }),
    pvc('data', '1Gi'),
  ],
  when: [selectNode('data', 'n1')],
  shows: 'pvc/data Pending',
  events: [
    'pvc/data Warning ProvisioningFailed: Failed to provision volume with StorageClass "class": zone[s] cannot be specified in StorageClass if VolumeBindingMode is set to WaitForFirstConsumer. Please specify allowedTopologies in StorageClass for constraining zones',
  ],
});

scenario('a claim that goes while its volume is made leaves nothing behind', {
  given: [hostPath()],
  when: [driverFails('unknown', 'unknown'), create(pvc('data', '1Gi')), deleteClaim('data')],
  shows: '',
});

scenario('a plugin that left the tree is served by its successor', {
  given: [storageClass('class', { provisioner: 'kubernetes.io/aws-ebs' }), pvc('data', '1Gi')],
  shows: 'pvc/data Pending',
  events: ["pvc/data Normal ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'ebs.csi.aws.com'"],
});
