import { describe, expect, test } from 'vitest';
import { newIntent } from '../../src/api/volumes/intent.ts';
import { pod, pv, pvc, storageClass, uidOf } from '../storage/objects.ts';
import { answer, boundTo, csiDriver, csiNode, disk, explanation, node } from './explain-objects.ts';

const waiting = { volumeBindingMode: 'WaitForFirstConsumer' };
const ebs = { provisioner: 'ebs.csi.aws.com' };

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

  test('what is offered instead of a class is what would give it a volume, the default class first', () => {
    const usual = { metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } };
    const classes = [
      storageClass('absent', ebs),
      storageClass('by-hand'),
      storageClass('disk', { provisioner: 'disk.csi.example.com' }),
      storageClass('refusing', { provisioner: 'kubernetes.io/host-path', mountOptions: ['ro'] }),
      storageClass('usual', { provisioner: 'kubernetes.io/host-path', ...waiting, ...usual }),
    ];
    // That somebody was made a volume by host-path shows that the cluster has it.
    const marked = pvc('other', '1Gi', { metadata: { annotations: { 'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/host-path' } } });
    const offered = (className: string) => {
      const claim = pvc('data', '1Gi', { spec: { storageClassName: className } });
      return explanation('pvc/data', [claim, marked, csiDriver('disk.csi.example.com'), ...classes]).fixes.find(({ text }) =>
        text.startsWith('create the claim again with'),
      )?.text;
    };
    expect(offered('gold')).toBe('create the claim again with storageClassName "usual", "disk" or "absent"');
    // Mount options are the class's: another class of the same provisioner does.
    expect(offered('refusing')).toBe('create the claim again with another class: "usual", "disk" and "absent"');
    expect(offered('absent')).toBe('create the claim again with another class: "usual" and "disk"');
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

      Next: an administrator creates the class again; the volume is made as soon as a pod has a node.
      "
    `);
  });

  test.each([
    ['mount options', { mountOptions: ['ro'] }, {}, 'take the mount options out of class "class"'],
    ['a block volume', {}, { spec: { volumeMode: 'Block' } }, 'create the claim again with volumeMode Filesystem'],
    ['a data source', {}, { spec: { dataSource: { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'x' } } }, 'create the claim again without dataSource'],
    ['a node that is gone', waiting, { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'n9' } } }, 'let the scheduler choose another node'],
  ])('a driver that refuses %s: the first fix is what it refuses', (_, ofClass, ofClaim, fix) => {
    const hostPath = storageClass('class', { provisioner: 'kubernetes.io/host-path', ...ofClass });
    const marked = { 'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/host-path' };
    const other = pvc('other', '1Gi', { metadata: { annotations: marked } });
    const told = explanation('pvc/data', [pvc('data', '1Gi', ofClaim), other, hostPath, node('n1')]);
    expect(told.code).toBe('ProvisioningRefused');
    expect(told.fixes?.[0]?.text).toBe(fix);
  });

  test('a class that names a zone, whether a pod waits for the claim or none is there yet', () => {
    const zoned = storageClass('class', { provisioner: 'kubernetes.io/gce-pd', parameters: { zones: 'a, b' }, ...waiting });
    for (const objects of [[], [pod('web', ['data'])]]) {
      const told = explanation('pvc/data', [pvc('data', '1Gi'), zoned, ...objects]);
      expect(told.code).toBe('ProvisioningRefused');
      expect(told.fixes?.[0]?.yaml).toContain('values: [a, b]');
    }
  });

  test('zones in the parameters of another driver are its own affair', () => {
    const zoned = storageClass('class', { ...ebs, parameters: { zone: 'a' }, ...waiting });
    expect(explanation('pvc/data', [pvc('data', '1Gi'), zoned]).code).toBe('WaitForFirstConsumer');
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
