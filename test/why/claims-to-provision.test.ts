import { describe, expect, test } from 'vitest';
import { newIntent } from '../../src/api/volumes/intent.ts';
import { pod, pv, pvc, storageClass, uidOf } from '../storage/objects.ts';
import { answer, boundTo, csiDriver, csiNode, disk, explanation, node } from './explain-objects.ts';

const waiting = { volumeBindingMode: 'WaitForFirstConsumer' };
const ebs = { provisioner: 'ebs.csi.aws.com' };

describe('a claim that needs a provisioned volume', () => {
  test('the driver refused to make one where the scheduler wanted it', () => {
    const message = 'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"';
    const saying = (text: string) =>
      pod('web', ['data'], {
        status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', message: text, lastProbeTime: null, lastTransitionTime: null }] },
      });
    const objects = [pvc('data', '900Pi', { spec: { storageClassName: 'fast' } }), storageClass('fast', { ...ebs, ...waiting }), node('n1')];
    const fixes = [{ commands: ['kubectl -n default describe pvc data'] }];
    for (const target of ['pvc/data', 'pod/web'])
      expect(explanation(target, [...objects, saying(message)])).toMatchObject({ verdict: 'stuck', code: 'ProvisioningFailed', fixes });
    // A message about another claim says nothing of this one.
    expect(explanation('pvc/data', [...objects, saying(message.replace('data', 'more'))])).toMatchObject({ code: 'WaitForPodScheduled' });
  });

  test('its StorageClass is missing', () => {
    const objects = [pvc('data', '1Gi', { spec: { storageClassName: 'slwo' } }), storageClass('slow', ebs), storageClass('fast', ebs)];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      No volume fits the claim, and none can be provisioned: there is no StorageClass "slwo". Is "slow"
      meant?

        requests  1Gi, ReadWriteOnce, Filesystem, StorageClass "slwo"

      What would change it:
        - create the claim again with storageClassName "slow"
            kubectl -n default delete pvc data
        - create StorageClass "slwo"; then a volume is provisioned at once
        - create a volume by hand, of at least 1Gi with ReadWriteOnce in StorageClass "slwo"

      Next: an administrator creates StorageClass "slwo", or you create the claim again with another.
      "
    `);
  });

  test('the StorageClasses offered instead could provision for the claim, the default one first', () => {
    const usual = { metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } };
    const classes = [
      storageClass('absent', ebs),
      storageClass('by-hand'),
      storageClass('disk', { provisioner: 'disk.csi.example.com' }),
      storageClass('refusing', { provisioner: 'kubernetes.io/host-path', mountOptions: ['ro'] }),
      storageClass('usual', { provisioner: 'kubernetes.io/host-path', ...waiting, ...usual }),
    ];
    // A claim annotated for host-path shows that the cluster has that plugin.
    const marked = pvc('other', '1Gi', { metadata: { annotations: { 'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/host-path' } } });
    const offered = (className: string) => {
      const claim = pvc('data', '1Gi', { spec: { storageClassName: className } });
      return explanation('pvc/data', [claim, marked, csiDriver('disk.csi.example.com'), ...classes]).fixes.find(({ text }) =>
        text.startsWith('create the claim again with'),
      )?.text;
    };
    expect(offered('gold')).toBe('create the claim again with storageClassName "usual", "disk" or "absent"');
    // Mount options belong to the StorageClass: another one of the same provisioner may work.
    expect(offered('refusing')).toBe('create the claim again with another StorageClass: "usual", "disk" and "absent"');
    expect(offered('absent')).toBe('create the claim again with another StorageClass: "usual" and "disk"');
  });

  test('the provisioner is not installed', () => {
    // A volume of that driver created by hand proves nothing.
    const byHand = pv('hand', '1Gi', { spec: { ...disk('vol-1'), ...boundTo('other') }, status: { phase: 'Bound' } });
    const objects = [pvc('data', '1Gi'), byHand, storageClass('class', ebs), storageClass('local', { provisioner: 'rancher.io/local-path' })];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      No volume fits the claim, so provisioner ebs.csi.aws.com has to create one. It does not seem to be
      installed: there is no CSIDriver "ebs.csi.aws.com", it is registered on no node, and no volume was
      provisioned by it.

        requests  1Gi, ReadWriteOnce, Filesystem, StorageClass "class"

      Considered 1 volume; it does not fit:
        pv/hand  1Gi  RWO  class  Bound  is bound to claim default/other

      What would change it:
        - install ebs.csi.aws.com, or start it; it provisions the volume as soon as it runs
            kubectl get csidrivers
            kubectl get pods -A | grep -i csi
        - if it runs, for instance behind a socket of --csi-endpoint: read what it says about the claim
            kubectl -n default events --for pvc/data
        - create the claim again with another StorageClass: "local"
            kubectl -n default delete pvc data

      Next: provisioner ebs.csi.aws.com would provision a volume as soon as it runs.
      "
    `);
  });

  test('the provisioner is installed, and has not answered yet', () => {
    const objects = [pvc('data', '1Gi'), storageClass('class', ebs), csiDriver('ebs.csi.aws.com'), csiNode('n1', 'ebs.csi.aws.com')];
    expect(explanation('pvc/data', objects).summary).toContain('It is installed on 1 node. If this takes more than a minute, it is not running or it fails.');
  });

  test('the provisioner serves other claims, but not this one', () => {
    const made = pv('pvc-1', '1Gi', {
      metadata: { creationTimestamp: '2025-01-01T00:03:00Z', annotations: { 'pv.kubernetes.io/provisioned-by': 'ebs.csi.aws.com' } },
      spec: { ...disk('vol-1'), ...boundTo('other') },
      status: { phase: 'Bound' },
    });
    const explained = explanation('pvc/data', [pvc('data', '1Gi'), storageClass('class', ebs), made]);
    expect(explained.code).toBe('ProvisionerFailing');
    expect(explained.verdict).toBe('stuck');
    expect(explained.fixes[0]?.commands).toEqual(['kubectl -n default events --for pvc/data']);
  });

  test('the provisioner of this cluster fails: its message, and when it retries', () => {
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

      No volume fits the claim, and kubernetes.io/host-path could not provision one, in 4 attempts so far:
      mkdir /tmp/hostpath_pv: no space left on device

        requests  1Gi, ReadWriteOnce, Filesystem, StorageClass "class"

      What would change it:
        - fix what kubernetes.io/host-path reports; it retries by itself, without end
            kubectl get storageclass class -o yaml
        - create a volume by hand, of at least 1Gi with ReadWriteOnce in StorageClass "class"

      Next: kubernetes.io/host-path retries, by 2025-01-01T00:05:32Z (in 32 seconds).
      "
    `);
    // While the driver is asked again, the intent is Pending.
    const asked = { ...intent, status: { phase: 'Pending' as const, attempts: 4, message: 'mkdir /tmp/hostpath_pv: no space left on device' } };
    const explained = explanation('pvc/data', [claim, asked, storageClass('class', { provisioner: 'kubernetes.io/host-path' })]);
    expect(explained).toMatchObject({ verdict: 'stuck', code: 'ProvisioningFailed', next: { does: 'retries' } });
  });

  test('a plugin that the cluster does not have', () => {
    const explained = explanation('pvc/data', [pvc('data', '1Gi'), storageClass('class', { provisioner: 'kubernetes.io/glusterfs' })]);
    expect(explained.code).toBe('ProvisionerAbsent');
    expect(explained.summary).toBe(
      'No volume fits the claim, and StorageClass "class" names provisioner kubernetes.io/glusterfs, which this cluster does not have.',
    );
  });

  test('a StorageClass with a zone parameter that waits for the first consumer', () => {
    const zoned = storageClass('class', { provisioner: 'kubernetes.io/aws-ebs', parameters: { type: 'io1', zone: 'us-west-2b' }, ...waiting });
    const claim = pvc('data', '1Gi', { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'n1' } } });
    expect(answer('pvc/data', [claim, zoned, node('n1')])).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      StorageClass "class" has a zone parameter and volumeBindingMode WaitForFirstConsumer; the
      provisioner refuses both together: zone[s] cannot be specified in StorageClass if VolumeBindingMode
      is set to WaitForFirstConsumer. Please specify allowedTopologies in StorageClass for constraining
      zones.

        requests  1Gi, ReadWriteOnce, Filesystem, StorageClass "class"

      What would change it:
        - create the StorageClass again without that parameter, and with allowedTopologies
            kubectl delete storageclass class
            allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [us-west-2b]}]}]

      Next: an administrator creates the StorageClass again; the volume is provisioned as soon as a pod is
      scheduled.
      "
    `);
  });

  test.each([
    ['mount options', { mountOptions: ['ro'] }, {}, 'remove the mount options from StorageClass "class"'],
    ['a block volume', {}, { spec: { volumeMode: 'Block' } }, 'create the claim again with volumeMode Filesystem'],
    ['a data source', {}, { spec: { dataSource: { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'x' } } }, 'create the claim again without dataSource'],
    ['a node that is gone', waiting, { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'n9' } } }, 'let the scheduler choose another node'],
  ])('a driver that refuses %s: the first fix is what it refuses', (_, ofClass, ofClaim, fix) => {
    const hostPath = storageClass('class', { provisioner: 'kubernetes.io/host-path', ...ofClass });
    const marked = { 'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/host-path' };
    const other = pvc('other', '1Gi', { metadata: { annotations: marked } });
    const explained = explanation('pvc/data', [pvc('data', '1Gi', ofClaim), other, hostPath, node('n1')]);
    expect(explained.code).toBe('ProvisioningRefused');
    expect(explained.fixes?.[0]?.text).toBe(fix);
  });

  test('a StorageClass with a zone parameter, with and without a pod that waits for the claim', () => {
    const zoned = storageClass('class', { provisioner: 'kubernetes.io/gce-pd', parameters: { zones: 'a, b' }, ...waiting });
    for (const objects of [[], [pod('web', ['data'])]]) {
      const explained = explanation('pvc/data', [pvc('data', '1Gi'), zoned, ...objects]);
      expect(explained.code).toBe('ProvisioningRefused');
      expect(explained.fixes?.[0]?.yaml).toContain('values: [a, b]');
    }
  });

  test('a zone parameter of an external driver does not matter', () => {
    const zoned = storageClass('class', { ...ebs, parameters: { zone: 'a' }, ...waiting });
    expect(explanation('pvc/data', [pvc('data', '1Gi'), zoned]).code).toBe('WaitForFirstConsumer');
  });

  test('a driver that does not support what the claim requests', () => {
    const claim = pvc('data', '1Gi', {
      metadata: { annotations: { 'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/host-path' } },
      spec: { volumeMode: 'Block' },
    });
    const explained = explanation('pvc/data', [claim, storageClass('class', { provisioner: 'kubernetes.io/host-path' })]);
    expect(explained.code).toBe('ProvisioningRefused');
    expect(explained.summary).toContain('kubernetes.io/host-path does not support block volume provisioning');
  });
});
