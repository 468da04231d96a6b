import { describe, expect, test } from 'vitest';
import type { Taint } from '../../src/api/generated/types.ts';
import { pod, pv, pvc, storageClass } from '../storage/objects.ts';
import { answer, attachment, bound, boundTo, csiNode, disk, explanation, inZone, node, notReady, onlyInZone, onNode } from './explain-objects.ts';

const volume = (more: object = {}) => pv('disk', '1Gi', { spec: { ...boundTo('data'), ...disk('vol-1'), ...more }, status: { phase: 'Bound' } });
const claim = pvc('data', '1Gi', { metadata: bound.metadata, spec: { volumeName: 'disk' }, status: { phase: 'Bound' } });
const uniqueName = 'kubernetes.io/csi/ebs.csi.aws.com^vol-1';

describe('a pod without a node', () => {
  test('because its claim has no volume: the claim is explained', () => {
    const objects = [pod('web', ['data']), pvc('data', '5Gi'), pv('small', '1Gi', { status: { phase: 'Available' } }), storageClass('class'), node('n1')];
    expect(answer('pod/web', objects)).toMatchInlineSnapshot(`
      "
      pod/web in namespace default: Pending

      It cannot be scheduled before pvc/data has a volume; pvc/data is Pending.

        claims  pvc/data (Pending)

        pvc/data in namespace default: Pending, for 5 minutes

        No volume is large enough; pv/small comes nearest. Volumes of class "class" are made by hand only.

          asks for  5Gi, ReadWriteOnce, Filesystem, class "class"

        Looked at 1 volume; it does not fit:
          pv/small  1Gi  RWO  class  Available  is too small: 1Gi, wanted at least 5Gi

        What would change it:
          - create a volume of at least 5Gi with ReadWriteOnce in class "class"
          - create the claim again with a request of 1Gi or less: pv/small would fit
              kubectl -n default delete pvc data

        Next: an administrator creates a volume that fits, or changes one; it is bound at once.
      "
    `);
  });

  test('because its claim does not exist', () => {
    expect(answer('pod/web', [pod('web', ['dat']), pvc('data', '1Gi')])).toMatchInlineSnapshot(`
      "
      pod/web in namespace default: Pending

      It uses pvc/dat, which does not exist in namespace default. Is pvc/data meant?

        claims  pvc/dat (missing)

      What would change it:
        - create claim dat in namespace default; the pod goes on by itself
        - create the pod again with claimName data
            kubectl -n default delete pod web

      Next: you create pvc/dat.
      "
    `);
  });

  test('because no volume can be made of the class of its claim', () => {
    const zoned = storageClass('class', { provisioner: 'kubernetes.io/aws-ebs', volumeBindingMode: 'WaitForFirstConsumer', parameters: { zone: 'a' } });
    const told = explanation('pod/web', [pod('web', ['data']), pvc('data', '1Gi'), zoned, node('n1', inZone('a'))]);
    expect([told.code, told.parts?.[0]?.code]).toEqual(['ClaimsUnbound', 'ProvisioningRefused']);
  });

  test('because its volume is in another zone', () => {
    const objects = [
      pod('web', ['data']),
      claim,
      volume({ nodeAffinity: onlyInZone('a') }),
      node('n1', inZone('b')),
      node('n2', { ...inZone('a'), spec: { unschedulable: true } }),
    ];
    expect(answer('pod/web', objects)).toMatchInlineSnapshot(`
      "
      pod/web in namespace default: Pending

      pv/disk can be reached only from zone a, where no node can run the pod.

        claims  pvc/data (Bound, pv/disk)

      Looked at 2 nodes; none fits:
        node/n1  zone b  is in zone b; pv/disk can be reached only from zone a
        node/n2  zone a  cordoned  is cordoned

      What would change it:
        - let node/n2 take pods again
            kubectl uncordon n2
        - add a node in zone a, or make one there usable: the data of pv/disk is nowhere else
            kubectl get nodes -L topology.kubernetes.io/zone
        - for new claims: a class with volumeBindingMode WaitForFirstConsumer has volumes made where their
          pods can run

      Next: an administrator makes a node fit; the scheduler looks again at once.
      "
    `);
  });

  test('because its node is cordoned, and tainted for that: it is told once, and to uncordon it is enough', () => {
    const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
    const other = { key: 'example.com/mine', effect: 'NoSchedule' };
    const refusals = (taints: Taint[], unschedulable = true) => explanation('pod/web', [pod('web', []), node('n1', { spec: { unschedulable, taints } })]);
    const { candidates, fixes } = refusals([taint]);
    expect(candidates.map((each) => each.refusals.map(({ rule }) => rule))).toEqual([['cordoned']]);
    expect(fixes.flatMap(({ commands }) => commands)).toEqual(['kubectl uncordon n1']);
    expect(refusals([taint, other]).candidates[0]?.refusals.map(({ rule }) => rule)).toEqual(['cordoned', 'taint']);
    // Nobody cordoned it: then to uncordon it would not help.
    expect(refusals([taint], false).candidates[0]?.refusals.map(({ rule }) => rule)).toEqual(['taint']);
  });

  test('because its volume is labelled with another zone, as old volumes are', () => {
    const labelled = { ...volume(), metadata: { name: 'disk', labels: { 'topology.kubernetes.io/zone': 'a__b' } } };
    const { candidates } = explanation('pod/web', [pod('web', ['data']), claim, labelled, node('n1', inZone('c')), node('n2', inZone('b'))]);
    expect(candidates.map(({ name, refusals }) => [name, refusals.map(({ rule }) => rule)])).toEqual([
      ['node/n2', []],
      ['node/n1', ['zone']],
    ]);
  });

  test('because its volumes are apart', () => {
    const other = pv('other', '1Gi', { spec: { ...boundTo('logs'), nodeAffinity: onlyInZone('b') }, status: { phase: 'Bound' } });
    const logs = pvc('logs', '1Gi', { metadata: bound.metadata, spec: { volumeName: 'other' }, status: { phase: 'Bound' } });
    const objects = [
      pod('web', ['data', 'logs']),
      claim,
      logs,
      volume({ nodeAffinity: onlyInZone('a') }),
      other,
      node('n1', inZone('a')),
      node('n2', inZone('b')),
    ];
    expect(explanation('pod/web', objects).fixes[0]?.text).toBe(
      'its volumes are apart (pv/disk in zone a, pv/other in zone b), so no node reaches all of them: use claims of one place',
    );
  });

  test('because no node has room for another volume', () => {
    const full = { ...csiNode('n1'), spec: { drivers: [{ name: 'ebs.csi.aws.com', nodeID: 'n1', topologyKeys: null, allocatable: { count: 1 } }] } };
    const { candidates } = explanation('pod/web', [
      pod('web', ['data']),
      claim,
      volume(),
      pv('another', '1Gi', { spec: disk('vol-2') }),
      node('n1'),
      full,
      attachment('va', 'another', 'n1'),
    ]);
    expect(candidates[0]?.refusals[0]?.text).toBe('has 1 volume of ebs.csi.aws.com attached, and can have no more than 1');
  });

  test('because of taints and labels, which nobody but the pod and the node can change', () => {
    const tainted = node('n1', { spec: { taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] } });
    const picky = pod('web', ['data'], {
      spec: { nodeSelector: { disk: 'fast' }, tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'db' }], volumes: [] },
    });
    expect(explanation('pod/web', [picky, tainted]).candidates[0]?.refusals).toEqual([
      { rule: 'nodeSelector', text: 'lacks label disk=fast, which the pod selects', wanted: 'label disk=fast' },
    ]);
    expect(explanation('pod/web', [pod('web', []), tainted])).toMatchObject({
      code: 'NodesRefuse',
      summary: 'The only node cannot run it: node/n1 has taint dedicated=db:NoSchedule, which the pod does not tolerate.',
    });
  });

  test('for reasons that could not be looked at: the scheduler wrote them into the pod', () => {
    const message = '0/1 nodes are available: 1 Insufficient cpu.';
    const starved = pod('web', ['data'], {
      status: {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastProbeTime: null, lastTransitionTime: null }],
      },
    });
    expect(explanation('pod/web', [starved, claim, volume(), node('n1')], { without: ['placed'] })).toMatchObject({
      code: 'NotStorage',
      summary:
        'Its claims are in order, and its volumes can be had on node/n1: storage is not what keeps it waiting. What does, the scheduler wrote into the pod.',
      facts: expect.arrayContaining([{ label: 'the scheduler', text: message }]) as unknown,
    });
  });

  test('because of what other pods take: every node tells what is missing', () => {
    const asking = (cpu: string) => ({ containers: [{ name: 'app', resources: { requests: { cpu } } }] });
    const objects = [
      pod('web', [], { spec: asking('2') }),
      pod('there', [], { spec: { ...asking('3'), nodeName: 'n1' }, status: { phase: 'Running' } }),
      pod('done', [], { spec: { ...asking('4'), nodeName: 'n1' }, status: { phase: 'Succeeded' } }),
      node('n1'),
      node('n2', { status: { allocatable: { cpu: '1', pods: '10' } } }),
      node('n3', { spec: { unschedulable: true }, status: { allocatable: { cpu: '2', pods: '0' } } }),
    ];
    expect(answer('pod/web', objects)).toMatchInlineSnapshot(`
      "
      pod/web in namespace default: Pending

      None of 3 nodes can run it.

        claims  none

      Looked at 3 nodes; none fits:
        node/n1  -  has 1 of 4 cpu left, less than the 2 that the pod requests
        node/n2  -  has 1 cpu in all, less than the 2 that the pod requests
        node/n3  -  cordoned  is cordoned; has 0 pods, and its limit is 0

      What would change it:
        - make room on node/n1, which needs 2 cpu free: end a pod there, let this one request less, or
          give it a higher priority
            kubectl describe node n1

      Next: an administrator makes a node fit; the scheduler looks again at once.
      "
    `);
  });

  test('because of other pods, near which it wants to be or not', () => {
    const labelled = (name: string, app: string, more: object = {}) => ({
      ...pod(name, [], more),
      metadata: { namespace: 'default', name, uid: name, labels: { app } },
    });
    const term = (app: string) => [{ labelSelector: { matchLabels: { app } }, topologyKey: 'kubernetes.io/hostname' }];
    const shy = labelled('web', 'web', { spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: term('web') } } } });
    const there = labelled('other', 'web', onNode('n1'));
    const needy = labelled('web', 'web', { spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: term('db') } } } });
    expect(explanation('pod/web', [shy, there, node('n1')])).toMatchObject({
      code: 'NodesRefuse',
      summary: "The only node cannot run it: node/n1 has a pod in the same kubernetes.io/hostname that matches the pod's anti-affinity.",
    });
    expect(explanation('pod/web', [needy, there, node('n1')]).candidates[0]?.refusals[0]?.rule).toBe('podAffinity');
    // Perhaps such a pod is in a namespace that could not be looked at.
    expect(explanation('pod/web', [needy, there, node('n1')], { without: ['placed'] }).candidates[0]?.refusals).toEqual([]);
  });

  test('because of its node affinity', () => {
    const fast = { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd', 'nvme'] }] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [fast] } } };
    const told = explanation('pod/web', [pod('web', [], { spec: { affinity } }), node('n1')]);
    expect(told.candidates[0]?.refusals[0]?.text).toBe("does not match the pod's node affinity: disk In (ssd, nvme)");
    expect(told.fixes[0]?.text).toBe("label node/n1 as the pod's node affinity requires, if it is meant: disk In (ssd, nvme)");
  });

  test('because it contradicts itself', () => {
    const named = ['n1', 'n2'].map((name) => ({ key: 'metadata.name', operator: 'In', values: [name] }));
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: named }] } } };
    expect(explanation('pod/web', [pod('web', [], { spec: { affinity } }), node('n1'), node('n2')])).toMatchObject({ code: 'PodRefused', verdict: 'stuck' });
  });

  test('although it could have one: the scheduler is next', () => {
    expect(explanation('pod/web', [pod('web', []), node('n1')])).toMatchObject({
      code: 'WaitForScheduler',
      verdict: 'waiting',
      summary: 'Nothing keeps it from node/n1.',
      next: { who: 'the scheduler', does: 'chooses a node' },
    });
  });

  test('because another pod has the claim for itself', () => {
    const alone = { ...claim, spec: { ...claim.spec, accessModes: ['ReadWriteOncePod'] } };
    expect(explanation('pod/web', [pod('web', ['data']), pod('first', ['data'], onNode('n1')), alone, volume(), node('n1')])).toMatchObject({
      code: 'ReadWriteOncePod',
      summary: 'pvc/data is ReadWriteOncePod: one pod at a time may use it, and pod/first does.',
    });
  });

  test('because the claim of its ephemeral volume is not there: perhaps the server refuses it', () => {
    const told = explanation('pod/web', [pod('web', [], { spec: { volumes: [{ name: 'scratch', ephemeral: {} }] } })]);
    expect(told).toMatchObject({ code: 'EphemeralClaimMissing', next: { who: 'the ephemeral volume controller' } });
    expect(told.fixes[0]?.commands).toEqual(['kubectl -n default describe quota', 'kubectl -n default events --for pod/web']);
  });

  test('because the claim of its ephemeral volume belongs to somebody else', () => {
    const ephemeral = pod('web', [], { spec: { volumes: [{ name: 'scratch', ephemeral: {} }] } });
    expect(explanation('pod/web', [ephemeral, pvc('web-scratch', '1Gi')])).toMatchObject({ code: 'ClaimNotOwned', verdict: 'stuck' });
  });

  test('because somebody holds it back', () => {
    expect(explanation('pod/web', [pod('web', [], { spec: { schedulingGates: [{ name: 'quota.example/later' }] } })]).summary).toBe(
      'It is not to be scheduled until its scheduling gates are gone: quota.example/later.',
    );
  });
});

