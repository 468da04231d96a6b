/** A few minutes in a cluster with work for every controller. */
import { configMapKind } from '../../../src/api/kinds/core/config-map.ts';
import { csiDriverKind } from '../../../src/api/kinds/storage/csi-driver.ts';
import { csiNodeKind } from '../../../src/api/kinds/storage/csi-node.ts';
import { namespaceKind } from '../../../src/api/kinds/core/namespace.ts';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../../src/api/kinds/core/persistent-volume.ts';
import { loadExpressions } from '../../../src/api/admission/expressions.ts';
import { validatingAdmissionPolicyKind } from '../../../src/api/kinds/admissionregistration/validating-policies.ts';
import { clusterRoleKind } from '../../../src/api/kinds/rbac/roles.ts';
import { resourceQuotaKind } from '../../../src/api/kinds/core/resource-quota.ts';
import { serviceKind } from '../../../src/api/kinds/core/service.ts';
import { storageClassKind } from '../../../src/api/kinds/storage/storage-class.ts';
import { volumeAttachmentKind } from '../../../src/api/kinds/storage/volume-attachment.ts';
import { volumeAttributesClassKind } from '../../../src/api/kinds/storage/volume-attributes-class.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import type { Draft } from '../../../src/client/client.ts';
import type { Pod } from '../../../src/api/generated/types.ts';
import { ok, type SimulatedCluster } from '../../../src/sim/cluster/simulated-cluster.ts';

export * from './batch-scenarios.ts';
export { certificates } from './certificate-scenarios.ts';
export * from './hollow-scenarios.ts';
export * from './node-scenarios.ts';
export * from './scheduler-scenarios.ts';
export * from './service-scenarios.ts';
export { storageCapacities } from './capacity-scenarios.ts';
export { groupSnapshots, populatedClaims, snapshots } from './snapshot-scenarios.ts';
export * from './stateful-set-scenarios.ts';
export * from './workload-scenarios.ts';

type Scenario = (cluster: SimulatedCluster) => Promise<void>;

const inDefault = (name: string) => ({ namespace: 'default', name });
const claimed = (claimName: string) => [{ name: 'data', persistentVolumeClaim: { claimName } }];

/** A ClusterRole is aggregated from another one. */
export const aggregation: Scenario = async (cluster) => {
  await cluster.create(clusterRoleKind, {
    metadata: { name: 'whole' },
    rules: [],
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] },
  });
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];
  await cluster.create(clusterRoleKind, { metadata: { name: 'part', labels: { part: 'yes' } }, rules });
  await cluster.wait();
};

/** A ValidatingAdmissionPolicy is observed. */
export const policies: Scenario = async (cluster) => {
  await loadExpressions();
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }];
  await cluster.create(validatingAdmissionPolicyKind, {
    metadata: { name: 'policy' },
    spec: { matchConstraints: { resourceRules }, validations: [{ expression: 'true' }] },
  });
  await cluster.wait();
};

/** A volume of a provisioner, reserved for a claim that does not exist, is deleted. */
export const reserved: Scenario = async (cluster) => {
  await cluster.create(persistentVolumeKind, {
    metadata: { name: 'reserved', finalizers: ['external-provisioner.volume.kubernetes.io/finalizer'] },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/reserved' }, claimRef: inDefault('later') },
  });
  await cluster.wait();
  await cluster.delete(persistentVolumeKind, { name: 'reserved' });
};

/** A claim is bound to a volume, and the volume is released. */
export const binding: Scenario = async (cluster) => {
  await cluster.volume('kept', { persistentVolumeReclaimPolicy: 'Retain' });
  await cluster.claim('owner-here');
  await cluster.pod('user', 'nowhere', claimed('owner-here'));
  await cluster.delete(persistentVolumeClaimKind, inDefault('owner-here'));
  await cluster.delete(podKind, inDefault('user'));
  await cluster.delete(persistentVolumeKind, { name: 'kept' });
};

/** A driver creates and deletes a volume; the first attempts fail. */
export const provisioning: Scenario = async (cluster) => {
  await cluster.create(storageClassKind, { metadata: { name: 'disk' }, provisioner: 'kubernetes.io/host-path', reclaimPolicy: 'Delete' });
  cluster.directories.full = true;
  await cluster.claim('made', 'disk');
  await cluster.wait(10_000);
  cluster.directories.full = false;
  await cluster.wait(20_000);
  await cluster.delete(persistentVolumeClaimKind, inDefault('made'));
};

/** A volume is deleted before the controllers see that its claim is gone; its provisioner keeps it. */
export const keptVolume: Scenario = async (cluster) => {
  const finalizers = ['external-provisioner.volume.kubernetes.io/finalizer'];
  const claimRef = { ...inDefault('gone'), uid: 'u' };
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], csi: { driver: 'd', volumeHandle: 'h' }, claimRef };
  ok(await cluster.client.create(persistentVolumeKind, { metadata: { name: 'kept', finalizers }, spec }));
  await cluster.delete(persistentVolumeKind, { name: 'kept' });
};

