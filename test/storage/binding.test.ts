import { annotations } from '../../src/api/volumes/annotations.ts';
import { withAnnotations } from '../../src/storage/volumes/edits.ts';
import { defaultClass, pod, pv, pvc, reservedFor, storageClass } from './objects.ts';
import { scenario } from './scenario.ts';
import { changeClaim, changeVolume, clearClaimRef, create, deleteClaim, removeVolume } from './steps.ts';

const claimWithoutClass = (name: string, size: string) => {
  const claim = pvc(name, size);
  delete claim.spec.storageClassName;
  return claim;
};
const delayed = storageClass('class', { volumeBindingMode: 'WaitForFirstConsumer' });
const uidOfData = { ...reservedFor('data'), uid: 'uid-of-pvc-data' };

scenario('a claim gets the smallest volume that fits, and only that one', {
  given: [storageClass('class'), pv('big', '10Gi'), pv('small', '5Gi'), pv('tiny', '1Gi'), pvc('data', '2Gi')],
  shows: `
    pv/big    10Gi Available
    pv/small  5Gi  Bound     default/data marked
    pv/tiny   1Gi  Available
    pvc/data  Bound small 5Gi marked done`,
});

scenario('a claim may come first', {
  given: [storageClass('class'), pvc('data', '1Gi'), pv('vol', '1Gi')],
  shows: `
    pv/vol   1Gi Bound default/data marked
    pvc/data Bound vol 1Gi marked done`,
});

scenario('a volume goes to one claim, the other waits', {
  given: [storageClass('class'), pv('vol', '1Gi'), pvc('one', '1Gi'), pvc('two', '1Gi')],
  shows: `
    pv/vol  1Gi Bound default/one marked
    pvc/one Bound vol 1Gi marked done
    pvc/two Pending`,
});

scenario('a volume is Released when its claim goes, and Available when its claimRef is cleared; the mark stays', {
  given: [storageClass('class'), pv('vol', '1Gi'), pvc('data', '1Gi')],
  when: [deleteClaim('data'), clearClaimRef('vol')],
  shows: 'pv/vol 1Gi Available marked',
});

scenario('a volume reserved by name is Available until its claim comes, and only that claim gets it', {
  given: [storageClass('class'), pv('vol', '1Gi', { spec: { claimRef: reservedFor('mine') } }), pvc('stranger', '1Gi'), pvc('mine', '1Gi')],
  shows: `
    pv/vol       1Gi Bound default/mine
    pvc/mine     Bound vol 1Gi marked done
    pvc/stranger Pending`,
});

scenario('a volume reserved for another uid is Released', {
  given: [storageClass('class'), pvc('data', '1Gi'), pv('vol', '1Gi', { spec: { claimRef: { ...reservedFor('data'), uid: 'another' } } })],
  shows: `
    pv/vol   1Gi Released default/data
    pvc/data Pending`,
});

scenario('a volume that points at a claim by uid is taken by it, whatever its class', {
  given: [storageClass('class'), pvc('data', '1Gi'), pv('vol', '1Gi', { spec: { claimRef: uidOfData, storageClassName: 'other' } })],
  shows: `
    pv/vol   1Gi Bound default/data
    pvc/data Bound vol 1Gi marked done`,
});

scenario('a volume that points at a claim by uid but is too small stays Pending, and says nothing', {
  given: [storageClass('class'), pvc('data', '2Gi'), pv('vol', '1Gi', { spec: { claimRef: uidOfData } })],
  shows: `
    pv/vol   1Gi Pending default/data
    pvc/data Pending`,
  events: ['!pv/vol', '!pvc/data Warning VolumeMismatch'],
});

scenario('a claim and a volume that name each other bind, even if the volume is too small', {
  given: [storageClass('class'), pv('vol', '1Gi', { spec: { claimRef: reservedFor('data') } }), pvc('data', '2Gi', { spec: { volumeName: 'vol' } })],
  shows: `
    pv/vol   1Gi Bound default/data
    pvc/data Bound vol 1Gi done`,
});

scenario('a volume that names a claim, but is too small for it, stays free', {
  given: [storageClass('class'), pv('vol', '1Gi', { spec: { claimRef: reservedFor('data') } }), pvc('data', '2Gi')],
  shows: `
    pv/vol   1Gi Available default/data reserved
    pvc/data Pending`,
  events: ['!pvc/data Warning VolumeMismatch'],
});

scenario('a claim that names a volume too small for it gets an event', {
  given: [storageClass('class'), pv('vol', '1Gi'), pvc('data', '2Gi', { spec: { volumeName: 'vol' } })],
  shows: `
    pv/vol   1Gi Available
    pvc/data Pending vol`,
  events: ['pvc/data Warning VolumeMismatch: Cannot bind to requested volume "vol": requested PV is too small'],
});

scenario('a claim that names an absent volume waits, without an event and without provisioning', {
  given: [storageClass('class', { provisioner: 'kubernetes.io/host-path' }), pvc('data', '1Gi', { spec: { volumeName: 'vol' } })],
  shows: 'pvc/data Pending vol',
  events: ['!pvc/data'],
});

