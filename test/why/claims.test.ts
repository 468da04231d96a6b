import { describe, expect, test } from 'vitest';
import { newIntent } from '../../src/domain/volumes/intent.ts';
import { available, defaultClass, pod, pv, pvc, reservedFor, storageClass, uidOf } from '../storage/objects.ts';
import { answer, bound, boundTo, csiDriver, csiNode, disk, explanation, inZone, node, onNode, onlyInZone } from './answers.ts';

const free = (name: string, size: string, more = {}) => pv(name, size, { status: available, ...more });
const waiting = { volumeBindingMode: 'WaitForFirstConsumer' };
const ebs = { provisioner: 'ebs.csi.aws.com' };

describe('a claim that no volume fits', () => {
  test('none is large enough', () => {
    const objects = [
      pvc('data', '5Gi'),
      free('small', '1Gi'),
      free('larger', '2Gi'),
      pv('taken', '10Gi', { spec: boundTo('other'), status: { phase: 'Bound' } }),
      pvc('other', '10Gi', { ...bound, spec: { volumeName: 'taken' } }),
      storageClass('class'),
    ];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      No volume is large enough; pv/larger comes nearest. Volumes of class "class" are made by hand only.

        asks for  5Gi, ReadWriteOnce, Filesystem, class "class"

      Looked at 3 volumes; none fits:
        pv/larger  2Gi   RWO  class  Available  is too small: 2Gi, wanted at least 5Gi
        pv/small   1Gi   RWO  class  Available  is too small: 1Gi, wanted at least 5Gi
        pv/taken   10Gi  RWO  class  Bound      belongs to claim default/other

      What would change it:
        - create a volume of at least 5Gi with ReadWriteOnce in class "class"
        - create the claim again with a request of 2Gi or less: pv/larger would fit
            kubectl -n default delete pvc data

      Next: an administrator creates a volume that fits, or changes one; it is bound at once.
      "
    `);
  });

  test('none has the access mode', () => {
    expect(
      answer('pvc/data', [pvc('data', '1Gi', { spec: { accessModes: ['ReadWriteMany'] } }), free('one', '2Gi'), storageClass('class')]),
    ).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      No volume has the access modes that it asks for; pv/one would fit otherwise. Volumes of class
      "class" are made by hand only.

        asks for  1Gi, ReadWriteMany, Filesystem, class "class"

      Looked at 1 volume; it does not fit:
        pv/one  2Gi  RWO  class  Available  offers ReadWriteOnce, not ReadWriteMany

      What would change it:
        - create a volume of at least 1Gi with ReadWriteMany in class "class"
        - let pv/one have these access modes as well, if its storage can do that
            kubectl patch pv one -p '{"spec":{"accessModes":["ReadWriteOnce","ReadWriteMany"]}}'

      Next: an administrator creates a volume that fits, or changes one; it is bound at once.
      "
    `);
  });

  test('every rule is named, all that refuse a volume at once', () => {
    const objects = [
      pvc('data', '5Gi', { metadata: { labels: { app: 'web' } }, spec: { selector: { matchLabels: { tier: 'gold' } }, volumeAttributesClassName: 'silver' } }),
      free('block', '9Gi', { metadata: { labels: { tier: 'gold' } }, spec: { volumeMode: 'Block', volumeAttributesClassName: 'silver' } }),
      free('elsewhere', '9Gi', { metadata: { labels: { tier: 'gold' } }, spec: { storageClassName: 'fast', volumeAttributesClassName: 'silver' } }),
      free('unlabelled', '9Gi', { spec: { volumeAttributesClassName: 'silver' } }),
      free('plain', '9Gi', { metadata: { labels: { tier: 'gold' } } }),
      free('picky', '9Gi', {
        metadata: { labels: { tier: 'gold' }, annotations: { 'mooring.dev/claim-selector': 'app=db' } },
        spec: { volumeAttributesClassName: 'silver' },
      }),
      free('going', '9Gi', {
        metadata: { labels: { tier: 'gold' }, deletionTimestamp: '2025-01-01T00:01:00Z' },
        spec: { volumeAttributesClassName: 'silver' },
      }),
      pv('reserved', '9Gi', {
        metadata: { labels: { tier: 'gold' } },
        status: available,
        spec: { volumeAttributesClassName: 'silver', claimRef: reservedFor('other') },
      }),
      pv('released', '9Gi', {
        metadata: { labels: { tier: 'gold' } },
        status: { phase: 'Released' },
        spec: { volumeAttributesClassName: 'silver', ...boundTo('gone') },
      }),
      free('everything', '1Gi', { spec: { accessModes: ['ReadOnlyMany'], storageClassName: '', volumeMode: 'Block' } }),
      storageClass('class'),
    ];
    const { candidates } = explanation('pvc/data', objects);
    expect(Object.fromEntries(candidates.map(({ name, refusals }) => [name, refusals.map(({ text }) => text).join('; ')]))).toMatchInlineSnapshot(`
      {
        "pv/block": "is a Block volume, not Filesystem",
        "pv/elsewhere": "is of class "fast", not "class"",
        "pv/everything": "is too small: 1Gi, wanted at least 5Gi; is a Block volume, not Filesystem; has attributes class none, not "silver"; has no labels, wanted tier=gold; has no class, not "class"; offers ReadOnlyMany, not ReadWriteOnce",
        "pv/going": "is being deleted",
        "pv/picky": "takes only a claim with app=db; this claim has app=web",
        "pv/plain": "has attributes class none, not "silver"",
        "pv/released": "is Released: it was that of claim default/gone, which is gone",
        "pv/reserved": "is reserved for claim default/other",
        "pv/unlabelled": "has no labels, wanted tier=gold",
      }
    `);
    expect(candidates.at(-1)?.name).toBe('pv/everything');
  });

  test('without a class, and without a default class', () => {
    const objects = [pvc('data', '1Gi', { spec: { storageClassName: undefined as never } }), storageClass('fast', ebs)];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      There are no volumes at all. It names no class, and there is no default class of which a volume
      could be made for it.

        asks for  1Gi, ReadWriteOnce, Filesystem, no class said

      What would change it:
        - create a volume of at least 1Gi with ReadWriteOnce without a class
        - make a class the default one ("fast"): claims without a class get it at once
            kubectl annotate storageclass fast storageclass.kubernetes.io/is-default-class=true --overwrite

      Next: an administrator creates a volume that fits, or changes one; it is bound at once.
      "
    `);
  });

  test('a class of "" never gets a volume made', () => {
    expect(
      answer('pvc/data', [pvc('data', '1Gi', { spec: { storageClassName: '' } }), storageClass('fast', { ...ebs, metadata: defaultClass })]),
    ).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      There are no volumes at all. Its class is "", which means: a volume that exists, without a class;
      none is ever made for it.

        asks for  1Gi, ReadWriteOnce, Filesystem, class ""

      What would change it:
        - create a volume of at least 1Gi with ReadWriteOnce without a class
        - create the claim again with a class ("fast"), so that a volume can be made for it
            kubectl -n default delete pvc data

      Next: an administrator creates a volume that fits, or changes one; it is bound at once.
      "
    `);
  });

  test('of hundreds of volumes the nearest are shown, the others counted', () => {
    const taken = Array.from({ length: 200 }, (_, i) => pv(`pv-${i}`, '10Gi', { spec: boundTo(`other-${i}`), status: { phase: 'Bound' } }));
    const text = answer('pvc/data', [pvc('data', '5Gi'), free('small', '1Gi'), ...taken, storageClass('class')]);
    expect(text).toContain('Looked at 201 volumes; none fits:\n  pv/small');
    expect(text).toContain('… and 193 more: 193 taken or reserved');
    expect(text.split('\n').length).toBeLessThan(30);
  });
});

