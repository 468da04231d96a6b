import { describe, expect, test } from 'vitest';
import { newIntent } from '../../src/api/volumes/intent.ts';
import { available, pod, pv, pvc, reservedFor, storageClass, uidOf } from '../storage/objects.ts';
import { answer, attachment, bound, boundTo, csiDriver, disk, explanation, node, onNode } from './explain-objects.ts';

describe('a free volume', () => {
  test('fits none of the claims that wait, each of them says why', () => {
    const objects = [
      pv('disk', '1Gi', { status: { ...available, lastPhaseTransitionTime: '2025-01-01T00:00:01Z' } }),
      pvc('large', '5Gi'),
      pvc('shared', '1Gi', { metadata: { namespace: 'shop' }, spec: { accessModes: ['ReadWriteMany'], storageClassName: 'fast' } }),
      pvc('happy', '1Gi', { ...bound, spec: { volumeName: 'other' } }),
    ];
    expect(answer('pv/disk', objects)).toMatchInlineSnapshot(`
      "
      pv/disk: Available, for 4 minutes

      It is free for a claim that it fits. It fits none of the 2 claims that wait.

        it is  1Gi, ReadWriteOnce, Retain, in class "class"

      Looked at 2 claims; none fits:
        pvc/large -n default  5Gi  RWO  class  is too small: 1Gi, wanted at least 5Gi
        pvc/shared -n shop    1Gi  RWX  fast   is of class "class", not "fast"; offers ReadWriteOnce, not
                                               ReadWriteMany

      What would change it:
        - for pvc/large -n default: create the claim again with a request of 1Gi or less: pv/disk would
          fit
            kubectl -n default delete pvc large

      Next: you create a claim that it fits; it is bound at once.
      "
    `);
  });

  test('has nobody who waits for one', () => {
    expect(explanation('pv/disk', [pv('disk', '1Gi', { status: available })])).toMatchObject({
      verdict: 'fine',
      summary: 'It is free for a claim that it fits. No claim is waiting for a volume.',
    });
  });

  test('is reserved for a claim that does not exist', () => {
    expect(answer('pv/disk', [pv('disk', '1Gi', { spec: { claimRef: reservedFor('data') }, status: available })])).toMatchInlineSnapshot(`
      "
      pv/disk: Available

      It is reserved for claim default/data, which does not exist. No other claim gets it.

        it is  1Gi, ReadWriteOnce, Retain, in class "class"

      What would change it:
        - create claim data in namespace default
        - give up the reservation, so that any claim can have it
            kubectl patch pv disk --type json -p '[{"op":"remove","path":"/spec/claimRef"}]'

      Next: you create claim default/data; it is bound at once.
      "
    `);
  });

  test('points at a claim without saying in which namespace', () => {
    const told = explanation('pv/disk', [pv('disk', '1Gi', { spec: { claimRef: { name: 'data' } }, status: available }), pvc('data', '1Gi')]);
    expect(told.summary).toBe('Its claimRef has no namespace, so it points at no claim that could ever exist. No claim gets it.');
    expect(told.fixes?.map(({ commands }) => commands[0])).toContain('kubectl edit pv disk');
  });

  test('is reserved for a claim that it does not satisfy, which nobody else says', () => {
    const objects = [pv('disk', '1Gi', { spec: { claimRef: reservedFor('data') }, status: available }), pvc('data', '5Gi')];
    expect(answer('pv/disk', objects)).toMatchInlineSnapshot(`
      "
      pv/disk: Available

      It is meant for claim default/data, but does not satisfy it: it is too small: 1Gi, wanted at least
      5Gi. Kubernetes reports this nowhere.

        it is  1Gi, ReadWriteOnce, Retain, in class "class"

      Looked at 1 claim; it does not fit:
        pvc/data -n default  5Gi  RWO  class  is too small: 1Gi, wanted at least 5Gi

      What would change it:
        - create the claim again with a request of 1Gi or less: pv/disk would fit
            kubectl -n default delete pvc data

      Next: you change the claim or the volume.
      "
    `);
  });

  test('points at a claim by uid that it is too small for: both are Pending, silently', () => {
    expect(explanation('pv/disk', [pv('disk', '1Gi', { spec: boundTo('data') }), pvc('data', '5Gi')])).toMatchObject({
      verdict: 'stuck',
      code: 'WaitForClaimButUnsuited',
    });
  });

  test('could not be deleted: what is told is what whoever tried says, also if nothing else shows that they are there', () => {
    const message = 'host_path deleter only supports /tmp/.+ but received provided /srv/x';
    const gone = {
      claimRef: { namespace: 'default', name: 'gone', uid: 'of-one-that-is-gone' },
      persistentVolumeReclaimPolicy: 'Delete',
      hostPath: { path: '/srv/x' },
    };
    const told = explanation('pv/disk', [pv('disk', '1Gi', { spec: gone, status: { phase: 'Failed', message } })]);
    expect(told).toMatchObject({ code: 'VolumeFailedDelete', verdict: 'stuck' });
    expect(told.summary).toContain(`the storage behind it could not be deleted: ${message}.`);
  });

  test('has a claim selector that nobody can read', () => {
    const told = explanation('pv/disk', [pv('disk', '1Gi', { metadata: { annotations: { 'mooring.dev/claim-selector': 'app in (' } }, status: available })]);
    expect(told).toMatchObject({ code: 'InvalidClaimSelector', verdict: 'stuck' });
  });
});

