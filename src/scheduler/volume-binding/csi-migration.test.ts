import { describe, expect, it } from 'vitest';
import { inZone, reachedFrom, within, zone } from '../../../test/scheduler/small-cluster.ts';
import { pv } from '../../../test/storage/objects.ts';
import type { PersistentVolume } from '../../api/generated/types.ts';
import { matchesNode } from '../../storage/volumes/topology.ts';
import { readVolume } from '../../storage/volumes/volume.ts';
import { translatedNodeTerms } from './csi-migration.ts';

const ebsZone = 'topology.ebs.csi.aws.com/zone';
const betaZone = 'failure-domain.beta.kubernetes.io/zone';
const betaRegion = 'failure-domain.beta.kubernetes.io/region';
const region = 'topology.kubernetes.io/region';

const disk = (source: Partial<PersistentVolume['spec']>, labels: Readonly<Record<string, string>> = {}) =>
  readVolume(pv('vol', '1Gi', { metadata: { name: 'vol', labels: { ...labels } }, spec: { hostPath: undefined, ...source } as never }));
const ebs = { awsElasticBlockStore: { volumeID: 'vol-1' } };

describe('where a volume can be reached once its driver looks after it', () => {
  it.each<[string, ReturnType<typeof disk>, Readonly<Record<string, string>>, boolean]>([
    ['zones of the node affinity are called as the driver calls them', disk({ ...ebs, ...reachedFrom([within(zone, 'a')]) }), { [ebsZone]: 'a' }, true],
    ['and no longer as before', disk({ ...ebs, ...reachedFrom([within(zone, 'a')]) }), { [zone]: 'a' }, false],
    ['old labels too', disk({ ...ebs, ...reachedFrom([within(betaZone, 'a'), within(betaRegion, 'r')]) }), { [ebsZone]: 'a', [region]: 'r' }, true],
    ['without any, the label of the volume counts', disk(ebs, inZone('a__b')), { [ebsZone]: 'b' }, true],
    ['which excludes other zones', disk(ebs, inZone('a__b')), { [ebsZone]: 'c' }, false],
    ['beside what else is asked for', disk({ ...ebs, ...reachedFrom([within('rack', '1')]) }, { [betaZone]: 'a' }), { [ebsZone]: 'a', rack: '1' }, true],
    ['of which nothing is lost', disk({ ...ebs, ...reachedFrom([within('rack', '1')]) }, { [betaZone]: 'a' }), { [ebsZone]: 'a' }, false],
    ['Azure keeps its labels', disk({ azureDisk: { diskName: 'd', diskURI: 'u' }, ...reachedFrom([within(zone, 'a')]) }), { [zone]: 'a' }, true],
  ])('%s', (_, volume, labels, reached) => {
    const nodes = translatedNodeTerms(volume);
    expect(nodes !== undefined && nodes !== 'untranslatable' && matchesNode(nodes, { labels })).toBe(reached);
  });

  it('everywhere, if nothing says otherwise', () => {
    expect(translatedNodeTerms(disk(ebs))).toBeUndefined();
  });

  it('nobody knows, if the driver could not know the volume', () => {
    expect(translatedNodeTerms(disk({ awsElasticBlockStore: { volumeID: 'aws://zone/snap-1' } }))).toBe('untranslatable');
  });
});
