import { describe, expect, test } from 'vitest';
import { available, pod, pv, pvc, storageClass } from '../storage/objects.ts';
import { answer, explanation, inZone, node, onNode, onlyInZone } from './explain-objects.ts';

const free = (name: string, size: string, more = {}) => pv(name, size, { status: available, ...more });
const waiting = { volumeBindingMode: 'WaitForFirstConsumer' };
const ebs = { provisioner: 'ebs.csi.aws.com' };

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

  test('what is said first is what keeps the volumes of its own class from it', () => {
    const objects = [
      pvc('data', '1Gi'),
      storageClass('class', waiting),
      free('far', '1Gi', { spec: { nodeAffinity: onlyInZone('b') } }),
      pod('web', ['data']),
      node('n1', inZone('a')),
    ];
    const told = explanation('pvc/data', [...objects, free('other', '1Gi', { spec: { storageClassName: 'other' } })]);
    expect(told.summary).toContain('No volume is where the nodes are; pv/far would fit otherwise.');
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