/** A volume is recycled by a pod. */
export const recycling: Scenario = async (cluster) => {
  await cluster.volume('used', { persistentVolumeReclaimPolicy: 'Recycle' });
  await cluster.claim('user');
  await cluster.delete(persistentVolumeClaimKind, inDefault('user'));
  await cluster.changeStatus(podKind, inDefault('recycler-for-used'), (pod) => ({ ...pod, status: { ...pod.status, phase: 'Succeeded' } }));
  await cluster.wait();
  await cluster.delete(persistentVolumeKind, { name: 'used' });
};

export const attributesClass: Scenario = async (cluster) => {
  await cluster.create(volumeAttributesClassKind, { metadata: { name: 'fast' }, driverName: 'driver', parameters: { speed: '1' } });
  await cluster.wait();
  await cluster.delete(volumeAttributesClassKind, { name: 'fast' });
};

/** Objects that a quota counts are created and deleted. */
export const quota: Scenario = async (cluster) => {
  await cluster.create(resourceQuotaKind, { metadata: inDefault('all'), spec: { hard: { persistentvolumeclaims: '10', pods: '10' } } });
  await cluster.wait();
  await cluster.claim('counted');
  await cluster.pod('counted', undefined, []);
  await cluster.delete(podKind, inDefault('counted'));
  await cluster.delete(persistentVolumeClaimKind, inDefault('counted'));
  await cluster.wait(60_000);
  await cluster.delete(resourceQuotaKind, inDefault('all'));
};

const scratch: Draft<Pod['spec']['volumes']> = [
  {
    name: 'scratch',
    ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '' } } },
  },
];

/** A pod gets its ephemeral claim; another finds the name taken, and gets an event again and again. */
export const ephemeral: Scenario = async (cluster) => {
  await cluster.pod('own', undefined, scratch);
  await cluster.claim('other-scratch');
  await cluster.pod('other', undefined, scratch);
  await cluster.wait(40 * 60_000);
  await cluster.delete(podKind, inDefault('own'));
  await cluster.delete(podKind, inDefault('other'));
  await cluster.delete(persistentVolumeClaimKind, inDefault('other-scratch'));
};

const managed = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };

/** A volume is attached to a node and detached; a second node needs it too, and its pod gets an event. */
export const attaching: Scenario = async (cluster) => {
  await cluster.create(csiDriverKind, { metadata: { name: 'driver' }, spec: { attachRequired: true, podInfoOnMount: false } });
  for (const name of ['n1', 'n2']) {
    await cluster.create(nodeKind, { metadata: { name, annotations: managed }, status: { conditions: [{ type: 'Ready', status: 'True' }] } });
  }
  await cluster.volume('remote', { hostPath: undefined, csi: { driver: 'driver', volumeHandle: 'handle' } });
  await cluster.claim('remote');
  await cluster.pod('first', 'n1', claimed('remote'));
  const [attachment] = ok(await cluster.client.list(volumeAttachmentKind)).items;
  const name = attachment?.metadata.name ?? '';
  for (const message of ['busy', 'broken', 'busy']) {
    await cluster.changeStatus(volumeAttachmentKind, { name }, (va) => ({ ...va, status: { attached: false, attachError: { message, time: null } } }));
    await cluster.wait();
  }
  await cluster.changeStatus(volumeAttachmentKind, { name }, (va) => ({ ...va, status: { attached: true } }));
  await cluster.wait();
  await cluster.pod('second', 'n2', claimed('remote'));
  await cluster.delete(podKind, inDefault('second'));
  await cluster.delete(podKind, inDefault('first'));
  await cluster.wait();
  // Deleted before the volume was attached.
  await cluster.pod('third', 'n2', claimed('remote'));
  await cluster.delete(podKind, inDefault('third'));
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-02T00:00:00Z', lastTransitionTime: null }];
  await cluster.changeStatus(nodeKind, { name: 'n2' }, (node) => ({ ...node, status: { ...node.status, conditions } }));
  await cluster.wait(5 * 60_000);
};

/** A claim of a driver with its own expansion is expanded twice. */
export const growing: Scenario = async (cluster) => {
  await cluster.create(storageClassKind, { metadata: { name: 'elastic' }, provisioner: 'driver', allowVolumeExpansion: true });
  await cluster.volume('elastic', { hostPath: undefined, csi: { driver: 'driver', volumeHandle: 'elastic' }, storageClassName: 'elastic' });
  await cluster.claim('elastic', 'elastic');
  for (const storage of ['2Gi', '3Gi']) {
    await cluster.change(persistentVolumeClaimKind, inDefault('elastic'), (claim) => ({
      ...claim,
      spec: { ...claim.spec, resources: { requests: { storage } } },
    }));
    await cluster.wait();
  }
  await cluster.volume('ebs', { hostPath: undefined, awsElasticBlockStore: { volumeID: 'vol-1' }, storageClassName: 'elastic' });
  await cluster.claim('ebs', 'elastic');
  await cluster.change(persistentVolumeClaimKind, inDefault('ebs'), (claim) => ({
    ...claim,
    spec: { ...claim.spec, resources: { requests: { storage: '2Gi' } } },
  }));
  await cluster.wait();
};

