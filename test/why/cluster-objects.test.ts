import { describe, expect, test } from 'vitest';
import type { Namespace } from '../../src/api/generated/types.ts';
import { pv, pvc, storageClass } from '../storage/objects.ts';
import { attachment, csiDriver, csiNode, disk, explanation, node, notReady } from './explain-objects.ts';

describe('a node', () => {
  test('that is ready', () => {
    expect(explanation('node/n1', [node('n1'), csiNode('n1', 'ebs.csi.aws.com')])).toMatchObject({ state: 'Ready', verdict: 'fine' });
  });

  test('that is silent: what that means for its volumes, and what to do', () => {
    const explained = explanation('node/n1', [node('n1', { status: notReady })]);
    expect(explained).toMatchObject({ state: 'NotReady', verdict: 'stuck' });
    expect(explained.fixes.flatMap(({ commands }) => commands)).toContain('kubectl describe node n1');
  });

  test('that is cordoned', () => {
    const cordoned = { ...node('n1'), spec: { unschedulable: true } };
    expect(explanation('node/n1', [cordoned])).toMatchObject({ state: 'Ready,SchedulingDisabled', code: 'Cordoned', verdict: 'waiting' });
  });
});

describe('a StorageClass', () => {
  const ebs = storageClass('fast', { provisioner: 'ebs.csi.aws.com' });

  test('whose provisioner is not installed', () => {
    expect(explanation('sc/fast', [ebs])).toMatchObject({ verdict: 'stuck', code: 'ProvisionerAbsent' });
  });

  test('whose provisioner is there', () => {
    expect(explanation('storageclass.storage.k8s.io/fast', [ebs, csiDriver('ebs.csi.aws.com'), csiNode('n1', 'ebs.csi.aws.com')])).toMatchObject({
      verdict: 'fine',
      code: 'ProvisionerKnown',
    });
  });

  test('whose claims are stuck: they are explained', () => {
    const claim = pvc('data', '5Gi', { spec: { storageClassName: 'manual' } });
    const manual = storageClass('manual', { provisioner: 'kubernetes.io/no-provisioner' });
    const small = pv('small', '1Gi', { spec: { storageClassName: 'manual' }, status: { phase: 'Available' } });
    expect(explanation('class/manual', [manual, claim, small])).toMatchObject({ verdict: 'stuck', code: 'ClaimsStuck', parts: [{ code: 'NoVolumeFits' }] });
  });
});

describe('a CSI driver', () => {
  const name = 'ebs.csi.aws.com';

  test('that is on some nodes', () => {
    const explained = explanation(`driver/${name}`, [csiDriver(name), csiNode('n1', name), node('n1'), node('n2')]);
    expect(explained).toMatchObject({ verdict: 'fine', state: 'Registered' });
    expect(explained.summary).toContain('It is not on node/n2');
  });

  test('that is on no node', () => {
    const installed = [csiDriver(name), node('n1'), csiNode('n1')];
    expect(explanation(`csidriver/${name}`, [...installed, storageClass('fast', { provisioner: name })])).toMatchObject({
      verdict: 'stuck',
      code: 'DriverOnNoNode',
    });
    expect(explanation(`csidriver/${name}`, installed)).toMatchObject({ verdict: 'fine', code: 'DriverUnused' });
  });

  test('that fails to attach', () => {
    const failing = attachment('va', 'disk', 'n1', { status: { attached: false, attachError: { message: 'no such disk', time: null } } });
    const explained = explanation(`driver/${name}`, [csiDriver(name), csiNode('n1', name), pv('disk', '1Gi', { spec: disk('vol-1') }), failing]);
    expect(explained).toMatchObject({ verdict: 'stuck', code: 'DriverFails' });
    expect(explained.summary).toContain('no such disk');
  });

  test('that no object names', () => {
    expect(explanation('driver/unheard.of', [])).toMatchObject({ verdict: 'absent' });
  });
});

describe('a namespace', () => {
  const namespace = (deletionTimestamp?: string): Namespace => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop', uid: 'u', ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
    spec: {},
    status: {
      phase: deletionTimestamp === undefined ? 'Active' : 'Terminating',
      conditions: [
        {
          type: 'NamespaceFinalizersRemaining',
          status: deletionTimestamp === undefined ? 'False' : 'True',
          message: 'Some content in the namespace has finalizers remaining: x/y in 1 resource instances',
          lastTransitionTime: null,
        },
      ],
    },
  });

  test('that is active', () => {
    expect(explanation('ns/shop', [namespace()])).toMatchObject({ state: 'Active', verdict: 'fine' });
  });

  test('that cannot be removed: what is left in it', () => {
    expect(explanation('namespace/shop', [namespace('2025-01-01T00:01:00Z')])).toMatchObject({
      state: 'Terminating',
      verdict: 'stuck',
      facts: [{ label: 'NamespaceFinalizersRemaining', text: 'Some content in the namespace has finalizers remaining: x/y in 1 resource instances' }],
    });
    expect(explanation('ns/shop', [namespace('2025-01-01T00:04:59Z')])).toMatchObject({ verdict: 'waiting' });
  });
});