describe('a volume that is bound', () => {
  const volume = pv('disk', '1Gi', { spec: { ...boundTo('data'), ...disk('vol-1') }, status: { phase: 'Bound' } });
  const claim = pvc('data', '1Gi', { metadata: bound.metadata, spec: { volumeName: 'disk' }, status: { phase: 'Bound' } });

  test('is simply fine', () => {
    expect(answer('pv/disk', [volume, claim, pod('web', ['data'], onNode('n1')), attachment('va', 'disk', 'n1')])).toMatchInlineSnapshot(`
      "
      pv/disk: Bound

      It is bound to claim default/data. Nothing is wrong with it.

        it is        1Gi, ReadWriteOnce, Retain, in class "class"
        attached to  node/n1
        used by      pod/web

      Next: nothing has to happen.
      "
    `);
  });

  test('and its claim is to go: what becomes of it then', () => {
    const going = { ...claim, metadata: { ...claim.metadata, deletionTimestamp: '2025-01-01T00:00:00Z' } };
    expect(explanation('pv/disk', [volume, going]).summary).toContain('That claim is to be deleted: then the volume is kept (policy Retain).');
  });

  test('and is being deleted: its claim keeps it', () => {
    const going = { ...volume, metadata: { ...volume.metadata, deletionTimestamp: '2025-01-01T00:04:30Z', finalizers: ['kubernetes.io/pv-protection'] } };
    expect(answer('pv/disk', [going, claim])).toMatchInlineSnapshot(`
      "
      pv/disk: Terminating, for 30 seconds

      It was told to go, but claim default/data is bound to it. Finalizer kubernetes.io/pv-protection
      keeps it until that claim is deleted.

        it is  1Gi, ReadWriteOnce, Retain, in class "class"

      What would change it:
        - delete claim default/data, once its pods need it no more
            kubectl -n default delete pvc data

      Next: you delete claim default/data; then it goes by itself.
      "
    `);
  });
});

