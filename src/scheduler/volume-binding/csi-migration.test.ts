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

describe('the translated node affinity of a PV', () => {
  it.each<[string, ReturnType<typeof disk>, Readonly<Record<string, string>>, boolean]>([
    ['zone labels become those of the driver', disk({ ...ebs, ...reachedFrom([within(zone, 'a')]) }), { [ebsZone]: 'a' }, true],
    ['and replace the old ones', disk({ ...ebs, ...reachedFrom([within(zone, 'a')]) }), { [zone]: 'a' }, false],
    ['beta labels too', disk({ ...ebs, ...reachedFrom([within(betaZone, 'a'), within(betaRegion, 'r')]) }), { [ebsZone]: 'a', [region]: 'r' }, true],
    ['without any, the zone label of the PV counts', disk(ebs, inZone('a__b')), { [ebsZone]: 'b' }, true],
    ['which excludes other zones', disk(ebs, inZone('a__b')), { [ebsZone]: 'c' }, false],
    ['in addition to other requirements', disk({ ...ebs, ...reachedFrom([within('rack', '1')]) }, { [betaZone]: 'a' }), { [ebsZone]: 'a', rack: '1' }, true],
    ['which all remain', disk({ ...ebs, ...reachedFrom([within('rack', '1')]) }, { [betaZone]: 'a' }), { [ebsZone]: 'a' }, false],
    ['Azure keeps its labels', disk({ azureDisk: { diskName: 'd', diskURI: 'u' }, ...reachedFrom([within(zone, 'a')]) }), { [zone]: 'a' }, true],
  ])('%s', (_, volume, labels, reached) => {
    const nodes = translatedNodeTerms(volume);
    expect(nodes !== undefined && nodes !== 'untranslatable' && matchesNode(nodes, { labels })).toBe(reached);
  });

  it('does not exist without labels and node affinity', () => {
    expect(translatedNodeTerms(disk(ebs))).toBeUndefined();
  });

  it('is untranslatable if the PV has no CSI translation', () => {
    expect(translatedNodeTerms(disk({ awsElasticBlockStore: { volumeID: 'aws://zone/snap-1' } }))).toBe('untranslatable');
  });
});
