import { describe, expect, it } from 'vitest';
import { boundTo, inZone, node, SmallCluster } from '../../../test/scheduler/small-cluster.ts';
import { pod, pv, pvc, storageClass } from '../../../test/storage/objects.ts';
import type { KubeObject } from '../../api/object.ts';
import { readPod } from '../pod-info.ts';
import { volumeZone } from './volume-zone.ts';

const betaZone = 'failure-domain.beta.kubernetes.io/zone';
const conflict = 'unresolvable: node(s) had no available volume zone';
const web = pod('web', ['data']);
const labelled = (labels: Readonly<Record<string, string>>) => pv('vol', '1Gi', { metadata: { name: 'vol', labels: { ...labels } } });

const verdicts = (...objects: readonly KubeObject[]) => {
  const cluster = new SmallCluster([volumeZone]);
  cluster.set(...objects);
  return cluster.verdicts(web);
};

describe('PVs with zone labels', () => {
  const nodes = [
    node('a', inZone('a')),
    node('b', inZone('b')),
    node('old', { [betaZone]: 'a' }),
    node('nowhere'),
    node('region', { 'topology.kubernetes.io/region': 'r' }),
  ];
  const claim = boundTo(pvc('data', '1Gi'), 'vol');

  it('restrict their pods to the zone; nodes without zone labels pass', () => {
    expect(verdicts(...nodes, claim, labelled(inZone('a')))).toEqual({ a: '', b: conflict, old: conflict, nowhere: '', region: conflict });
  });

  it('may be in several zones', () => {
    expect(verdicts(...nodes, claim, labelled(inZone('a__b')))).toMatchObject({ a: '', b: '' });
  });

  it('with the beta label accept nodes with the beta or the GA label', () => {
    expect(verdicts(...nodes, claim, labelled({ [betaZone]: 'a' }))).toEqual({ a: '', b: conflict, old: '', nowhere: '', region: conflict });
  });

  it('that are malformed are ignored', () => {
    expect(verdicts(...nodes, claim, labelled(inZone('a__')))).toBe('skip');
  });

  it('must all match', () => {
    expect(verdicts(...nodes, claim, labelled({ ...inZone('a'), 'topology.kubernetes.io/region': 'r' }))).toEqual({
      a: conflict,
      b: conflict,
      old: conflict,
      nowhere: '',
      region: conflict,
    });
  });
});

describe('PreFilter of VolumeZone', () => {
  it.each<[string, readonly KubeObject[], string]>([
    ['no claim', [], 'unresolvable: persistentvolumeclaim "data" not found'],
    ['no class', [pvc('data', '1Gi', { spec: { storageClassName: '' } })], 'unresolvable: PersistentVolumeClaim had no pv name and storageClass name'],
    ['an unknown class', [pvc('data', '1Gi')], 'unresolvable: storageclass.storage.k8s.io "class" not found'],
    ['an Immediate class', [pvc('data', '1Gi'), storageClass('class')], 'unresolvable: PersistentVolume had no name'],
    ['no volume', [boundTo(pvc('data', '1Gi'), 'vol')], 'unresolvable: persistentvolume "vol" not found'],
    ['a class that waits', [pvc('data', '1Gi'), storageClass('class', { volumeBindingMode: 'WaitForFirstConsumer' })], 'skip'],
  ])('%s', (_, objects, expected) => {
    expect(verdicts(node('n1'), ...objects)).toBe(expected);
  });
});

it('has hints for changes of topology labels', () => {
  const cluster = new SmallCluster([volumeZone]);
  const helps = (...objects: readonly KubeObject[]) => cluster.set(...objects).map((change) => volumeZone.queueingHints?.hint(readPod(web), change));
  expect(helps(labelled({}), labelled({ other: 'x' }), labelled(inZone('a')))).toEqual([true, false, true]);
  expect(helps(node('n1'), node('n1', { other: 'x' }), node('n1', inZone('a')))).toEqual([true, false, true]);
  expect(helps(pvc('data', '1Gi'), pvc('other', '1Gi'), storageClass('a'), storageClass('b', { volumeBindingMode: 'WaitForFirstConsumer' }))).toEqual([
    true,
    false,
    false,
    true,
  ]);
});
