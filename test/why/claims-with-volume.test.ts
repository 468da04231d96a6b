import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../../src/api/generated/types.ts';
import { available, pod, pv, pvc, reservedFor } from '../storage/objects.ts';
import { answer, bound, boundTo, disk, explanation, onNode } from './explain-objects.ts';

const free = (name: string, size: string, more = {}) => pv(name, size, { status: available, ...more });

describe('a claim that names a volume', () => {
  const naming = (volumeName: string, size = '1Gi') => pvc('data', size, { spec: { volumeName } });

  test('which does not exist', () => {
    expect(answer('pvc/data', [naming('disk-1'), free('disk-2', '1Gi')])).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      The claim names pv/disk-1 in spec.volumeName, and there is no such volume. Is pv/disk-2 meant?

        requests  1Gi, ReadWriteOnce, Filesystem, StorageClass "class", volume "disk-1"

      What would change it:
        - create a volume named disk-1, of at least 1Gi with ReadWriteOnce in StorageClass "class"
        - create the claim again without spec.volumeName: any volume that fits is then bound to it, or one
          is provisioned
            kubectl -n default delete pvc data

      Next: an administrator creates pv/disk-1; it is bound at once.
      "
    `);
  });

  test('which is bound to another claim', () => {
    const objects = [
      naming('disk'),
      pv('disk', '1Gi', { spec: boundTo('other'), status: { phase: 'Bound' } }),
      pvc('other', '1Gi', { ...bound, spec: { volumeName: 'disk' } }),
    ];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      The claim names pv/disk in spec.volumeName, but that volume is bound to claim default/other.

        requests  1Gi, ReadWriteOnce, Filesystem, StorageClass "class", volume "disk"
        volume    1Gi, ReadWriteOnce, Retain

      What would change it:
        - create the claim again without spec.volumeName, or with the name of an Available volume
            kubectl -n default delete pvc data

      Next: an administrator chooses another volume for one of the two claims.
      "
    `);
  });

  test('which is reserved for another claim', () => {
    const explained = explanation('pvc/data', [naming('disk'), pv('disk', '1Gi', { spec: { claimRef: reservedFor('other') }, status: available })]);
    expect(explained.summary).toBe('The claim names pv/disk in spec.volumeName, but that volume is reserved for claim default/other.');
    expect(explained.fixes[0]?.commands).toEqual([`kubectl patch pv disk --type json -p '[{"op":"remove","path":"/spec/claimRef"}]'`]);
  });

  test('which is too small', () => {
    expect(answer('pvc/data', [naming('disk', '5Gi'), free('disk', '1Gi')])).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      The claim names pv/disk in spec.volumeName, but that volume does not satisfy it: requested PV is too
      small (the volume has 1Gi, the claim requires at least 5Gi).

        requests  5Gi, ReadWriteOnce, Filesystem, StorageClass "class", volume "disk"

      Considered 1 volume; it does not fit:
        pv/disk  1Gi, ReadWriteOnce, Retain  requested PV is too small

      What would change it:
        - create the claim again with a request of 1Gi or less: pv/disk would fit
            kubectl -n default delete pvc data
        - create the claim again without spec.volumeName, so that a volume that fits is bound to it
            kubectl -n default delete pvc data

      Next: you change the claim or the volume.
      "
    `);
  });

  test('which fits, and is about to be bound', () => {
    expect(explanation('pvc/data', [naming('disk'), free('disk', '1Gi')])).toMatchObject({
      code: 'Binding',
      summary: 'pv/disk fits the claim and is about to be bound to it.',
    });
  });
});

describe('a claim that was bound', () => {
  const had = (volumeName: string) => pvc('data', '1Gi', { metadata: bound.metadata, spec: { volumeName }, status: { phase: 'Lost' } });

  test('to a volume that was deleted', () => {
    expect(answer('pvc/data', [had('disk')])).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Lost

      The claim was bound to pv/disk, which does not exist any more. A claim that was bound once never
      gets another volume.

        requests  1Gi, ReadWriteOnce, Filesystem, StorageClass "class", volume "disk"

      What would change it:
        - if the storage still exists: create PersistentVolume disk for it again, without claimRef; the
          claim is bound to it at once
        - if the data is gone or not needed: delete the claim, and create it again for an empty volume
            kubectl -n default delete pvc data

      Next: an administrator restores pv/disk, or deletes the claim.
      "
    `);
  });

  test('to a volume whose claimRef names another claim', () => {
    const explained = explanation('pvc/data', [had('disk'), pv('disk', '1Gi', { spec: boundTo('other'), status: { phase: 'Bound' } }), pvc('other', '1Gi')]);
    expect(explained.code).toBe('ClaimMisbound');
    expect(explained.summary).toContain('the claimRef of that volume now names claim default/other');
  });

  test('to a volume whose claimRef lost its uid', () => {
    const explained = explanation('pvc/data', [had('disk'), pv('disk', '1Gi', { spec: { claimRef: reservedFor('data') }, status: available })]);
    expect(explained.fixes[0]?.commands).toEqual([`kubectl patch pv disk -p '{"spec":{"claimRef":{"uid":"uid-of-pvc-data"}}}'`]);
  });
});