scenario('a claim that names a volume ignores its own selector', {
  given: [storageClass('class'), pv('vol', '1Gi'), pvc('data', '1Gi', { spec: { volumeName: 'vol', selector: { matchLabels: { tier: 'fast' } } } })],
  shows: `
    pv/vol   1Gi Bound default/data marked
    pvc/data Bound vol 1Gi done`,
});

scenario('a claim that names a volume of another claim waits, also when that claim is gone', {
  given: [storageClass('class'), pv('vol', '1Gi'), pvc('first', '1Gi'), pvc('second', '1Gi', { spec: { volumeName: 'vol' } })],
  when: [deleteClaim('first')],
  shows: `
    pv/vol     1Gi Released default/first marked
    pvc/second Pending vol`,
  events: ['pvc/second Warning FailedBinding: volume "vol" already bound to a different claim.'],
});

scenario('a volume that a person pointed at a claim is only reserved again when that claim took another', {
  given: [
    storageClass('class'),
    pv('picked', '1Gi'),
    pvc('data', '1Gi', { spec: { volumeName: 'picked' } }),
    pv('vol', '1Gi', { spec: { claimRef: uidOfData } }),
  ],
  shows: `
    pv/picked 1Gi Bound     default/data marked
    pv/vol    1Gi Available default/data reserved
    pvc/data  Bound picked 1Gi done`,
});

scenario('a volume that the controller pointed at a claim is free again when that claim took another', {
  given: [
    storageClass('class'),
    pv('picked', '1Gi'),
    pvc('data', '1Gi', { spec: { volumeName: 'picked' } }),
    pv('vol', '1Gi', { metadata: { name: 'vol', annotations: { [annotations.boundByController]: 'yes' } }, spec: { claimRef: uidOfData } }),
  ],
  shows: `
    pv/picked 1Gi Bound     default/data marked
    pv/vol    1Gi Available
    pvc/data  Bound picked 1Gi done`,
});

scenario('a bound volume whose claimRef is cleared is linked again', {
  given: [storageClass('class'), pv('vol', '1Gi'), pvc('data', '1Gi')],
  when: [clearClaimRef('vol')],
  shows: `
    pv/vol   1Gi Bound default/data marked
    pvc/data Bound vol 1Gi marked done`,
});

scenario('a bound volume that loses only the uid of its claimRef makes the claim Lost', {
  given: [storageClass('class'), pv('vol', '1Gi'), pvc('data', '1Gi')],
  when: [changeVolume('vol', (volume) => ({ ...volume, spec: { ...volume.spec, claimRef: reservedFor('data') } }))],
  shows: `
    pv/vol   1Gi Available default/data marked reserved
    pvc/data Lost vol marked done`,
  events: ['pvc/data Warning ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly'],
});

scenario('a claim whose volume is gone is Lost', {
  given: [storageClass('class'), pv('vol', '1Gi'), pvc('data', '1Gi')],
  when: [removeVolume('vol')],
  shows: 'pvc/data Lost vol marked done',
  events: ['pvc/data Warning ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!'],
});

scenario('a Lost claim is Bound again when a volume of that name is created without claimRef', {
  given: [storageClass('class'), pv('vol', '1Gi'), pvc('data', '1Gi')],
  when: [removeVolume('vol'), create(pv('vol', '3Gi'))],
  shows: `
    pv/vol   3Gi Bound default/data marked
    pvc/data Bound vol 3Gi marked done`,
});

scenario('a claim that was bound and names no volume any more is Lost', {
  given: [storageClass('class'), pvc('data', '1Gi', { metadata: { name: 'data', annotations: { [annotations.bindCompleted]: 'yes' } } }), pv('vol', '1Gi')],
  shows: `
    pv/vol   1Gi Available
    pvc/data Lost done`,
  events: ['pvc/data Warning ClaimLost: Bound claim has lost reference to PersistentVolume. Data on the volume is lost!'],
});

scenario('a claim of a class that waits for a consumer gets no free volume, and says what it waits for', {
  given: [delayed, pv('vol', '1Gi'), pvc('data', '1Gi')],
  shows: `
    pv/vol   1Gi Available
    pvc/data Pending`,
  events: ['pvc/data Normal WaitForFirstConsumer: waiting for first consumer to be created before binding'],
});

scenario('a claim of such a class takes at once a volume that is reserved for it', {
  given: [delayed, pv('vol', '1Gi', { spec: { claimRef: reservedFor('data') } }), pvc('data', '1Gi')],
  shows: `
    pv/vol   1Gi Bound default/data
    pvc/data Bound vol 1Gi marked done`,
});

scenario('the pods that wait with such a claim are named', {
  given: [delayed, pvc('data', '1Gi'), pod('web', ['data']), pod('api', ['data'])],
  shows: `
    pvc/data Pending
    pod/api  Pending
    pod/web  Pending`,
  events: [
    'pvc/data Normal WaitForPodScheduled: waiting for pod web to be scheduled',
    'pvc/data Normal WaitForPodScheduled: waiting for pods api,web to be scheduled',
  ],
});

