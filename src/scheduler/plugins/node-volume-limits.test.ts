import { describe, expect, it } from 'vitest';
import { attachment, boundTo, csiNode, node, SmallCluster } from '../../../test/scheduler/small-cluster.ts';
import { pod, pv, pvc, storageClass } from '../../../test/storage/objects.ts';
import type { PersistentVolume, Pod } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { readPod } from '../pod-info.ts';
import { nodeVolumeLimits } from './node-volume-limits.ts';

const full = 'unschedulable: node(s) exceed max volume count';
const csiVolume = (name: string, driver = 'driver'): PersistentVolume => {
  const { hostPath: _, ...spec } = pv(name, '1Gi').spec;
  return pv(name, '1Gi', { spec: { ...spec, hostPath: undefined, csi: { driver, volumeHandle: `handle-${name}` } } as never });
};
/** A claim that is bound to a PV of the same name. */
const disk = (name: string, driver?: string) => [csiVolume(name, driver), boundTo(pvc(name, '1Gi'), name)];
const on = (nodeName: string, object: Pod): Pod => ({ ...object, spec: { ...object.spec, nodeName } });
const limited = (count: number) => [node('n1'), csiNode('n1', { driver: count })];

const verdict = (asking: Pod, ...objects: readonly KubeObject[]) => {
  const cluster = new SmallCluster([nodeVolumeLimits()]);
  cluster.set(...objects);
  return cluster.verdicts(asking);
};

describe('a node with a limit', () => {
  it('accepts that many volumes of the driver, and no more', () => {
    expect(verdict(pod('two', ['b']), ...limited(1), ...disk('a'), ...disk('b'), on('n1', pod('one', ['a'])))).toEqual({ n1: full });
    expect(verdict(pod('two', ['b']), ...limited(2), ...disk('a'), ...disk('b'), on('n1', pod('one', ['a'])))).toEqual({ n1: '' });
  });

  it('counts a volume of several pods once', () => {
    expect(verdict(pod('two', ['a']), ...limited(1), ...disk('a'), on('n1', pod('one', ['a'])))).toEqual({ n1: '' });
    const pods = ['x', 'y', 'z'].map((name) => on('n1', pod(name, ['a'])));
    expect(verdict(pod('two', ['b']), ...limited(2), ...disk('a'), ...disk('b'), ...pods)).toEqual({ n1: '' });
  });

  it('counts attached volumes without a pod', () => {
    expect(verdict(pod('two', ['b']), ...limited(1), ...disk('a'), ...disk('b'), attachment('va', 'n1', 'a'))).toEqual({ n1: full });
    expect(verdict(pod('two', ['b']), ...limited(1), ...disk('a'), ...disk('b'), attachment('va', 'elsewhere', 'a'))).toEqual({ n1: '' });
    expect(verdict(pod('two', ['b']), ...limited(2), ...disk('a'), ...disk('b'), attachment('va', 'n1', 'a'), on('n1', pod('one', ['a'])))).toEqual({ n1: '' });
  });

  it('counts each driver separately', () => {
    expect(verdict(pod('two', ['b']), ...limited(1), ...disk('a', 'other'), ...disk('b'), on('n1', pod('one', ['a'])))).toEqual({ n1: '' });
    expect(verdict(pod('two', ['b']), ...limited(1), ...disk('a'), ...disk('b', 'other'), on('n1', pod('one', ['a'])))).toEqual({ n1: '' });
  });

  it('counts volumes that are not provisioned yet', () => {
    const late = storageClass('class', { provisioner: 'driver', volumeBindingMode: 'WaitForFirstConsumer' });
    expect(verdict(pod('two', ['a', 'b']), ...limited(1), late, pvc('a', '1Gi'), pvc('b', '1Gi'))).toEqual({ n1: full });
    expect(verdict(pod('two', ['a']), ...limited(1), late, pvc('a', '1Gi'), pvc('b', '1Gi'), on('n1', pod('one', ['a'])))).toEqual({ n1: '' });
  });

  it('counts disks of migrated in-tree plugins for their CSI drivers', () => {
    const ebs = pv('old', '1Gi', { spec: { hostPath: undefined, awsElasticBlockStore: { volumeID: 'vol-1' } } as never });
    const nodes = [node('n1'), csiNode('n1', { 'ebs.csi.aws.com': 1 })];
    const inline = pod('two', [], { spec: { volumes: [{ name: 'd', awsElasticBlockStore: { volumeID: 'aws://zone/vol-2' } }] } });
    const same = pod('two', [], { spec: { volumes: [{ name: 'd', awsElasticBlockStore: { volumeID: 'aws://zone/vol-1' } }] } });
    const user = on('n1', pod('one', ['old']));
    expect(verdict(inline, ...nodes, ebs, boundTo(pvc('old', '1Gi'), 'old'), user)).toEqual({ n1: full });
    expect(verdict(same, ...nodes, ebs, boundTo(pvc('old', '1Gi'), 'old'), user)).toEqual({ n1: '' });
    const successor = storageClass('class', { provisioner: 'kubernetes.io/aws-ebs' });
    expect(verdict(pod('two', ['new']), ...nodes, ebs, successor, pvc('new', '1Gi'), boundTo(pvc('old', '1Gi'), 'old'), user)).toEqual({ n1: full });
  });

  it('does not count volumes without a CSI driver', () => {
    expect(verdict(pod('two', ['b']), ...limited(0), pv('b', '1Gi'), boundTo(pvc('b', '1Gi'), 'b'))).toEqual({ n1: '' });
    expect(verdict(pod('two', ['b']), ...limited(0))).toEqual({ n1: '' });
    expect(verdict(pod('two', []), ...limited(0))).toBe('skip');
  });
});