describe('a claim that is bound', () => {
  const claim = (more: object = {}) =>
    pvc('data', '1Gi', {
      metadata: bound.metadata,
      spec: { volumeName: 'disk' },
      status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
      ...more,
    });
  const volume = (more: object = {}) =>
    pv('disk', '1Gi', { spec: { ...boundTo('data'), ...more }, status: { phase: 'Bound', lastPhaseTransitionTime: '2025-01-01T00:03:00Z' } });

  test('is simply fine', () => {
    expect(answer('pvc/data', [claim(), volume(), pod('web', ['data'], onNode('n1'))])).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Bound, for 2 minutes

      The claim is bound to pv/disk (1Gi, ReadWriteOnce, Retain). Nothing is wrong with it.

        used by  pod/web

      Next: nothing has to happen.
      "
    `);
  });

  test('and is being deleted while pods use it', () => {
    const terminating = pvc('data', '1Gi', {
      metadata: { ...bound.metadata, deletionTimestamp: '2025-01-01T00:04:00Z', finalizers: ['kubernetes.io/pvc-protection'] },
      spec: { volumeName: 'disk' },
      status: { phase: 'Bound' },
    });
    const owned = pod('db-1', ['data'], {
      ...onNode('n1'),
      metadata: { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'x', controller: true }] },
    });
    const objects = [terminating, volume(), pod('done', ['data'], onNode('n1', 'Succeeded')), owned, pod('never-placed', ['data'])];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Terminating, for 60 seconds

      The claim is marked for deletion, but 2 pods still use it: pod/done (Succeeded) and pod/db-1
      (Running). Finalizer kubernetes.io/pvc-protection keeps it until they are deleted; a pod that has
      ended counts as long as it exists.

      What would change it:
        - delete pod/done, once it is not needed any more
            kubectl -n default delete pod done
        - scale StatefulSet db down: it would create pod/db-1 again
            kubectl -n default scale statefulset db --replicas=1

      Next: you delete pod/done and pod/db-1; the rest follows by itself.
      "
    `);
  });

  test('and is being deleted, with a foreign finalizer', () => {
    const terminating = pvc('data', '1Gi', {
      metadata: {
        deletionTimestamp: '2025-01-01T00:04:00Z',
        finalizers: ['kubernetes.io/pvc-protection', 'snapshot.storage.kubernetes.io/pvc-as-source-protection'],
      },
    });
    expect(explanation('pvc/data', [terminating]).summary).toBe(
      'The claim is marked for deletion, and no pod uses it any more, but a finalizer keeps it: snapshot.storage.kubernetes.io/pvc-as-source-protection.',
    );
  });

  test('and is being expanded', () => {
    const more = { spec: { volumeName: 'disk', resources: { requests: { storage: '2Gi' } } } };
    expect(explanation('pvc/data', [claim(more), volume(disk('vol-1'))])).toMatchObject({
      code: 'ExternalExpanding',
      next: { who: 'the resizer of ebs.csi.aws.com' },
    });
    expect(explanation('pvc/data', [claim(more), volume()])).toMatchObject({ code: 'NobodyGrows', verdict: 'stuck' });
    const pending = {
      ...more,
      status: {
        phase: 'Bound',
        capacity: { storage: '1Gi' },
        conditions: [{ type: 'FileSystemResizePending', status: 'True', lastProbeTime: null, lastTransitionTime: null }],
      },
    };
    expect(explanation('pvc/data', [claim(pending), volume(disk('vol-1'))])).toMatchObject({
      code: 'FileSystemResizePending',
      next: { does: 'start a pod that uses the claim' },
    });
  });
});

describe('a claim that wants another VolumeAttributesClass', () => {
  const csi = { csi: { driver: 'disks.example.com', volumeHandle: 'h' } };
  const told = (status: Partial<PersistentVolumeClaim['status']>) => {
    const has = { phase: 'Bound', capacity: { storage: '1Gi' }, ...status };
    const claim = pvc('data', '1Gi', { ...bound, spec: { volumeName: 'disk', volumeAttributesClassName: 'gold' }, status: has });
    return explanation('pvc/data', [claim, pv('disk', '1Gi', { spec: { ...boundTo('data'), ...csi }, status: { phase: 'Bound' } })]);
  };
  const failed = [{ type: 'ModifyVolumeError', status: 'True', reason: 'InvalidArgument', message: 'no', lastProbeTime: null, lastTransitionTime: null }];
  const ofGold = (status: string) => ({ modifyVolumeStatus: { status, targetVolumeAttributesClassName: 'gold' } });

  test.each<[string, string, string, Partial<PersistentVolumeClaim['status']>]>([
    ['Modifying', 'waiting', 'is being given the attributes of "gold" by ControllerModifyVolume', {}],
    [
      'ModifyPending',
      'stuck',
      'VolumeAttributesClass "gold" does not exist, or cannot be given to a volume of disks.example.com',
      { modifyVolumeStatus: { status: 'Pending' } },
    ],
    ['ModifyFailing', 'stuck', 'ControllerModifyVolume, which failed last: InvalidArgument, no', { ...ofGold('InProgress'), conditions: failed }],
    ['ModifyInfeasible', 'stuck', 'disks.example.com refuses the attributes of "gold": InvalidArgument, no', { ...ofGold('Infeasible'), conditions: failed }],
  ])('%s', (code, verdict, text, status) => {
    expect(told(status)).toMatchObject({ code, verdict, summary: expect.stringContaining(text) });
  });

  test('is told nothing once its volume has it', () => {
    expect(told({ currentVolumeAttributesClassName: 'gold' })).toMatchObject({ code: 'Bound', verdict: 'fine' });
  });
});
