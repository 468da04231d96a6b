import { annotations } from '../../src/api/volumes/annotations.ts';
import { pod, pv, pvc, storageClass } from './objects.ts';
import { scenario } from './scenario.ts';
import { create, deleteClaim, deletePod, driverFails, endPod, removeVolume, setPolicy } from './steps.ts';

const hostPath = (more: Parameters<typeof storageClass>[1] = {}) => storageClass('class', { provisioner: 'kubernetes.io/host-path', ...more });
const withPolicy = (policy: string, spec: NonNullable<Parameters<typeof pv>[2]>['spec'] = {}) =>
  pv('vol', '1Gi', { spec: { persistentVolumeReclaimPolicy: policy, ...spec } });
const bound = (policy: string, spec: NonNullable<Parameters<typeof pv>[2]>['spec'] = {}) => [
  storageClass('class'),
  withPolicy(policy, spec),
  pvc('data', '1Gi'),
];
const nfs = (() => {
  const volume = withPolicy('Delete', { nfs: { server: '10.0.0.1', path: '/export' } });
  delete volume.spec.hostPath;
  return volume;
})();
const csi = (() => {
  const volume = withPolicy('Delete', { csi: { driver: 'csi.example.com', volumeHandle: 'x' } });
  delete volume.spec.hostPath;
  return volume;
})();

scenario('Retain keeps the volume and its asset', {
  given: [hostPath({ reclaimPolicy: 'Retain' }), pvc('data', '1Gi')],
  when: [deleteClaim('data')],
  shows: `
    pv/pvc-uid-of-pvc-data 1Gi Released default/data marked
    assets 1`,
});

scenario('Delete removes volume and asset', {
  given: [hostPath(), pvc('data', '1Gi')],
  when: [deleteClaim('data')],
  shows: '',
});

scenario('Delete is tried again until it succeeds; meanwhile the volume is Failed and says why', {
  given: [hostPath(), pvc('data', '1Gi')],
  when: [driverFails('final', 'final', 'unknown'), deleteClaim('data')],
  shows: '',
  events: ['pv/pvc-uid-of-pvc-data Warning VolumeFailedDelete: device is busy'],
});

scenario('a host path outside /tmp cannot be deleted', {
  given: bound('Delete', { hostPath: { path: '/srv/data', type: '' } }),
  when: [deleteClaim('data')],
  shows: `
    pv/vol 1Gi Failed default/data marked (host_path deleter only supports /tmp/.+ but received provided /srv/data)
    intent/vol Delete Failing`,
  events: ['pv/vol Warning VolumeFailedDelete: host_path deleter only supports /tmp/.+ but received provided /srv/data'],
});

scenario('a volume that no driver can delete ends Failed', {
  given: [storageClass('class'), nfs, pvc('data', '1Gi')],
  when: [deleteClaim('data')],
  shows: 'pv/vol 1Gi Failed default/data marked (error getting deleter volume plugin for volume "vol": no deletable volume plugin matched)',
});

scenario('a CSI volume that was made by hand stays Released', {
  given: [storageClass('class'), csi, pvc('data', '1Gi')],
  when: [deleteClaim('data')],
  shows: 'pv/vol 1Gi Released default/data marked',
  events: ['!pv/vol'],
});

scenario('a volume of an unknown plugin ends Failed', {
  given: [
    storageClass('class'),
    pv('vol', '1Gi', {
      metadata: { name: 'vol', annotations: { [annotations.provisionedBy]: 'kubernetes.io/magic' } },
      spec: { persistentVolumeReclaimPolicy: 'Delete' },
    }),
    pvc('data', '1Gi'),
  ],
  when: [deleteClaim('data')],
  shows: 'pv/vol 1Gi Failed default/data marked held (no volume plugin matched name: kubernetes.io/magic)',
});

scenario('a volume of a plugin that left the tree is marked for its successor, and left to it', {
  given: [
    storageClass('class'),
    pv('vol', '1Gi', {
      metadata: { name: 'vol', annotations: { [annotations.provisionedBy]: 'kubernetes.io/aws-ebs' }, finalizers: ['kubernetes.io/pv-controller'] },
      spec: { persistentVolumeReclaimPolicy: 'Delete' },
    }),
    pvc('data', '1Gi'),
  ],
  when: [deleteClaim('data')],
  shows: 'pv/vol 1Gi Released default/data marked',
});

