import { describe, expect, it } from 'vitest';
import { node, SmallCluster } from '../../../test/scheduler/small-cluster.ts';
import { pod, pvc } from '../../../test/storage/objects.ts';
import type { Pod, Volume } from '../../api/generated/types.ts';
import { readPod } from '../pod-info.ts';
import { volumeRestrictions } from './volume-restrictions.ts';

const taken = 'unschedulable: node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod';
const noDisk = 'unschedulable: node(s) had no available disk';
const exclusive = pvc('data', '1Gi', { spec: { accessModes: ['ReadWriteOncePod'] } });
const on = (nodeName: string, { ...object }: Pod): Pod => ({ ...object, spec: { ...object.spec, nodeName } });
const withDisk = (name: string, disk: Omit<Volume, 'name'>) => pod(name, [], { spec: { volumes: [{ name: 'disk', ...disk }] } });

describe('a ReadWriteOncePod claim', () => {
  it('in use by a pod rejects other pods on every node', () => {
    const cluster = new SmallCluster([volumeRestrictions]);
    cluster.set(node('n1'), node('n2'), exclusive, on('n1', pod('one', ['data'])));
    expect(cluster.verdicts(pod('two', ['data']))).toEqual({ n1: taken, n2: taken });
    cluster.delete('Pod', 'default/one');
    expect(cluster.verdicts(pod('two', ['data']))).toBe('skip');
  });

  it('of the same name in another namespace is a different claim', () => {
    const cluster = new SmallCluster([volumeRestrictions]);
    const elsewhere = on('n1', pod('one', ['data'], { metadata: { name: 'one', namespace: 'other', uid: 'x' } }));
    cluster.set(node('n1'), exclusive, elsewhere);
    expect(cluster.verdicts(pod('two', ['data']))).toBe('skip');
  });

  it('becomes available by preemption of its pod', () => {
    const cluster = new SmallCluster([volumeRestrictions]);
    const one = on('n1', pod('one', ['data']));
    cluster.set(node('n1'), exclusive, one);
    const stages = cluster.cycle(pod('two', ['data']));
    const at = cluster.cache.node('n1');
    if (at === undefined) throw new Error('the node does not exist');
    const cycleCopy = stages.clone?.();
    cycleCopy?.removePod?.(readPod(one), at);
    expect(cycleCopy?.filter?.(at)).toBeUndefined();
    expect(stages.filter?.(at)).toMatchObject({ code: 'unschedulable' });
    cycleCopy?.addPod?.(readPod(one), at);
    expect(cycleCopy?.filter?.(at)).toMatchObject({ code: 'unschedulable' });
  });

  it('that does not exist is reported', () => {
    const cluster = new SmallCluster([volumeRestrictions]);
    cluster.set(node('n1'));
    expect(cluster.verdicts(pod('two', ['data']))).toBe('unresolvable: persistentvolumeclaim "data" not found');
  });
});

describe('an inline disk', () => {
  const ebs = { awsElasticBlockStore: { volumeID: 'vol-1' } };
  const rbd = (monitors: string[], readOnly: boolean) => ({ rbd: { monitors, image: 'i', pool: 'p', readOnly } });
  it.each<[string, Omit<Volume, 'name'>, Omit<Volume, 'name'>, boolean]>([
    ['the same EBS volume', ebs, ebs, true],
    [
      'the same EBS volume, both read-only',
      { awsElasticBlockStore: { volumeID: 'v', readOnly: true } },
      { awsElasticBlockStore: { volumeID: 'v', readOnly: true } },
      true,
    ],
    ['another EBS volume', ebs, { awsElasticBlockStore: { volumeID: 'vol-2' } }, false],
    ['the same GCE disk', { gcePersistentDisk: { pdName: 'd' } }, { gcePersistentDisk: { pdName: 'd', readOnly: true } }, true],
    [
      'the same GCE disk, both read-only',
      { gcePersistentDisk: { pdName: 'd', readOnly: true } },
      { gcePersistentDisk: { pdName: 'd', readOnly: true } },
      false,
    ],
    ['the same iSCSI name', { iscsi: { targetPortal: 'a', iqn: 'q', lun: 0 } }, { iscsi: { targetPortal: 'b', iqn: 'q', lun: 1 } }, true],
    ['a common Ceph monitor', rbd(['a', 'b'], false), rbd(['b', 'c'], true), true],
    ['no common Ceph monitor', rbd(['a'], false), rbd(['c'], false), false],
    ['Ceph, both read-only', rbd(['a'], true), rbd(['a'], true), false],
    ['disks of different kinds', ebs, { gcePersistentDisk: { pdName: 'vol-1' } }, false],
  ])('%s', (_, mine, theirs, conflicts) => {
    const cluster = new SmallCluster([volumeRestrictions]);
    cluster.set(node('n1'), node('n2'), on('n1', withDisk('one', theirs)));
    expect(cluster.verdicts(withDisk('two', mine))).toEqual({ n1: conflicts ? noDisk : '', n2: '' });
  });
});

it('has a hint for deleted pods with the same disk or claim', () => {
  const cluster = new SmallCluster([volumeRestrictions]);
  const ebs = { awsElasticBlockStore: { volumeID: 'vol-1' } };
  cluster.set(on('n1', pod('one', ['data'])), on('n1', pod('other', ['x'])), on('n1', withDisk('disk', ebs)));
  const helps = (name: string, waiting: Pod) => volumeRestrictions.queueingHints?.hint(readPod(waiting), cluster.delete('Pod', `default/${name}`));
  expect(helps('one', pod('two', ['data']))).toBe(true);
  expect(helps('other', pod('two', ['data']))).toBe(false);
  expect(helps('disk', withDisk('two', ebs))).toBe(true);
  expect(
    cluster.set(pvc('data', '1Gi'), node('n1'), node('n1')).map((change) => volumeRestrictions.queueingHints?.hint(readPod(pod('two', ['data'])), change)),
  ).toEqual([true, true, false]);
});
