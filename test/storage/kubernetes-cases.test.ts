/** Cases of Kubernetes' own tests of its volume controller that no other scenario here covers; their numbers are Kubernetes'. */
import { annotations } from '../../src/api/volumes/annotations.ts';
import { withAnnotations } from '../../src/storage/volumes/edits.ts';
import { pod, pv, pvc, reservedFor, storageClass } from './objects.ts';
import { scenario } from './scenario.ts';
import { changeClaim, create, deleteClaim, deleteVolume, endPod, setClaimStatus, setVolumePhase } from './steps.ts';

const byUid = (name: string) => ({ claimRef: { namespace: 'default', name, uid: `uid-of-pvc-${name}` } });
const done = { metadata: { annotations: { [annotations.bindCompleted]: 'yes' } } };

scenario('1-3: a claim that says Bound, and never was, is Pending again', {
  given: [pvc('data', '1Gi', { spec: { storageClassName: '' } })],
  when: [setClaimStatus('data', { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } })],
  shows: 'pvc/data Pending class=',
});

scenario('1-17: a Failed volume without a claim becomes Available before it is bound', {
  given: [storageClass('class'), pv('failed', '1Gi'), pv('spare', '2Gi')],
  when: [setVolumePhase('failed', 'Failed'), create(pvc('data', '1Gi'))],
  shows: `
    pv/failed 1Gi Bound default/data marked
    pv/spare  2Gi Available
    pvc/data  Bound failed 1Gi marked done`,
});

scenario('1-18: a volume that was made for a claim is taken by it, while the claim still waits for its provisioner', {
  given: [
    storageClass('class', { provisioner: 'csi.example.com' }),
    pvc('data', '1Gi'),
    pv('made', '1Gi', { metadata: { annotations: { [annotations.provisionedBy]: 'csi.example.com' } }, spec: byUid('data') }),
    pv('larger', '9Gi'),
  ],
  shows: `
    pv/made   1Gi Bound default/data
    pv/larger 9Gi Available
    pvc/data  Bound made 1Gi marked done`,
});

scenario('2-2: a claim that names a missing volume and says Bound is Pending again', {
  given: [pvc('data', '1Gi', { spec: { volumeName: 'nowhere' } })],
  when: [setClaimStatus('data', { phase: 'Bound', capacity: { storage: '1Gi' } })],
  shows: 'pvc/data Pending nowhere',
  events: ['!pvc/data'],
});

scenario('2-7: a claim that the controller is said to have bound to another’s volume waits, and says why', {
  given: [
    storageClass('class'),
    pv('vol', '1Gi'),
    pvc('owner', '1Gi'),
    pvc('data', '1Gi', { metadata: { annotations: { [annotations.boundByController]: 'yes' } }, spec: { volumeName: 'vol' } }),
  ],
  shows: `
    pv/vol    1Gi Bound default/owner marked
    pvc/data  Pending vol marked
    pvc/owner Bound vol 1Gi marked done`,
  events: ['pvc/data Warning FailedBinding: volume "vol" already bound to a different claim.'],
});

scenario('3-5: a bound pair whose statuses were lost gets them again', {
  given: [storageClass('class'), pv('vol', '1Gi'), pvc('data', '1Gi')],
  when: [setClaimStatus('data', { phase: 'Pending' }), setVolumePhase('vol', 'Available')],
  shows: `
    pv/vol   1Gi Bound default/data marked
    pvc/data Bound vol 1Gi marked done`,
});

scenario('3-6: a claim that was bound to a volume which another claim has is Lost', {
  given: [storageClass('class'), pv('vol', '1Gi'), pvc('owner', '1Gi'), pvc('data', '1Gi', { ...done, spec: { volumeName: 'vol' } })],
  shows: `
    pv/vol    1Gi Bound default/owner marked
    pvc/data  Lost vol done
    pvc/owner Bound vol 1Gi marked done`,
  events: ['pvc/data Warning ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly'],
});

scenario('3-7: a bound claim gets its volume back although its selector does not select it any more', {
  given: [storageClass('class'), pv('vol', '1Gi'), pvc('data', '1Gi', { ...done, spec: { volumeName: 'vol', selector: { matchLabels: { a: 'b' } } } })],
  shows: `
    pv/vol   1Gi Bound default/data marked
    pvc/data Bound vol 1Gi done`,
});