describe('a volume whose claim is gone', () => {
  const released = (policy: string, more: object = {}, annotations: Record<string, string> = {}) =>
    pv('disk', '1Gi', {
      metadata: { annotations },
      spec: { ...boundTo('data'), persistentVolumeReclaimPolicy: policy, ...more },
      status: { phase: 'Released', lastPhaseTransitionTime: '2025-01-01T00:02:00Z' },
    });

  test('Retain: what can be done with it', () => {
    expect(answer('pv/disk', [released('Retain')])).toMatchInlineSnapshot(`
      "
      pv/disk: Released, for 3 minutes

      Its claim default/data was deleted. Its policy is Retain: it keeps its data, and no claim gets it,
      until somebody decides what becomes of the data.

        it is  1Gi, ReadWriteOnce, Retain, in class "class"

      What would change it:
        - to offer it to new claims, data included: clear its claimRef
            kubectl patch pv disk --type json -p '[{"op":"remove","path":"/spec/claimRef"}]'
        - to be rid of it: delete it; the storage behind it stays and is yours to delete
            kubectl delete pv disk

      Next: an administrator frees or deletes it.
      "
    `);
  });

  test('Retain, and another claim of the same name waits', () => {
    const again = pvc('data', '1Gi', { metadata: { uid: 'another' } });
    const told = explanation('pv/disk', [released('Retain'), again]);
    expect(told.summary).toContain('the claim of that name that exists now is another');
    expect(told.fixes[0]).toEqual({
      text: 'give it, with its data, to the claim default/data that exists now',
      commands: [`kubectl patch pv disk --type json -p '[{"op":"remove","path":"/spec/claimRef/uid"}]'`],
    });
  });

  test('Delete, by a provisioner that is gone', () => {
    const told = explanation('pv/disk', [released('Delete', disk('vol-1'), { 'pv.kubernetes.io/provisioned-by': 'ebs.csi.aws.com' })]);
    expect(told).toMatchObject({ verdict: 'stuck', code: 'ExternalDeletion' });
    expect(told.summary).toContain('But ebs.csi.aws.com does not seem to be installed any more.');
  });

  test('Delete, by a provisioner that is there', () => {
    const objects = [released('Delete', disk('vol-1'), { 'pv.kubernetes.io/provisioned-by': 'ebs.csi.aws.com' }), csiDriver('ebs.csi.aws.com')];
    expect(explanation('pv/disk', objects)).toMatchObject({ verdict: 'waiting', next: { who: 'provisioner ebs.csi.aws.com' } });
  });

  test('Delete, but made by hand: nobody deletes it', () => {
    expect(explanation('pv/disk', [released('Delete', disk('vol-1')), csiDriver('ebs.csi.aws.com')])).toMatchObject({
      verdict: 'stuck',
      code: 'NobodyDeletes',
    });
  });

  test('Delete, and the driver of this cluster fails', () => {
    const intent = {
      ...newIntent('disk', { operation: 'Delete', driver: 'kubernetes.io/host-path', volume: { name: 'disk', uid: uidOf('pv', 'disk') }, source: {} }),
      status: { phase: 'Failing' as const, attempts: 2, message: 'rmdir /tmp/disk: device or resource busy', notBefore: '2025-01-01T00:05:10Z' },
    };
    const objects = [released('Delete', {}, { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/host-path' }), intent];
    expect(answer('pv/disk', objects)).toMatchInlineSnapshot(`
      "
      pv/disk: Released, for 3 minutes

      Its claim default/data was deleted. Its policy is Delete, but the storage behind it could not be
      deleted: rmdir /tmp/disk: device or resource busy.

        it is  1Gi, ReadWriteOnce, Delete, in class "class"

      What would change it:
        - delete the storage by other means, and then the volume
            kubectl delete pv disk
        - keep it: set its policy to Retain
            kubectl patch pv disk -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'

      Next: kubernetes.io/host-path tries again, by 2025-01-01T00:05:10Z (in 10 seconds).
      "
    `);
  });

  test('Recycle: the scrubber is at work', () => {
    const scrubber = pod('recycler-for-disk', [], { status: { phase: 'Running' } });
    expect(explanation('pv/disk', [released('Recycle'), scrubber])).toMatchObject({ verdict: 'waiting', next: { who: 'the scrubber' } });
    expect(explanation('pv/disk', [released('Recycle'), scrubber]).summary).toContain('pod/recycler-for-disk in namespace default scrubs it (Running)');
  });

  test('Recycle: nobody can scrub such a volume', () => {
    expect(explanation('pv/disk', [released('Recycle', disk('vol-1'))])).toMatchObject({ verdict: 'stuck', code: 'VolumeFailedRecycle' });
  });
});

describe('an attachment', () => {
  const volume = pv('disk', '1Gi', { spec: { ...boundTo('data'), ...disk('vol-1') }, status: { phase: 'Bound' } });
  const claim = pvc('data', '1Gi', { metadata: bound.metadata, spec: { volumeName: 'disk' }, status: { phase: 'Bound' } });
  const uniqueName = 'kubernetes.io/csi/ebs.csi.aws.com^vol-1';

  test('is in order', () => {
    const n1 = node('n1', { status: { volumesAttached: [{ name: uniqueName, devicePath: '' }] } });
    expect(answer('va/va-1', [volume, claim, pod('web', ['data'], onNode('n1')), n1, attachment('va-1', 'disk', 'n1')])).toMatchInlineSnapshot(`
      "
      va/va-1: Attached, for 5 minutes

      pv/disk is attached to node/n1.

        driver       ebs.csi.aws.com
        attachments  node/n1 (attached)
        wanted by    pod default/web

      Next: nothing has to happen.
      "
    `);
  });

  test('failed: what the driver said', () => {
    const failed = attachment('va-1', 'disk', 'n1', {
      status: { attached: false, attachError: { time: '2025-01-01T00:04:00Z', message: 'volume vol-1 not found' } },
    });
    expect(answer('va/va-1', [volume, claim, pod('web', ['data'], onNode('n1', 'Pending')), node('n1'), failed])).toMatchInlineSnapshot(`
      "
      va/va-1: Failed, for 60 seconds

      pv/disk could not be attached to node/n1: volume vol-1 not found.

        driver       ebs.csi.aws.com
        attachments  node/n1 (not attached yet)
        wanted by    pod default/web

      What would change it:
        - remove what ebs.csi.aws.com complains of; its attacher tries again by itself. Its log says more
            kubectl get pods -A | grep -i csi
        - see that the node plugin of ebs.csi.aws.com runs on node/n1: it has not registered there
            kubectl get csinode n1 -o yaml

      Next: the attacher of ebs.csi.aws.com tries again.
      "
    `);
  });

  test('is still there because the node has the volume mounted', () => {
    const n1 = node('n1', { status: { volumesInUse: [uniqueName] } });
    expect(explanation('va/va-1', [volume, claim, n1, attachment('va-1', 'disk', 'n1')])).toMatchObject({
      code: 'StillMounted',
      verdict: 'waiting',
      next: { who: 'node/n1', does: 'unmounts it' },
    });
  });

  test('goes, but its driver cannot detach the volume', () => {
    const stuck = attachment('va-1', 'disk', 'n1', {
      metadata: { deletionTimestamp: '2025-01-01T00:04:00Z', finalizers: ['external-attacher/ebs-csi-aws-com'] },
      status: { attached: true, detachError: { time: '2025-01-01T00:04:30Z', message: 'timeout' } },
    });
    expect(explanation('va/va-1', [volume, claim, node('n1'), stuck])).toMatchObject({ code: 'Detaching', verdict: 'stuck', state: 'Detaching' });
  });

  test('outlives its volume', () => {
    expect(explanation('va/va-1', [attachment('va-1', 'gone', 'n1')]).summary).toBe('pv/gone, which exists no more, is attached to node/n1.');
  });

  test('of a class without such a class', () => {
    expect(explanation('va/va-2', [attachment('va-1', 'disk', 'n1'), storageClass('class')])).toMatchObject({
      verdict: 'absent',
      fixes: [{ commands: ['moor why va/va-1'] }],
    });
  });
});