scenario('the finalizer goes when the policy is no longer Delete, and then nothing is deleted', {
  given: [hostPath(), pvc('data', '1Gi')],
  when: [setPolicy('pvc-uid-of-pvc-data', 'Retain'), deleteClaim('data')],
  shows: `
    pv/pvc-uid-of-pvc-data 1Gi Released default/data marked
    assets 1`,
});

scenario('a volume that failed to be deleted stays Failed when it is to be retained', {
  given: bound('Delete', { hostPath: { path: '/srv/data', type: '' } }),
  when: [deleteClaim('data'), setPolicy('vol', 'Retain')],
  shows: 'pv/vol 1Gi Failed default/data marked (host_path deleter only supports /tmp/.+ but received provided /srv/data)',
});

scenario('a volume that was removed by force is deleted no further', {
  given: bound('Delete', { hostPath: { path: '/srv/data', type: '' } }),
  when: [deleteClaim('data'), removeVolume('vol')],
  shows: '',
});

scenario('a volume that was made for a claim which has another is deleted', {
  given: [
    hostPath(),
    pv('picked', '1Gi'),
    pvc('data', '1Gi', { spec: { volumeName: 'picked' } }),
    pv('spare', '1Gi', {
      metadata: { name: 'spare', annotations: { [annotations.provisionedBy]: 'kubernetes.io/host-path' } },
      spec: { persistentVolumeReclaimPolicy: 'Delete', claimRef: { namespace: 'default', name: 'data', uid: 'uid-of-pvc-data' } },
    }),
  ],
  shows: `
    pv/picked 1Gi Bound default/data marked
    pvc/data  Bound picked 1Gi done`,
});

scenario('an unknown policy makes the volume Failed', {
  given: bound('Burn'),
  when: [deleteClaim('data')],
  shows: 'pv/vol 1Gi Failed default/data marked (Volume has unrecognized PersistentVolumeReclaimPolicy)',
  events: ['pv/vol Warning VolumeUnknownReclaimPolicy'],
});

scenario('Recycle starts a scrubber', {
  given: bound('Recycle'),
  when: [deleteClaim('data')],
  shows: `
    pv/vol 1Gi Released default/data marked
    pod/recycler-for-vol Pending
    intent/vol Scrub Running`,
});

scenario('a clean volume is free again, and goes to the next claim', {
  given: bound('Recycle'),
  when: [deleteClaim('data'), endPod('recycler-for-vol', 'Succeeded'), create(pvc('next', '1Gi'))],
  shows: `
    pv/vol   1Gi Bound default/next marked
    pvc/next Bound vol 1Gi marked done`,
  events: ['pv/vol Normal VolumeRecycled: Volume recycled'],
});

scenario('a clean volume that a person had reserved is reserved again', {
  given: [storageClass('class'), withPolicy('Recycle', { claimRef: { namespace: 'default', name: 'data' } }), pvc('data', '1Gi')],
  when: [deleteClaim('data'), endPod('recycler-for-vol', 'Succeeded')],
  shows: 'pv/vol 1Gi Available default/data reserved',
});

scenario('a volume that never finished binding is scrubbed as well', {
  given: [storageClass('class'), withPolicy('Recycle', { claimRef: { namespace: 'default', name: 'data', uid: 'gone' } })],
  when: [endPod('recycler-for-vol', 'Succeeded')],
  shows: 'pv/vol 1Gi Available default/data reserved',
});

scenario('a failed scrub makes the volume Failed, and another pod starts', {
  given: bound('Recycle'),
  when: [deleteClaim('data'), endPod('recycler-for-vol', 'Failed')],
  shows: `
    pv/vol 1Gi Failed default/data marked (Recycle failed: failed to recycle volume: pod failed, pod.Status.Message unknown)
    pod/recycler-for-vol Pending
    intent/vol Scrub Running`,
  events: ['pv/vol Warning VolumeFailedRecycle: Recycle failed: failed to recycle volume: pod failed, pod.Status.Message unknown'],
});