describe('a pod on a node', () => {
  const web = pod('web', ['data'], onNode('n2', 'Pending'));

  test('whose volume another node has (Multi-Attach)', () => {
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

      pv/disk is needed on node/n2, but is attached to node/n1, and its access modes allow one node at a
      time. There it is used by pod/old-abc.

        claims           pvc/data (Bound, pv/disk)
        node             n2
        Kubernetes says  Waiting for detach for volume "disk" Volume is already used by pod(s) old-abc
                         (older versions: Multi-Attach error for volume "disk")
        driver           ebs.csi.aws.com
        attachments      node/n1 (attached)
        wanted by        pod default/web
        node/n1          ready

      What would change it:
        - scale Deployment old down: it would start such a pod again
            kubectl -n default scale deployment old --replicas=0
        - run both pods on one node, or use a volume with ReadWriteMany; a Deployment with such a volume
          needs strategy Recreate

      Next: you end pod/old-abc; then it goes on by itself.
      "
    `);
  });

  test('whose volume is on a node that is dead', () => {
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

      pv/disk is needed on node/n2, but is attached to node/n1, and its access modes allow one node at a
      time. node/n1 does not answer, so nobody knows whether it still writes: the volume is taken from it
      six minutes after its pods are gone.

        claims           pvc/data (Bound, pv/disk)
        node             n2
        Kubernetes says  Waiting for detach for volume "disk" Volume is already used by pod(s) old (older
                         versions: Multi-Attach error for volume "disk")
        driver           ebs.csi.aws.com
        attachments      node/n1 (attached)
        wanted by        pod default/web
        node/n1          not ready: nobody knows whether it still writes

      What would change it:
        - if the node is certainly switched off: say so, and the volume is moved at once
            kubectl taint nodes n1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute

      Next: the attach/detach controller takes the volume from the node by force, by 2025-01-01T00:10:00Z
      (in 5 minutes).
      "
    `);
  });

  test('whose volume is being detached elsewhere', () => {
    const leaving = attachment('va', 'disk', 'n1', { metadata: { deletionTimestamp: '2025-01-01T00:04:50Z' } });
    expect(explanation('pod/web', [web, claim, volume(), node('n1'), node('n2'), leaving])).toMatchObject({
      code: 'MultiAttach',
      verdict: 'waiting',
      next: { who: 'the attacher of ebs.csi.aws.com', does: 'detaches it' },
    });
  });

  test('is not held up by others if many nodes may have the volume', () => {
    const shared = volume({ accessModes: ['ReadWriteMany'] });
    expect(explanation('pod/web', [web, claim, shared, node('n1'), node('n2'), attachment('va', 'disk', 'n1')])).toMatchObject({ code: 'Attaching' });
  });

  test('whose volumes are attached: the node is next', () => {
    const n2 = node('n2', { status: { volumesAttached: [{ name: uniqueName, devicePath: '' }] } });
    expect(explanation('pod/web', [web, claim, volume(), n2, attachment('va', 'disk', 'n2')])).toMatchObject({
      code: 'Starting',
      next: { who: 'node/n2', does: 'starts it' },
    });
  });

  test('runs', () => {
    const n2 = node('n2', { status: { volumesAttached: [{ name: uniqueName, devicePath: '' }] } });
    expect(answer('pod/web', [pod('web', ['data'], onNode('n2')), claim, volume(), n2, attachment('va', 'disk', 'n2')])).toMatchInlineSnapshot(`
      "
      pod/web in namespace default: Running

      Its volumes are in order, and it runs.

        claims  pvc/data (Bound, pv/disk)
        node    n2

      Next: nothing has to happen.
      "
    `);
  });

  test('has to end, and its node does not say so', () => {
    const late = pod('web', ['data'], { ...onNode('n2'), metadata: { deletionTimestamp: '2025-01-01T00:02:00Z', deletionGracePeriodSeconds: 30 } });
    expect(explanation('pod/web', [late, claim, volume()])).toMatchObject({ state: 'Terminating', since: '2025-01-01T00:01:30Z', verdict: 'stuck' });
  });
});
