import { describe, expect, test } from 'vitest';
import type { Taint } from '../../src/api/generated/types.ts';
import { pod, pv, pvc, storageClass } from '../storage/objects.ts';
import { answer, attachment, bound, boundTo, csiNode, disk, explanation, inZone, node, onlyInZone, onNode } from './explain-objects.ts';

const volume = (more: object = {}) => pv('disk', '1Gi', { spec: { ...boundTo('data'), ...disk('vol-1'), ...more }, status: { phase: 'Bound' } });
const claim = pvc('data', '1Gi', { metadata: bound.metadata, spec: { volumeName: 'disk' }, status: { phase: 'Bound' } });

describe('a pod without a node', () => {
  test('because its claim has no volume: the claim is explained', () => {
    const objects = [pod('web', ['data']), pvc('data', '5Gi'), pv('small', '1Gi', { status: { phase: 'Available' } }), storageClass('class'), node('n1')];
    expect(answer('pod/web', objects)).toMatchInlineSnapshot(`
      "
      pod/web in namespace default: Pending

      The pod cannot be scheduled before pvc/data has a volume; pvc/data is Pending.

        claims  pvc/data (Pending)

        pvc/data in namespace default: Pending, for 5 minutes

        No volume is large enough for 5Gi; pv/small comes nearest. Volumes of StorageClass "class" are
        created by hand only.

          requests  5Gi, ReadWriteOnce, Filesystem, StorageClass "class"

        Considered 1 volume; it does not fit:
          pv/small  1Gi  RWO  class  Available  is too small: 1Gi, requested is at least 5Gi

        What would change it:
          - create a volume of at least 5Gi with ReadWriteOnce in StorageClass "class"
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

      The pod uses pvc/dat, which does not exist in namespace default. Is pvc/data meant?

        claims  pvc/dat (missing)

      What would change it:
        - create claim dat in namespace default; then the pod is scheduled
        - create the pod again with claimName data
            kubectl -n default delete pod web

      Next: you create pvc/dat.
      "
    `);
  });

  test('because the StorageClass of its claim cannot provision', () => {
    const zoned = storageClass('class', { provisioner: 'kubernetes.io/aws-ebs', volumeBindingMode: 'WaitForFirstConsumer', parameters: { zone: 'a' } });
    const explained = explanation('pod/web', [pod('web', ['data']), pvc('data', '1Gi'), zoned, node('n1', inZone('a'))]);
    expect([explained.code, explained.parts?.[0]?.code]).toEqual(['ClaimsUnbound', 'ProvisioningRefused']);
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

      The node affinity of pv/disk requires zone a, where no node can run the pod.

        claims  pvc/data (Bound, pv/disk)

      Considered 2 nodes; none fits:
        node/n1  zone b  is in zone b; the node affinity of pv/disk requires zone a
        node/n2  zone a  cordoned  is cordoned

      What would change it:
        - uncordon node/n2
            kubectl uncordon n2
        - add a node in zone a, or make one there schedulable: the data of pv/disk is nowhere else
            kubectl get nodes -L topology.kubernetes.io/zone
        - for new claims: use a StorageClass with volumeBindingMode WaitForFirstConsumer, which provisions
          volumes where their pods can run

      Next: an administrator makes a node fit; then the scheduler tries again at once.
      "
    `);
  });

  test('because its node is cordoned, and tainted for that: one refusal, and uncordon is the fix', () => {
    const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
    const other = { key: 'example.com/mine', effect: 'NoSchedule' };
    const refusals = (taints: Taint[], unschedulable = true) => explanation('pod/web', [pod('web', []), node('n1', { spec: { unschedulable, taints } })]);
    const { candidates, fixes } = refusals([taint]);
    expect(candidates.map((each) => each.refusals.map(({ rule }) => rule))).toEqual([['cordoned']]);
    expect(fixes.flatMap(({ commands }) => commands)).toEqual(['kubectl uncordon n1']);
    expect(refusals([taint, other]).candidates[0]?.refusals.map(({ rule }) => rule)).toEqual(['cordoned', 'taint']);
    // Only the taint is there, without a cordon: uncordon would not help.
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

  test('because its volumes are in different zones', () => {
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
      "the pod's volumes are in different places (pv/disk in zone a, pv/other in zone b), so no node can use all of them: use claims in one zone",
    );
  });

  test('because every node has its attach limit', () => {
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
    expect(candidates[0]?.refusals[0]?.text).toBe('has 1 volume of ebs.csi.aws.com attached, and its limit is 1');
  });

  test('because of taints and labels', () => {
    const tainted = node('n1', { spec: { taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] } });
    const picky = pod('web', ['data'], {
      spec: { nodeSelector: { disk: 'fast' }, tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'db' }], volumes: [] },
    });
    expect(explanation('pod/web', [picky, tainted]).candidates[0]?.refusals).toEqual([
      { rule: 'nodeSelector', text: 'lacks label disk=fast, which the pod selects', wanted: 'label disk=fast' },
    ]);
    expect(explanation('pod/web', [pod('web', []), tainted])).toMatchObject({
      code: 'NodesRefuse',
      summary: 'The only node cannot run the pod: node/n1 has taint dedicated=db:NoSchedule, which the pod does not tolerate.',
    });
  });

  test('for reasons that could not be read: the message of the scheduler tells them', () => {
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
        "The pod's claims are in order, and its volumes can be used on node/n1: storage is not what it waits for. The scheduler's message in the pod tells the reason.",
      facts: expect.arrayContaining([{ label: 'scheduler', text: message }]) as unknown,
    });
  });

  test('because of what other pods request: each node tells what is missing', () => {
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

      None of 3 nodes can run the pod.

        claims  none

      Considered 3 nodes; none fits:
        node/n1  -  has 1 of 4 cpu left, less than the 2 that the pod requests
        node/n2  -  has 1 cpu in all, less than the 2 that the pod requests
        node/n3  -  cordoned  is cordoned; has 0 pods, and its limit is 0

      What would change it:
        - free resources on node/n1, which needs 2 cpu free: delete a pod there, lower the requests of
          this pod, or raise its priority
            kubectl describe node n1

      Next: an administrator makes a node fit; then the scheduler tries again at once.
      "
    `);
  });

  test('because of pod affinity and anti-affinity', () => {
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
      summary: "The only node cannot run the pod: node/n1 has a pod in the same kubernetes.io/hostname that matches the pod's anti-affinity.",
    });
    expect(explanation('pod/web', [needy, there, node('n1')]).candidates[0]?.refusals[0]?.rule).toBe('podAffinity');
    // Such a pod may be in a namespace that could not be read.
    expect(explanation('pod/web', [needy, there, node('n1')], { without: ['placed'] }).candidates[0]?.refusals).toEqual([]);
  });

  test('because of its node affinity', () => {
    const fast = { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd', 'nvme'] }] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [fast] } } };
    const explained = explanation('pod/web', [pod('web', [], { spec: { affinity } }), node('n1')]);
    expect(explained.candidates[0]?.refusals[0]?.text).toBe("does not match the pod's node affinity: disk In (ssd, nvme)");
    expect(explained.fixes[0]?.text).toBe("label node/n1 as the pod's node affinity requires, if it is meant: disk In (ssd, nvme)");
  });

  test('because it contradicts itself', () => {
    const named = ['n1', 'n2'].map((name) => ({ key: 'metadata.name', operator: 'In', values: [name] }));
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: named }] } } };
    expect(explanation('pod/web', [pod('web', [], { spec: { affinity } }), node('n1'), node('n2')])).toMatchObject({ code: 'PodRefused', verdict: 'stuck' });
  });

  test('although a node fits: the scheduler is next', () => {
    expect(explanation('pod/web', [pod('web', []), node('n1')])).toMatchObject({
      code: 'WaitForScheduler',
      verdict: 'waiting',
      summary: 'Nothing keeps the pod from node/n1.',
      next: { who: 'the scheduler', does: 'chooses a node' },
    });
  });

  test('because another pod uses its ReadWriteOncePod claim', () => {
    const alone = { ...claim, spec: { ...claim.spec, accessModes: ['ReadWriteOncePod'] } };
    expect(explanation('pod/web', [pod('web', ['data']), pod('first', ['data'], onNode('n1')), alone, volume(), node('n1')])).toMatchObject({
      code: 'ReadWriteOncePod',
      summary: 'pvc/data is ReadWriteOncePod: one pod at a time may use it, and pod/first does.',
    });
  });

  test('because the claim of its ephemeral volume does not exist: the server may refuse it', () => {
    const explained = explanation('pod/web', [pod('web', [], { spec: { volumes: [{ name: 'scratch', ephemeral: {} }] } })]);
    expect(explained).toMatchObject({ code: 'EphemeralClaimMissing', next: { who: 'the ephemeral volume controller' } });
    expect(explained.fixes[0]?.commands).toEqual(['kubectl -n default describe quota', 'kubectl -n default events --for pod/web']);
  });

  test('because the claim of its ephemeral volume is not its own', () => {
    const ephemeral = pod('web', [], { spec: { volumes: [{ name: 'scratch', ephemeral: {} }] } });
    expect(explanation('pod/web', [ephemeral, pvc('web-scratch', '1Gi')])).toMatchObject({ code: 'ClaimNotOwned', verdict: 'stuck' });
  });

  test('because it has a scheduling gate', () => {
    expect(explanation('pod/web', [pod('web', [], { spec: { schedulingGates: [{ name: 'quota.example/later' }] } })]).summary).toBe(
      'The pod has scheduling gates, and is scheduled once they are removed: quota.example/later.',
    );
  });
});