it('a node without a limit accepts any number', () => {
  expect(verdict(pod('two', ['b']), node('n1'), node('n2'), csiNode('n2', {}), ...disk('a'), ...disk('b'), on('n1', pod('one', ['a'])))).toEqual({
    n1: '',
    n2: '',
  });
});

it('updates of the limit take effect, and its removal', () => {
  const cluster = new SmallCluster([nodeVolumeLimits()]);
  cluster.set(...limited(0), ...disk('a'));
  expect(cluster.verdicts(pod('one', ['a']))).toEqual({ n1: full });
  cluster.set(csiNode('n1', { driver: 1 }));
  expect(cluster.verdicts(pod('one', ['a']))).toEqual({ n1: '' });
  cluster.set(csiNode('n1', { driver: 0 }));
  cluster.delete('CSINode', 'n1');
  expect(cluster.verdicts(pod('one', ['a']))).toEqual({ n1: '' });
});

it('has hints for events that may lower the count', () => {
  const plugin = nodeVolumeLimits();
  const cluster = new SmallCluster([plugin]);
  const helps = (change: Parameters<NonNullable<typeof plugin.queueingHints>['hint']>[1]) => plugin.queueingHints?.hint(readPod(pod('two', ['b'])), change);
  expect(cluster.set(csiNode('n1', { driver: 1 }), csiNode('n1', { driver: 1 }), csiNode('n1', { driver: 2 }), csiNode('n1', {})).map(helps)).toEqual([
    true,
    false,
    true,
    true,
  ]);
  cluster.set(attachment('va', 'n1', 'a'), on('n1', pod('one', ['a'])), on('n1', pod('none', [])));
  expect(cluster.set(attachment('va', 'n1', 'a'), attachment('va', 'n2', 'a'), attachment('va', 'n2', 'b')).map(helps)).toEqual([false, true, true]);
  expect([cluster.delete('VolumeAttachment', 'va'), cluster.delete('Pod', 'default/one'), cluster.delete('Pod', 'default/none')].map(helps)).toEqual([
    true,
    true,
    false,
  ]);
  expect(cluster.set(pvc('b', '1Gi'), pvc('x', '1Gi')).map(helps)).toEqual([true, false]);
});