describe('a claim that waits for a pod', () => {
  test('no pod uses it yet: nothing is wrong', () => {
    expect(answer('pvc/data', [pvc('data', '1Gi'), storageClass('class', { ...ebs, ...waiting })])).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      Nothing is wrong: class "class" has volumes chosen or made only when a pod needs them, so that they
      are where the pod runs. No pod that is to be scheduled uses this claim yet.

        asks for  1Gi, ReadWriteOnce, Filesystem, class "class"
        made by   ebs.csi.aws.com

      What would change it:
        - create a pod that uses the claim, in its spec.volumes
            - {name: data, persistentVolumeClaim: {claimName: data}}

      Next: you create a pod that uses it; then the scheduler chooses a node and the volume follows.
      "
    `);
  });

  test('the pod cannot be scheduled: every node is cordoned', () => {
    const objects = [pvc('data', '1Gi'), pod('web', ['data']), node('n1', { spec: { unschedulable: true } }), storageClass('class', { ...ebs, ...waiting })];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      Class "class" has volumes chosen or made only once a pod has a node, and pod/web has none yet. The
      only node cannot run it: node/n1 is cordoned.

        asks for  1Gi, ReadWriteOnce, Filesystem, class "class"
        made by   ebs.csi.aws.com

      Looked at 1 node; it does not fit:
        node/n1  -  cordoned  is cordoned

      What would change it:
        - let node/n1 take pods again
            kubectl uncordon n1

      Next: the scheduler chooses a node for pod/web; the volume follows.
      "
    `);
  });

  test('the scheduler can choose: nothing is wrong', () => {
    const text = answer('pvc/data', [pvc('data', '1Gi'), pod('web', ['data']), node('n1'), storageClass('class', { ...ebs, ...waiting })]);
    expect(text).toContain('Next: the scheduler chooses a node for pod/web; the volume follows.');
  });

  test('volumes made by hand, all in a zone without nodes', () => {
    const objects = [
      pvc('data', '1Gi'),
      pod('web', ['data']),
      free('far', '1Gi', { spec: { nodeAffinity: onlyInZone('c') } }),
      node('n1', inZone('a')),
      node('n2', inZone('b')),
      storageClass('class', waiting),
    ];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      pod/web waits for it, and the scheduler has no volume to choose. No volume is where the nodes are;
      pv/far would fit otherwise. Volumes of class "class" are made by hand only.

        asks for  1Gi, ReadWriteOnce, Filesystem, class "class"

      Looked at 1 volume; it does not fit:
        pv/far  1Gi  RWO  class  Available  can be reached only from zone c, where no node is

      What would change it:
        - create a volume of at least 1Gi with ReadWriteOnce in class "class"
        - add a node in zone c: pv/far would do for its pods

      Next: an administrator creates a volume that fits, where pod/web can run; the scheduler does the
      rest.
      "
    `);
  });

  test('a pod that was put on a node by hand never gets it a volume', () => {
    expect(
      answer('pvc/data', [pvc('data', '1Gi'), pod('web', ['data'], onNode('n1', 'Pending')), storageClass('class', { ...ebs, ...waiting })]),
    ).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      Class "class" leaves the choice of a volume to the scheduler, but pod/web was put on a node by
      spec.nodeName, past the scheduler. Nobody will choose a volume.

        asks for  1Gi, ReadWriteOnce, Filesystem, class "class"

      What would change it:
        - create the pod again without spec.nodeName; nodeSelector: {kubernetes.io/hostname: n1} gets it
          to the same node
            kubectl -n default delete pod web

      Next: you create the pod again.
      "
    `);
  });
});