scenario('6-9: a volume that a person reserved is scrubbed and reserved again, though a new claim of that name is there', {
  given: [storageClass('class'), pv('vol', '1Gi', { spec: { persistentVolumeReclaimPolicy: 'Recycle', claimRef: reservedFor('data') } }), pvc('data', '1Gi')],
  when: [deleteClaim('data'), create(pvc('data', '5Gi', { metadata: { uid: 'another' } })), endPod('recycler-for-vol', 'Succeeded')],
  shows: `
    pv/vol   1Gi Available default/data reserved
    pvc/data Pending`,
});

scenario('6-14: pods of a new claim of the same name do not keep a volume from being scrubbed', {
  given: [storageClass('class'), pv('vol', '1Gi', { spec: { persistentVolumeReclaimPolicy: 'Recycle' } }), pvc('data', '1Gi')],
  when: [
    deleteClaim('data'),
    create(pvc('data', '5Gi', { metadata: { uid: 'another' } }), pod('web', ['data'], { spec: { nodeName: 'n1' } })),
    endPod('recycler-for-vol', 'Succeeded'),
  ],
  shows: `
    pv/vol   1Gi Available
    pvc/data Pending
    pod/web  Pending`,
});

scenario('8-9: a volume that a person reserved is deleted, though a new claim of that name is there', {
  given: [storageClass('class'), pv('vol', '1Gi', { spec: { persistentVolumeReclaimPolicy: 'Delete', claimRef: reservedFor('data') } }), pvc('data', '1Gi')],
  when: [deleteClaim('data'), create(pvc('data', '1Gi', { metadata: { uid: 'another' } }))],
  shows: 'pvc/data Pending',
});

scenario('8-12: of two volumes that an external provisioner made for one claim, one is left to it to delete', {
  given: [
    storageClass('class', { provisioner: 'csi.example.com' }),
    pvc('data', '1Gi'),
    ...['first', 'second'].map((name) =>
      pv(name, '1Gi', {
        metadata: { annotations: { [annotations.provisionedBy]: 'csi.example.com' } },
        spec: { persistentVolumeReclaimPolicy: 'Delete', ...byUid('data') },
      }),
    ),
  ],
  shows: `
    pv/first  1Gi Bound default/data
    pv/second 1Gi Released default/data
    pvc/data  Bound first 1Gi marked done`,
});

scenario('8-13: a volume that is being deleted has its asset deleted, and goes', {
  given: [storageClass('class', { provisioner: 'kubernetes.io/host-path' }), pvc('data', '1Gi')],
  when: [deleteVolume('pvc-uid-of-pvc-data'), deleteClaim('data')],
  shows: '',
});

scenario('11-24: a claim for which the scheduler chose a node gets no free volume, but one made', {
  nodes: ['n1'],
  given: [
    storageClass('class', { provisioner: 'kubernetes.io/host-path', volumeBindingMode: 'WaitForFirstConsumer' }),
    pv('free', '1Gi'),
    pvc('data', '1Gi', { metadata: { annotations: { [annotations.selectedNode]: 'n1' } } }),
  ],
  shows: `
    pv/free 1Gi Available
    pv/pvc-uid-of-pvc-data 1Gi Bound default/data marked held
    pvc/data Bound pvc-uid-of-pvc-data 1Gi marked done node=n1
    assets 1`,
});

scenario('15-3: a bound claim without a class gets none, whatever becomes of its annotations', {
  given: [
    pv('vol', '1Gi', { spec: { storageClassName: '' } }),
    (() => {
      const claim = pvc('data', '1Gi');
      delete claim.spec.storageClassName;
      return claim;
    })(),
    storageClass('late', { metadata: { annotations: { [annotations.defaultClass]: 'true' } } }),
  ],
  when: [changeClaim('data', (claim) => withAnnotations(claim, { [annotations.bindCompleted]: undefined, [annotations.boundByController]: undefined }))],
  shows: `
    pv/vol   1Gi Bound default/data marked
    pvc/data Bound vol 1Gi done class=`,
});
