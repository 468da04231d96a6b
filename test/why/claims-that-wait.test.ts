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

      Nothing is wrong: StorageClass "class" has volumeBindingMode WaitForFirstConsumer, so a volume is
      bound or provisioned when a pod uses the claim, where that pod can run. No pod that waits to be
      scheduled uses this claim yet.

        requests     1Gi, ReadWriteOnce, Filesystem, StorageClass "class"
        provisioner  ebs.csi.aws.com

      What would change it:
        - create a pod that uses the claim, in its spec.volumes
            - {name: data, persistentVolumeClaim: {claimName: data}}

      Next: you create a pod that uses the claim; then the scheduler chooses a node, and the volume is
      bound.
      "
    `);
  });

  test('the pod cannot be scheduled: every node is cordoned', () => {
    const objects = [pvc('data', '1Gi'), pod('web', ['data']), node('n1', { spec: { unschedulable: true } }), storageClass('class', { ...ebs, ...waiting })];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      StorageClass "class" has volumeBindingMode WaitForFirstConsumer, so a volume is bound or provisioned
      once a pod is scheduled, and pod/web has no node yet. The only node cannot run the pod: node/n1 is
      cordoned.

        requests     1Gi, ReadWriteOnce, Filesystem, StorageClass "class"
        provisioner  ebs.csi.aws.com

      Considered 1 node; it does not fit:
        node/n1  -  cordoned  is cordoned

      What would change it:
        - uncordon node/n1
            kubectl uncordon n1

      Next: the scheduler chooses a node for pod/web; then the volume is bound.
      "
    `);
  });

  test('the scheduler can choose: nothing is wrong', () => {
    const text = answer('pvc/data', [pvc('data', '1Gi'), pod('web', ['data']), node('n1'), storageClass('class', { ...ebs, ...waiting })]);
    expect(text).toContain('Next: the scheduler chooses a node for pod/web; then the volume is bound.');
  });

  test('volumes created by hand, all in a zone without nodes', () => {
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

      pod/web waits for the claim, and the scheduler has no volume to choose. No volume has a node
      affinity that a node satisfies; pv/far would fit otherwise. Volumes of StorageClass "class" are
      created by hand only.

        requests  1Gi, ReadWriteOnce, Filesystem, StorageClass "class"

      Considered 1 volume; it does not fit:
        pv/far  1Gi  RWO  class  Available  has a node affinity to zone c, where there is no node

      What would change it:
        - create a volume of at least 1Gi with ReadWriteOnce in StorageClass "class"
        - add a node in zone c: pv/far would fit for its pods

      Next: an administrator creates a volume that fits, where pod/web can run; then the scheduler goes
      on.
      "
    `);
  });

  test('the summary tells why the volumes of its own StorageClass do not fit', () => {
    const objects = [
      pvc('data', '1Gi'),
      storageClass('class', waiting),
      free('far', '1Gi', { spec: { nodeAffinity: onlyInZone('b') } }),
      pod('web', ['data']),
      node('n1', inZone('a')),
    ];
    const explained = explanation('pvc/data', [...objects, free('other', '1Gi', { spec: { storageClassName: 'other' } })]);
    expect(explained.summary).toContain('No volume has a node affinity that a node satisfies; pv/far would fit otherwise.');
  });

  test('a pod with spec.nodeName gets no volume chosen for its claim', () => {
    expect(
      answer('pvc/data', [pvc('data', '1Gi'), pod('web', ['data'], onNode('n1', 'Pending')), storageClass('class', { ...ebs, ...waiting })]),
    ).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      StorageClass "class" has volumeBindingMode WaitForFirstConsumer, so the scheduler chooses the
      volume; but pod/web was created with spec.nodeName, past the scheduler. No volume will be chosen.

        requests  1Gi, ReadWriteOnce, Filesystem, StorageClass "class"

      What would change it:
        - create the pod again without spec.nodeName; nodeSelector: {kubernetes.io/hostname: n1} puts it
          on the same node
            kubectl -n default delete pod web

      Next: you create the pod again.
      "
    `);
  });
});