describe('a claim that needs a volume made', () => {
  test('its class is missing', () => {
    const objects = [pvc('data', '1Gi', { spec: { storageClassName: 'slwo' } }), storageClass('slow', ebs), storageClass('fast', ebs)];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      No volume fits, and none can be made: there is no class "slwo". Is "slow" meant?

        asks for  1Gi, ReadWriteOnce, Filesystem, class "slwo"

      What would change it:
        - create the claim again with storageClassName "slow"
            kubectl -n default delete pvc data
        - create class "slwo"; the claim goes on at once
        - create a volume by hand, of at least 1Gi with ReadWriteOnce in class "slwo"

      Next: an administrator creates class "slwo", or you create the claim again with another.
      "
    `);
  });

  test('the provisioner is not installed', () => {
    // A volume that somebody made by hand for it proves nothing.
    const byHand = pv('hand', '1Gi', { spec: { ...disk('vol-1'), ...boundTo('other') }, status: { phase: 'Bound' } });
    const objects = [pvc('data', '1Gi'), byHand, storageClass('class', ebs), storageClass('local', { provisioner: 'rancher.io/local-path' })];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      No volume fits, so provisioner ebs.csi.aws.com has to make one. It does not seem to be installed:
      there is no CSIDriver "ebs.csi.aws.com", no node has registered it, and no volume was made by it.

        asks for  1Gi, ReadWriteOnce, Filesystem, class "class"

      Looked at 1 volume; it does not fit:
        pv/hand  1Gi  RWO  class  Bound  belongs to claim default/other

      What would change it:
        - install ebs.csi.aws.com, or start it; the volume is made the moment it runs
            kubectl get csidrivers
            kubectl get pods -A | grep -i csi
        - create the claim again with another class: "local"
            kubectl -n default delete pvc data

      Next: provisioner ebs.csi.aws.com would make a volume as soon as it runs.
      "
    `);
  });

  test('the provisioner is installed, and has not answered yet', () => {
    const objects = [pvc('data', '1Gi'), storageClass('class', ebs), csiDriver('ebs.csi.aws.com'), csiNode('n1', 'ebs.csi.aws.com')];
    expect(explanation('pvc/data', objects).summary).toContain('It is installed on 1 node. If this takes more than a minute, it is not running or it fails.');
  });

  test('the provisioner serves others, but not this claim', () => {
    const made = pv('pvc-1', '1Gi', {
      metadata: { creationTimestamp: '2025-01-01T00:03:00Z', annotations: { 'pv.kubernetes.io/provisioned-by': 'ebs.csi.aws.com' } },
      spec: { ...disk('vol-1'), ...boundTo('other') },
      status: { phase: 'Bound' },
    });
    const told = explanation('pvc/data', [pvc('data', '1Gi'), storageClass('class', ebs), made]);
    expect(told.code).toBe('ProvisionerFailing');
    expect(told.verdict).toBe('stuck');
    expect(told.fixes[0]?.commands).toEqual(['kubectl -n default events --for pvc/data']);
  });

  test('the provisioner of this cluster fails: what it said, and when it tries again', () => {
    const claim = pvc('data', '1Gi', { metadata: { annotations: { 'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/host-path' } } });
    const intent = newIntent(`pvc-${uidOf('pvc', 'data')}`, {
      operation: 'Create',
      driver: 'kubernetes.io/host-path',
      claimRef: { namespace: 'default', name: 'data', uid: uidOf('pvc', 'data') },
      request: { capacity: '1Gi', accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem', storageClassName: 'class', reclaimPolicy: 'Delete' },
    });
    const failing = {
      ...intent,
      status: {
        phase: 'Failing' as const,
        attempts: 4,
        message: 'mkdir /tmp/hostpath_pv: no space left on device',
        final: true,
        notBefore: '2025-01-01T00:05:32Z',
      },
    };
    expect(answer('pvc/data', [claim, failing, storageClass('class', { provisioner: 'kubernetes.io/host-path' })])).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      No volume fits, and kubernetes.io/host-path could not make one, in 4 attempts so far: mkdir
      /tmp/hostpath_pv: no space left on device

        asks for  1Gi, ReadWriteOnce, Filesystem, class "class"

      What would change it:
        - remove what kubernetes.io/host-path complains of; it tries again by itself, for ever
            kubectl get storageclass class -o yaml
        - create a volume by hand, of at least 1Gi with ReadWriteOnce in class "class"

      Next: kubernetes.io/host-path tries again, by 2025-01-01T00:05:32Z (in 32 seconds).
      "
    `);
  });

  test('a plugin that the cluster does not have', () => {
    const told = explanation('pvc/data', [pvc('data', '1Gi'), storageClass('class', { provisioner: 'kubernetes.io/glusterfs' })]);
    expect(told.code).toBe('ProvisionerAbsent');
    expect(told.summary).toBe('No volume fits, and class "class" names provisioner kubernetes.io/glusterfs, which this cluster does not have.');
  });

  test('a class that names a zone and waits for the consumer', () => {
    const zoned = storageClass('class', { provisioner: 'kubernetes.io/aws-ebs', parameters: { type: 'io1', zone: 'us-west-2b' }, ...waiting });
    const claim = pvc('data', '1Gi', { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'n1' } } });
    expect(answer('pvc/data', [claim, zoned, node('n1')])).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      Class "class" names a zone in its parameters and waits for the first consumer; both at once is
      refused: zone[s] cannot be specified in StorageClass if VolumeBindingMode is set to
      WaitForFirstConsumer. Please specify allowedTopologies in StorageClass for constraining zones.

        asks for  1Gi, ReadWriteOnce, Filesystem, class "class"

      What would change it:
        - create the class again without that parameter, and with allowedTopologies
            kubectl delete storageclass class
            allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [us-west-2b]}]}]

      Next: an administrator creates the class again; the volume is made at once.
      "
    `);
  });

  test('a driver that cannot do what the claim asks', () => {
    const claim = pvc('data', '1Gi', {
      metadata: { annotations: { 'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/host-path' } },
      spec: { volumeMode: 'Block' },
    });
    const told = explanation('pvc/data', [claim, storageClass('class', { provisioner: 'kubernetes.io/host-path' })]);
    expect(told.code).toBe('ProvisioningRefused');
    expect(told.summary).toContain('kubernetes.io/host-path does not support block volume provisioning');
  });
});