/** A driver of this process attaches a disk, and another program attaches a second one. */
export const attachingHere: Scenario = async (cluster) => {
  const driver = cluster.disks.capabilities.name;
  await cluster.create(nodeKind, { metadata: { name: 'n1', annotations: managed }, status: { conditions: [{ type: 'Ready', status: 'True' }] } });
  await cluster.create(csiNodeKind, { metadata: { name: 'n1' }, spec: { drivers: [{ name: driver, nodeID: 'id-1', topologyKeys: [] }] } });
  await cluster.volume('disk', { hostPath: undefined, csi: { driver, volumeHandle: 'disk' } });
  await cluster.claim('disk');
  await cluster.pod('user', 'n1', claimed('disk'));
  await cluster.wait();
  if (!cluster.disks.attached.has('id-1 disk')) throw new Error('it is not attached');
  await cluster.delete(podKind, inDefault('user'));
  await cluster.wait();
  cluster.disks.attached.add('id-1 disk');
  await cluster.wait(61_000);
  if (cluster.disks.attached.size > 0) throw new Error('it is still attached');
  await cluster.delete(persistentVolumeClaimKind, inDefault('disk'));
  await cluster.delete(persistentVolumeKind, { name: 'disk' });
  await cluster.wait();
};

/** A driver of this process expands the volume that it created. */
export const growingHere: Scenario = async (cluster) => {
  const metadata = { name: 'roomy', annotations: { 'mooring.dev/expand': 'true' } };
  await cluster.create(storageClassKind, { metadata, provisioner: 'kubernetes.io/host-path', reclaimPolicy: 'Delete', allowVolumeExpansion: true });
  await cluster.claim('roomy', 'roomy');
  await cluster.wait();
  await cluster.change(persistentVolumeClaimKind, inDefault('roomy'), (claim) => ({
    ...claim,
    spec: { ...claim.spec, resources: { requests: { storage: '5Gi' } } },
  }));
  await cluster.wait(5000);
  const claim = ok(await cluster.client.get(persistentVolumeClaimKind, inDefault('roomy')));
  if (claim.status.capacity?.['storage'] !== '5Gi') throw new Error('it has not grown');
};

/** Owners are deleted: one with its dependents, one without; one never existed. */
export const garbage: Scenario = async (cluster) => {
  for (const propagation of ['Foreground', 'Orphan'] as const) {
    const owner = await cluster.create(configMapKind, { metadata: inDefault(`owner-${propagation.toLowerCase()}`) });
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner.metadata.name ?? '', uid: owner.metadata.uid ?? '', blockOwnerDeletion: true };
    await cluster.create(configMapKind, { metadata: { ...inDefault(`owned-${propagation.toLowerCase()}`), ownerReferences: [reference] } });
    await cluster.wait();
    await cluster.delete(configMapKind, inDefault(owner.metadata.name ?? ''), propagation);
  }
  const elsewhere = await cluster.create(configMapKind, { metadata: { namespace: 'kube-public', name: 'elsewhere' } });
  const misplaced = { apiVersion: 'v1', kind: 'ConfigMap', name: 'elsewhere', uid: elsewhere.metadata.uid ?? '' };
  const { metadata } = await cluster.create(configMapKind, { metadata: inDefault('owner-here') });
  const ownerHere = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner-here', uid: metadata.uid ?? '' };
  await cluster.create(configMapKind, { metadata: { ...inDefault('misplaced'), ownerReferences: [ownerHere, misplaced] } });
  await cluster.wait();
  for (const ownerReferences of [[ownerHere], [ownerHere, misplaced]]) {
    await cluster.change(configMapKind, inDefault('misplaced'), (map) => ({ ...map, metadata: { ...map.metadata, ownerReferences } }));
    await cluster.wait();
  }
};

/** A namespace is created, its CA certificate is changed, and it is deleted with its content. */
export const namespaces: Scenario = async (cluster) => {
  await cluster.create(namespaceKind, { metadata: { name: 'team' } });
  await cluster.wait();
  const certificate = { namespace: 'team', name: 'kube-root-ca.crt' };
  await cluster.change(configMapKind, certificate, (map) => ({ ...map, data: { 'ca.crt': 'spoiled' } }));
  await cluster.create(serviceKind, { metadata: { namespace: 'team', name: 'web' }, spec: { ports: [{ port: 80 }] } });
  await cluster.wait();
  await cluster.delete(namespaceKind, { name: 'team' });
  await cluster.wait();
};
