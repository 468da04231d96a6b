import { describe, expect, test } from 'vitest';
import { newIntent } from '../../src/api/volumes/intent.ts';
import { available, pod, pv, pvc, reservedFor, storageClass, uidOf } from '../storage/objects.ts';
import { answer, attachment, bound, boundTo, csiDriver, disk, explanation, node, onNode } from './explain-objects.ts';

describe('an Available volume', () => {
  test('fits none of the claims that wait, each with its reason', () => {
    const objects = [
      pv('disk', '1Gi', { status: { ...available, lastPhaseTransitionTime: '2025-01-01T00:00:01Z' } }),
      pvc('large', '5Gi'),
      pvc('shared', '1Gi', { metadata: { namespace: 'shop' }, spec: { accessModes: ['ReadWriteMany'], storageClassName: 'fast' } }),
      pvc('happy', '1Gi', { ...bound, spec: { volumeName: 'other' } }),
    ];
    expect(answer('pv/disk', objects)).toMatchInlineSnapshot(`
      "
      pv/disk: Available, for 4 minutes

      The volume is Available. It fits none of the 2 claims that wait for a volume.

        volume  1Gi, ReadWriteOnce, Retain, in StorageClass "class"

      Considered 2 claims; none fits:
        pvc/large -n default  5Gi  RWO  class  is too small: 1Gi, requested is at least 5Gi
        pvc/shared -n shop    1Gi  RWX  fast   has StorageClass "class", the claim requires "fast"; offers
                                               ReadWriteOnce, not ReadWriteMany

      What would change it:
        - for pvc/large -n default: create the claim again with a request of 1Gi or less: pv/disk would
          fit
            kubectl -n default delete pvc large

      Next: you create a claim that it fits; then it is bound at once.
      "
    `);
  });

  test('has no claim that waits for one', () => {
    expect(explanation('pv/disk', [pv('disk', '1Gi', { status: available })])).toMatchObject({
      verdict: 'fine',
      summary: 'The volume is Available. No claim is waiting for a volume.',
    });
  });

  test('is reserved for a claim that does not exist', () => {
    expect(answer('pv/disk', [pv('disk', '1Gi', { spec: { claimRef: reservedFor('data') }, status: available })])).toMatchInlineSnapshot(`
      "
      pv/disk: Available

      The volume is reserved for claim default/data, which does not exist. No other claim is bound to it.

        volume  1Gi, ReadWriteOnce, Retain, in StorageClass "class"

      What would change it:
        - create claim data in namespace default
        - remove the reservation, so that any claim can be bound to it
            kubectl patch pv disk --type json -p '[{"op":"remove","path":"/spec/claimRef"}]'

      Next: you create claim default/data; then it is bound at once.
      "
    `);
  });

  test('has a claimRef without a namespace', () => {
    const explained = explanation('pv/disk', [pv('disk', '1Gi', { spec: { claimRef: { name: 'data' } }, status: available }), pvc('data', '1Gi')]);
    expect(explained.summary).toBe("The volume's claimRef has no namespace, so it names no claim that could ever exist. No claim is bound to it.");
    expect(explained.fixes?.map(({ commands }) => commands[0])).toContain('kubectl edit pv disk');
  });

  test('is reserved for a claim that it does not satisfy, which Kubernetes reports nowhere', () => {
    const objects = [pv('disk', '1Gi', { spec: { claimRef: reservedFor('data') }, status: available }), pvc('data', '5Gi')];
    expect(answer('pv/disk', objects)).toMatchInlineSnapshot(`
      "
      pv/disk: Available

      The volume is reserved for claim default/data, but does not satisfy it: it is too small: 1Gi,
      requested is at least 5Gi. Kubernetes reports this nowhere.

        volume  1Gi, ReadWriteOnce, Retain, in StorageClass "class"

      Considered 1 claim; it does not fit:
        pvc/data -n default  5Gi  RWO  class  is too small: 1Gi, requested is at least 5Gi

      What would change it:
        - create the claim again with a request of 1Gi or less: pv/disk would fit
            kubectl -n default delete pvc data

      Next: you change the claim or the volume.
      "
    `);
  });

  test('has the claimRef of a claim that it is too small for: both are Pending, without an event', () => {
    expect(explanation('pv/disk', [pv('disk', '1Gi', { spec: boundTo('data') }), pvc('data', '5Gi')])).toMatchObject({
      verdict: 'stuck',
      code: 'WaitForClaimButUnsuited',
    });
  });

  test('could not be deleted: the message of the driver is shown, also if no other object shows the driver', () => {
    const message = 'host_path deleter only supports /tmp/.+ but received provided /srv/x';
    const gone = {
      claimRef: { namespace: 'default', name: 'gone', uid: 'of-one-that-is-gone' },
      persistentVolumeReclaimPolicy: 'Delete',
      hostPath: { path: '/srv/x' },
    };
    const explained = explanation('pv/disk', [pv('disk', '1Gi', { spec: gone, status: { phase: 'Failed', message } })]);
    expect(explained).toMatchObject({ code: 'VolumeFailedDelete', verdict: 'stuck' });
    expect(explained.summary).toContain(`the storage behind it could not be deleted: ${message}.`);
  });

  test('has an invalid claim selector', () => {
    const explained = explanation('pv/disk', [
      pv('disk', '1Gi', { metadata: { annotations: { 'mooring.dev/claim-selector': 'app in (' } }, status: available }),
    ]);
    expect(explained).toMatchObject({ code: 'InvalidClaimSelector', verdict: 'stuck' });
  });
});