scenario('a claim without a class gets the default class when one appears, one of class "" never does', {
  given: [claimWithoutClass('data', '1Gi'), pvc('plain', '1Gi', { spec: { storageClassName: '' } })],
  when: [create(storageClass('late', { metadata: defaultClass })), create(pv('vol', '1Gi', { spec: { storageClassName: 'late' } }))],
  shows: `
    pv/vol    1Gi Bound default/data marked
    pvc/data  Bound vol 1Gi marked done class=late
    pvc/plain Pending class=`,
  events: [
    'pvc/data Normal FailedBinding: no persistent volumes available for this claim and no storage class is set',
    'pvc/plain Normal FailedBinding: no persistent volumes available for this claim and no storage class is set',
  ],
});

scenario('a claim without a class takes a volume without one, rather than the default class', {
  given: [pv('vol', '1Gi', { spec: { storageClassName: '' } }), claimWithoutClass('data', '1Gi')],
  shows: `
    pv/vol   1Gi Bound default/data marked
    pvc/data Bound vol 1Gi marked done class=`,
});

scenario('claim and volume must agree on the attributes class', {
  given: [
    storageClass('class'),
    pv('plain', '1Gi'),
    pv('golden', '9Gi', { spec: { volumeAttributesClassName: 'gold' } }),
    pvc('data', '1Gi', { spec: { volumeAttributesClassName: 'gold' } }),
    pvc('other', '5Gi'),
  ],
  shows: `
    pv/golden 9Gi Bound     default/data marked
    pv/plain  1Gi Available
    pvc/data  Bound golden 9Gi marked done
    pvc/other Pending`,
});

scenario('a volume with a claim selector goes only to claims with such labels, named or not', {
  given: [
    storageClass('class'),
    pv('vol', '1Gi', { metadata: { name: 'vol', annotations: { [annotations.claimSelector]: 'team in (storage)' } } }),
    pvc('any', '1Gi'),
    pvc('named', '1Gi', { spec: { volumeName: 'vol' } }),
    pvc('ours', '1Gi', { metadata: { name: 'ours', labels: { team: 'storage' } } }),
  ],
  shows: `
    pv/vol    1Gi Bound default/ours marked
    pvc/any   Pending
    pvc/named Pending vol
    pvc/ours  Bound vol 1Gi marked done`,
  events: ['pvc/named Warning VolumeMismatch: Cannot bind to requested volume "vol": the volume\'s claim selector does not select this claim'],
});

scenario('an invalid claim selector keeps the volume from every claim, with an event', {
  given: [
    storageClass('class'),
    pv('vol', '1Gi', { metadata: { name: 'vol', annotations: { [annotations.claimSelector]: 'team in (' } } }),
    pvc('data', '1Gi'),
  ],
  shows: `
    pv/vol   1Gi Available
    pvc/data Pending`,
  events: ['pv/vol Warning InvalidClaimSelector: Cannot be bound to any claim: its claim selector cannot be read'],
});

scenario('a volume of the wrong mode with a claimRef gets an event, and so does the claim', {
  given: [storageClass('class'), pvc('data', '1Gi'), pv('vol', '1Gi', { spec: { claimRef: uidOfData, volumeMode: 'Block' } })],
  shows: `
    pv/vol   1Gi Pending default/data
    pvc/data Pending`,
  events: [
    'pv/vol Warning VolumeMismatch: Cannot bind PersistentVolume to requested PersistentVolumeClaim "data" due to incompatible volumeMode.',
    'pvc/data Warning VolumeMismatch: Cannot bind PersistentVolume "vol" to requested PersistentVolumeClaim due to incompatible volumeMode.',
  ],
});

scenario('a claim whose annotations were edited by hand starts over, and finds its volume again', {
  given: [storageClass('class'), pv('vol', '1Gi'), pvc('data', '1Gi')],
  when: [changeClaim('data', (claim) => withAnnotations(claim, { [annotations.bindCompleted]: undefined, [annotations.boundByController]: undefined }))],
  shows: `
    pv/vol   1Gi Bound default/data marked
    pvc/data Bound vol 1Gi done`,
});

scenario('a volume without capacity that a claim names, and that names it, is not bound to it', {
  given: [
    storageClass('class'),
    pv('vol', '1Gi', { spec: { capacity: {}, claimRef: reservedFor('data') } }),
    pvc('data', '1Gi', { spec: { volumeName: 'vol' } }),
  ],
  shows: `
    pv/vol   Available default/data reserved
    pvc/data Pending vol`,
  events: ['pvc/data Warning VolumeMismatch: PersistentVolume "vol" is without a storage capacity'],
});

scenario('a volume whose claimRef was cleared goes back to its claim, though another names it', {
  given: [storageClass('class'), pv('vol', '1Gi'), pvc('zeta', '1Gi'), pvc('alpha', '1Gi', { spec: { volumeName: 'vol' } }), pvc('beta', '1Gi')],
  when: [clearClaimRef('vol')],
  shows: `
    pv/vol    1Gi Bound default/zeta marked
    pvc/alpha Pending vol
    pvc/beta  Pending
    pvc/zeta  Bound vol 1Gi marked done`,
});