describe('a claim that names a volume', () => {
  const naming = (volumeName: string, size = '1Gi') => pvc('data', size, { spec: { volumeName } });

  test('which does not exist', () => {
    expect(answer('pvc/data', [naming('disk-1'), free('disk-2', '1Gi')])).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      It asks for pv/disk-1 and for no other, and there is no such volume. Is pv/disk-2 meant?

        asks for  1Gi, ReadWriteOnce, Filesystem, class "class", volume "disk-1"

      What would change it:
        - create a volume named disk-1, of at least 1Gi with ReadWriteOnce in class "class"
        - create the claim again without spec.volumeName: it then takes any volume that fits, or one is
          made
            kubectl -n default delete pvc data

      Next: an administrator creates pv/disk-1; it is bound at once.
      "
    `);
  });

  test('which belongs to another claim', () => {
    const objects = [
      naming('disk'),
      pv('disk', '1Gi', { spec: boundTo('other'), status: { phase: 'Bound' } }),
      pvc('other', '1Gi', { ...bound, spec: { volumeName: 'disk' } }),
    ];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      It asks for pv/disk and for no other, but that volume belongs to claim default/other.

        asks for    1Gi, ReadWriteOnce, Filesystem, class "class", volume "disk"
        the volume  1Gi, ReadWriteOnce, Retain

      What would change it:
        - create the claim again without spec.volumeName, or with the name of a volume that is free
            kubectl -n default delete pvc data

      Next: an administrator chooses another volume for one of the two claims.
      "
    `);
  });

  test('which is reserved for another claim', () => {
    const told = explanation('pvc/data', [naming('disk'), pv('disk', '1Gi', { spec: { claimRef: reservedFor('other') }, status: available })]);
    expect(told.summary).toBe('It asks for pv/disk and for no other, but that volume is reserved for claim default/other.');
    expect(told.fixes[0]?.commands).toEqual([`kubectl patch pv disk --type json -p '[{"op":"remove","path":"/spec/claimRef"}]'`]);
  });

  test('which is too small', () => {
    expect(answer('pvc/data', [naming('disk', '5Gi'), free('disk', '1Gi')])).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      It asks for pv/disk and for no other, but that volume does not satisfy it: requested PV is too small
      (it has 1Gi, asked for is at least 5Gi).

        asks for  5Gi, ReadWriteOnce, Filesystem, class "class", volume "disk"

      Looked at 1 volume; it does not fit:
        pv/disk  1Gi, ReadWriteOnce, Retain  requested PV is too small

      What would change it:
        - create the claim again with a request of 1Gi or less: pv/disk would fit
            kubectl -n default delete pvc data
        - create the claim again without spec.volumeName, so that it takes a volume that fits
            kubectl -n default delete pvc data

      Next: you change the claim or the volume.
      "
    `);
  });

  test('which fits, and is bound in a moment', () => {
    expect(explanation('pvc/data', [naming('disk'), free('disk', '1Gi')])).toMatchObject({
      code: 'Binding',
      summary: 'pv/disk fits and is about to be bound to it.',
    });
  });
});

describe('a claim that was bound', () => {
  const had = (volumeName: string) => pvc('data', '1Gi', { metadata: bound.metadata, spec: { volumeName }, status: { phase: 'Lost' } });

  test('to a volume that is gone', () => {
    expect(answer('pvc/data', [had('disk')])).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Lost

      It was bound to pv/disk, which exists no more. A claim that was bound once never gets another
      volume.

        asks for  1Gi, ReadWriteOnce, Filesystem, class "class", volume "disk"

      What would change it:
        - if the storage still exists: create a PersistentVolume named disk for it again, without
          claimRef; the claim is bound to it at once
        - if the data is gone or not needed: delete the claim, and create it again for an empty volume
            kubectl -n default delete pvc data

      Next: an administrator restores pv/disk, or deletes the claim.
      "
    `);
  });

  test('to a volume that points at another claim', () => {
    const told = explanation('pvc/data', [had('disk'), pv('disk', '1Gi', { spec: boundTo('other'), status: { phase: 'Bound' } }), pvc('other', '1Gi')]);
    expect(told.code).toBe('ClaimMisbound');
    expect(told.summary).toContain('that volume now points at claim default/other');
  });

  test('to a volume whose claimRef lost its uid', () => {
    const told = explanation('pvc/data', [had('disk'), pv('disk', '1Gi', { spec: { claimRef: reservedFor('data') }, status: available })]);
    expect(told.fixes[0]?.commands).toEqual([`kubectl patch pv disk -p '{"spec":{"claimRef":{"uid":"uid-of-pvc-data"}}}'`]);
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

      It is bound to pv/disk (1Gi, ReadWriteOnce, Retain). Nothing is wrong with it.

        used by  pod/web

      Next: nothing has to happen.
      "
    `);
  });

  test('and is being deleted while pods use it', () => {
    const going = pvc('data', '1Gi', {
      metadata: { ...bound.metadata, deletionTimestamp: '2025-01-01T00:04:00Z', finalizers: ['kubernetes.io/pvc-protection'] },
      spec: { volumeName: 'disk' },
      status: { phase: 'Bound' },
    });
    const owned = pod('db-1', ['data'], {
      ...onNode('n1'),
      metadata: { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'x', controller: true }] },
    });
    const objects = [going, volume(), pod('done', ['data'], onNode('n1', 'Succeeded')), owned, pod('never-placed', ['data'])];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Terminating, for 60 seconds

      It was told to go, but 2 pods still use it: pod/done (Succeeded) and pod/db-1 (Running). Finalizer
      kubernetes.io/pvc-protection keeps it until they are deleted; a pod that has ended counts as long as
      it exists.

      What would change it:
        - delete pod/done, once nobody needs it
            kubectl -n default delete pod done
        - scale StatefulSet db down: it would start pod/db-1 again
            kubectl -n default scale statefulset db --replicas=1

      Next: you end pod/done and pod/db-1; then it goes on by itself.
      "
    `);
  });

  test('and is being deleted, with a finalizer of somebody else', () => {
    const going = pvc('data', '1Gi', {
      metadata: {
        deletionTimestamp: '2025-01-01T00:04:00Z',
        finalizers: ['kubernetes.io/pvc-protection', 'snapshot.storage.kubernetes.io/pvc-as-source-protection'],
      },
    });
    expect(explanation('pvc/data', [going]).summary).toBe(
      'It was told to go, and no pod uses it any more, but a finalizer keeps it: snapshot.storage.kubernetes.io/pvc-as-source-protection.',
    );
  });

  test('and grows', () => {
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
      next: { does: 'start a pod that uses it' },
    });
  });
});