scenario('a scrub is tried so often and no more', {
  given: bound('Recycle'),
  when: [deleteClaim('data'), endPod('recycler-for-vol', 'Failed', 'disk on fire'), endPod('recycler-for-vol', 'Failed'), deletePod('recycler-for-vol')],
  shows: `
    pv/vol 1Gi Failed default/data marked (Recycle failed: failed to recycle volume: disk on fire)
    intent/vol Scrub Failing`,
});

scenario('a scrub that fails and then succeeds ends well', {
  given: bound('Recycle'),
  when: [deleteClaim('data'), endPod('recycler-for-vol', 'Failed'), endPod('recycler-for-vol', 'Succeeded')],
  shows: 'pv/vol 1Gi Available',
});

scenario('a pod that only has the name of a scrubber is not believed', {
  given: [...bound('Recycle'), pod('recycler-for-vol', [], { metadata: { name: 'recycler-for-vol', namespace: 'default' } })],
  when: [endPod('recycler-for-vol', 'Succeeded'), deleteClaim('data')],
  shows: `
    pv/vol 1Gi Failed default/data marked (Recycle failed: old recycler pod found, will retry later)
    pod/recycler-for-vol Pending
    intent/vol Scrub Running`,
  events: ['pv/vol Warning VolumeFailedRecycle: Recycle failed: old recycler pod found, will retry later', '!pv/vol Normal VolumeRecycled'],
});

scenario('a volume that pods still use is not scrubbed', {
  given: [...bound('Recycle'), pod('web', ['data'])],
  when: [deleteClaim('data')],
  shows: `
    pv/vol 1Gi Released default/data marked
    pod/web Pending`,
  events: ['pv/vol Normal VolumeFailedRecycle: Volume is used by pods: default/web'],
});

scenario('a volume is scrubbed once its last pod has ended', {
  given: [...bound('Recycle'), pod('web', ['data'])],
  when: [deleteClaim('data'), endPod('web', 'Succeeded'), endPod('recycler-for-vol', 'Succeeded')],
  shows: `
    pv/vol 1Gi Available
    pod/web Succeeded`,
});

scenario('a volume that no pod can scrub ends Failed', {
  given: [
    storageClass('class'),
    (() => {
      const volume = withPolicy('Recycle', { csi: { driver: 'csi.example.com', volumeHandle: 'x' } });
      delete volume.spec.hostPath;
      return volume;
    })(),
    pvc('data', '1Gi'),
  ],
  when: [deleteClaim('data')],
  shows: 'pv/vol 1Gi Failed default/data marked (No recycler plugin found for the volume!)',
});

scenario('a scrub is stopped when the volume is to be retained', {
  given: bound('Recycle'),
  when: [deleteClaim('data'), setPolicy('vol', 'Retain')],
  shows: 'pv/vol 1Gi Released default/data marked',
});

scenario('a pod that a user puts in the place of a recycler pod is replaced, and only the real one frees the volume', {
  given: bound('Recycle'),
  when: [
    deleteClaim('data'),
    deletePod('recycler-for-vol'),
    create(pod('recycler-for-vol', [], { metadata: { name: 'recycler-for-vol', namespace: 'default' } })),
    endPod('recycler-for-vol', 'Succeeded'),
  ],
  shows: 'pv/vol 1Gi Available',
  events: ['pv/vol Warning VolumeFailedRecycle: Recycle failed: failed to recycle volume: recycler pod was deleted'],
});

scenario('a volume whose directory is not empty is not free, whatever its recycler pod says', {
  given: bound('Recycle'),
  when: [(world) => void world.dirty.add('/tmp/vol'), deleteClaim('data'), endPod('recycler-for-vol', 'Succeeded')],
  shows: `
    pv/vol 1Gi Failed default/data marked (Recycle failed: failed to recycle volume: /tmp/vol is not empty)
    pod/recycler-for-vol Pending
    intent/vol Scrub Running`,
  events: ['!pv/vol Normal VolumeRecycled'],
});