describe('a volume that is bound', () => {
  const volume = pv('disk', '1Gi', { spec: { ...boundTo('data'), ...disk('vol-1') }, status: { phase: 'Bound' } });
  const claim = pvc('data', '1Gi', { metadata: bound.metadata, spec: { volumeName: 'disk' }, status: { phase: 'Bound' } });

  test('is simply fine', () => {
    expect(answer('pv/disk', [volume, claim, pod('web', ['data'], onNode('n1')), attachment('va', 'disk', 'n1')])).toMatchInlineSnapshot(`
      "
      pv/disk: Bound

      The volume is bound to claim default/data. Nothing is wrong with it.

        volume       1Gi, ReadWriteOnce, Retain, in StorageClass "class"
        attached to  node/n1
        used by      pod/web

      Next: nothing has to happen.
      "
    `);
  });

  test('and its claim is terminating: what happens to the volume then', () => {
    const terminating = { ...claim, metadata: { ...claim.metadata, deletionTimestamp: '2025-01-01T00:00:00Z' } };
    expect(explanation('pv/disk', [volume, terminating]).summary).toContain(
      'That claim is marked for deletion: then the volume is kept (reclaim policy Retain).',
    );
  });

  test('and is being deleted: its claim keeps it', () => {
    const terminating = { ...volume, metadata: { ...volume.metadata, deletionTimestamp: '2025-01-01T00:04:30Z', finalizers: ['kubernetes.io/pv-protection'] } };
    expect(answer('pv/disk', [terminating, claim])).toMatchInlineSnapshot(`
      "
      pv/disk: Terminating, for 30 seconds

      The volume is marked for deletion, but claim default/data is bound to it. Finalizer
      kubernetes.io/pv-protection keeps it until that claim is deleted.

        volume  1Gi, ReadWriteOnce, Retain, in StorageClass "class"

      What would change it:
        - delete claim default/data, once its pods do not need it any more
            kubectl -n default delete pvc data

      Next: you delete claim default/data; then the volume is deleted.
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

      Claim default/data of the volume was deleted. Its reclaim policy is Retain: the volume keeps its
      data, and no claim is bound to it, until an administrator clears its claimRef or deletes it.

        volume  1Gi, ReadWriteOnce, Retain, in StorageClass "class"

      What would change it:
        - to offer it to new claims, with its data: clear its claimRef
            kubectl patch pv disk --type json -p '[{"op":"remove","path":"/spec/claimRef"}]'
        - if it is not needed any more: delete it; the storage behind it stays and has to be deleted
          separately
            kubectl delete pv disk

      Next: an administrator clears its claimRef or deletes it.
      "
    `);
  });

  test('Retain, and another claim of the same name waits', () => {
    const again = pvc('data', '1Gi', { metadata: { uid: 'another' } });
    const explained = explanation('pv/disk', [released('Retain'), again]);
    expect(explained.summary).toContain('the claim of that name that exists now has another uid');
    expect(explained.fixes[0]).toEqual({
      text: 'bind it, with its data, to the claim default/data that exists now',
      commands: [`kubectl patch pv disk --type json -p '[{"op":"remove","path":"/spec/claimRef/uid"}]'`],
    });
  });

  test('Delete, by a provisioner that is not installed any more', () => {
    const explained = explanation('pv/disk', [released('Delete', disk('vol-1'), { 'pv.kubernetes.io/provisioned-by': 'ebs.csi.aws.com' })]);
    expect(explained).toMatchObject({ verdict: 'stuck', code: 'ExternalDeletion' });
    expect(explained.summary).toContain('But ebs.csi.aws.com does not seem to be installed any more.');
  });

  test('Delete, by a provisioner that is installed', () => {
    const objects = [released('Delete', disk('vol-1'), { 'pv.kubernetes.io/provisioned-by': 'ebs.csi.aws.com' }), csiDriver('ebs.csi.aws.com')];
    expect(explanation('pv/disk', objects)).toMatchObject({ verdict: 'waiting', next: { who: 'provisioner ebs.csi.aws.com' } });
  });

  test('Delete, but created by hand: no provisioner deletes it', () => {
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

      Claim default/data of the volume was deleted. Its reclaim policy is Delete, but the storage behind
      it could not be deleted: rmdir /tmp/disk: device or resource busy.

        volume  1Gi, ReadWriteOnce, Delete, in StorageClass "class"

      What would change it:
        - delete the storage by other means, and then the volume
            kubectl delete pv disk
        - keep it: set its reclaim policy to Retain
            kubectl patch pv disk -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'

      Next: kubernetes.io/host-path retries, by 2025-01-01T00:05:10Z (in 10 seconds).
      "
    `);
  });

  test('Recycle: the recycler pod runs', () => {
    const scrubber = pod('recycler-for-disk', [], { status: { phase: 'Running' } });
    expect(explanation('pv/disk', [released('Recycle'), scrubber])).toMatchObject({ verdict: 'waiting', next: { who: 'the recycler pod' } });
    expect(explanation('pv/disk', [released('Recycle'), scrubber]).summary).toContain('pod/recycler-for-disk in namespace default scrubs it (Running)');
  });

  test('Recycle: a volume that no recycler supports', () => {
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
        used by      pod default/web

      Next: nothing has to happen.
      "
    `);
  });

  test('failed: the message of the driver', () => {
    const failed = attachment('va-1', 'disk', 'n1', {
      status: { attached: false, attachError: { time: '2025-01-01T00:04:00Z', message: 'volume vol-1 not found' } },
    });
    expect(answer('va/va-1', [volume, claim, pod('web', ['data'], onNode('n1', 'Pending')), node('n1'), failed])).toMatchInlineSnapshot(`
      "
      va/va-1: Failed, for 60 seconds

      pv/disk could not be attached to node/n1: volume vol-1 not found.

        driver       ebs.csi.aws.com
        attachments  node/n1 (not attached yet)
        used by      pod default/web

      What would change it:
        - fix what ebs.csi.aws.com reports; its attacher retries by itself. Its log has more
            kubectl get pods -A | grep -i csi
        - check that the node plugin of ebs.csi.aws.com runs on node/n1: it is not registered there
            kubectl get csinode n1 -o yaml

      Next: the attacher of ebs.csi.aws.com retries.
      "
    `);
  });

  test('still exists because the node has the volume mounted', () => {
    const n1 = node('n1', { status: { volumesInUse: [uniqueName] } });
    expect(explanation('va/va-1', [volume, claim, n1, attachment('va-1', 'disk', 'n1')])).toMatchObject({
      code: 'StillMounted',
      verdict: 'waiting',
      next: { who: 'node/n1', does: 'unmounts it' },
    });
  });

  test('is terminating, but its driver cannot detach the volume', () => {
    const stuck = attachment('va-1', 'disk', 'n1', {
      metadata: { deletionTimestamp: '2025-01-01T00:04:00Z', finalizers: ['external-attacher/ebs-csi-aws-com'] },
      status: { attached: true, detachError: { time: '2025-01-01T00:04:30Z', message: 'timeout' } },
    });
    expect(explanation('va/va-1', [volume, claim, node('n1'), stuck])).toMatchObject({ code: 'Detaching', verdict: 'stuck', state: 'Detaching' });
  });

  test('outlives its volume', () => {
    expect(explanation('va/va-1', [attachment('va-1', 'gone', 'n1')]).summary).toBe('pv/gone, which does not exist any more, is attached to node/n1.');
  });

  test('that does not exist: the nearest name', () => {
    expect(explanation('va/va-2', [attachment('va-1', 'disk', 'n1'), storageClass('class')])).toMatchObject({
      verdict: 'absent',
      fixes: [{ commands: ['moor why va/va-1'] }],
    });
  });
});
