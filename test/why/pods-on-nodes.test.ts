import { describe, expect, test } from 'vitest';
import { pod, pv, pvc } from '../storage/objects.ts';
import { answer, attachment, bound, boundTo, csiNode, disk, explanation, node, notReady, onNode } from './explain-objects.ts';

const volume = (more: object = {}) => pv('disk', '1Gi', { spec: { ...boundTo('data'), ...disk('vol-1'), ...more }, status: { phase: 'Bound' } });
const claim = pvc('data', '1Gi', { metadata: bound.metadata, spec: { volumeName: 'disk' }, status: { phase: 'Bound' } });
const uniqueName = 'kubernetes.io/csi/ebs.csi.aws.com^vol-1';

describe('a pod on a node', () => {
  const web = pod('web', ['data'], onNode('n2', 'Pending'));

  test('whose volume is attached to another node (Multi-Attach)', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'old-6f9d4c7b5d', uid: 'x', controller: true };
    const objects = [
      web,
      pod('old-abc', ['data'], { ...onNode('n1'), metadata: { ownerReferences: [owner] } }),
      claim,
      volume(),
      node('n1'),
      node('n2'),
      attachment('va', 'disk', 'n1'),
    ];
    expect(answer('pod/web', objects)).toMatchInlineSnapshot(`
      "
      pod/web in namespace default: Pending

      pv/disk has to be attached to node/n2, but is attached to node/n1, and its access modes allow one
      node at a time. On that node, pod/old-abc uses it.

        claims       pvc/data (Bound, pv/disk)
        node         n2
        event        Waiting for detach for volume "disk" Volume is already used by pod(s) old-abc (before
                     v1.36.4: Multi-Attach error for volume "disk")
        driver       ebs.csi.aws.com
        attachments  node/n1 (attached)
        used by      pod default/web
        node/n1      ready

      What would change it:
        - scale Deployment old down: it would create such a pod again
            kubectl -n default scale deployment old --replicas=0
        - run both pods on one node, or use a volume with ReadWriteMany; a Deployment with such a volume
          needs strategy Recreate

      Next: you delete pod/old-abc; the rest follows by itself.
      "
    `);
  });

  test.each([
    ['ebs.csi.aws.com', "start the driver's pods on node/n2"],
    ['image.mooring.dev', 'start the cluster without --runtime hollow: the driver comes with nodes on which pods really run'],
  ])('that does not have the driver of its volume, %s', (driver, fix) => {
    const ofDriver = volume({ csi: { driver, volumeHandle: 'vol-1' } });
    const detached = { metadata: { name: driver }, apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', spec: { attachRequired: false } };
    const missing = explanation('pod/web', [web, claim, ofDriver, node('n2'), detached, csiNode('n2', 'another.csi')]);
    expect(missing).toMatchObject({
      verdict: 'stuck',
      code: 'DriverNotOnNode',
      summary: `node/n2 cannot mount pv/disk: its driver ${driver} is not registered there.`,
      fixes: [{ text: fix, commands: ['kubectl get csinode n2 -o yaml'] }],
    });
    expect(explanation('pod/web', [web, claim, ofDriver, node('n2'), detached, csiNode('n2', driver)])).toMatchObject({ verdict: 'waiting', code: 'Starting' });
  });

  test('whose volume is attached to a node that is not ready', () => {
    const old = pod('old', ['data'], {
      ...onNode('n1'),
      metadata: { deletionTimestamp: '2025-01-01T00:04:00Z' },
      status: {
        phase: 'Running',
        containerStatuses: [{ name: 'app', ready: true, restartCount: 0, image: '', imageID: '', state: { running: { startedAt: null } }, lastState: {} }],
      },
    });
    expect(answer('pod/web', [web, old, claim, volume(), node('n1', { status: notReady }), node('n2'), attachment('va', 'disk', 'n1')])).toMatchInlineSnapshot(`
      "
      pod/web in namespace default: Pending

      pv/disk has to be attached to node/n2, but is attached to node/n1, and its access modes allow one
      node at a time. node/n1 is not ready and may still write: the volume is detached by force six
      minutes after its pods are gone.

        claims       pvc/data (Bound, pv/disk)
        node         n2
        event        Waiting for detach for volume "disk" Volume is already used by pod(s) old (before
                     v1.36.4: Multi-Attach error for volume "disk")
        driver       ebs.csi.aws.com
        attachments  node/n1 (attached)
        used by      pod default/web
        node/n1      not ready: it may still write

      What would change it:
        - if the node is certainly switched off: taint it as out of service, and the volume is moved at
          once
            kubectl taint nodes n1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute

      Next: the attach/detach controller detaches the volume by force, by 2025-01-01T00:10:00Z (in 5
      minutes).
      "
    `);
  });

  test('whose volume is being detached from another node', () => {
    const leaving = attachment('va', 'disk', 'n1', { metadata: { deletionTimestamp: '2025-01-01T00:04:50Z' } });
    expect(explanation('pod/web', [web, claim, volume(), node('n1'), node('n2'), leaving])).toMatchObject({
      code: 'MultiAttach',
      verdict: 'waiting',
      next: { who: 'the attacher of ebs.csi.aws.com', does: 'detaches it' },
    });
  });

  test('does not wait for other nodes if the volume may be attached to many', () => {
    const shared = volume({ accessModes: ['ReadWriteMany'] });
    expect(explanation('pod/web', [web, claim, shared, node('n1'), node('n2'), attachment('va', 'disk', 'n1')])).toMatchObject({ code: 'Attaching' });
  });

  test('whose volumes are attached: the node is next', () => {
    const n2 = node('n2', { status: { volumesAttached: [{ name: uniqueName, devicePath: '' }] } });
    expect(explanation('pod/web', [web, claim, volume(), n2, attachment('va', 'disk', 'n2')])).toMatchObject({
      code: 'Starting',
      next: { who: 'node/n2', does: 'starts the containers' },
    });
  });

  test('runs', () => {
    const n2 = node('n2', { status: { volumesAttached: [{ name: uniqueName, devicePath: '' }] } });
    expect(answer('pod/web', [pod('web', ['data'], onNode('n2')), claim, volume(), n2, attachment('va', 'disk', 'n2')])).toMatchInlineSnapshot(`
      "
      pod/web in namespace default: Running

      The pod's volumes are in order, and it runs.

        claims  pvc/data (Bound, pv/disk)
        node    n2

      Next: nothing has to happen.
      "
    `);
  });

  test('is terminating, and its node does not confirm it', () => {
    const late = pod('web', ['data'], { ...onNode('n2'), metadata: { deletionTimestamp: '2025-01-01T00:02:00Z', deletionGracePeriodSeconds: 30 } });
    expect(explanation('pod/web', [late, claim, volume()])).toMatchObject({ state: 'Terminating', since: '2025-01-01T00:01:30Z', verdict: 'stuck' });
  });
});
