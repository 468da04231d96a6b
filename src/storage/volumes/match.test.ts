import { describe, expect, it } from 'vitest';
import { available, pv, pvc, reservedFor, uidOf } from '../../../test/storage/objects.ts';
import { readClaim } from './claim.ts';
import { matchRequestedVolume, matchVolume, rejectionsOf } from './match.ts';
import { readVolume } from './volume.ts';

const claim = (more: Parameters<typeof pvc>[2] = {}) => readClaim(pvc('data', '2Gi', more));
const volume = (more: Parameters<typeof pv>[2] = {}) => readVolume(pv('vol', '2Gi', { status: available, ...more }));
const claimSelector = (text: string) => ({ metadata: { annotations: { 'mooring.dev/claim-selector': text } } });

describe('a volume and a claim that names none', () => {
  it('fit if everything agrees', () => {
    expect(matchVolume(claim(), volume())).toBe('fits');
  });

  it.each([
    ['claimedByAnother', volume({ spec: { claimRef: reservedFor('other') } }), claim()],
    ['claimedByAnother', volume({ spec: { claimRef: { ...reservedFor('data'), uid: 'another' } } }), claim()],
    ['capacity', volume({ spec: { capacity: { storage: '2047Mi' } } }), claim()],
    ['capacity', volume({ spec: { capacity: {} } }), claim()],
    ['capacity', volume({ spec: { capacity: { storage: 'much' } } }), claim()],
    ['volumeMode', volume({ spec: { volumeMode: 'Block' } }), claim()],
    ['attributesClass', volume({ spec: { volumeAttributesClassName: 'gold' } }), claim()],
    ['attributesClass', volume(), claim({ spec: { volumeAttributesClassName: 'gold' } })],
    ['deleting', volume({ metadata: { name: 'vol', deletionTimestamp: '2025-01-01T00:00:00Z' } }), claim()],
    ['phase', volume({ status: { phase: 'Released' } }), claim()],
    ['selector', volume(), claim({ spec: { selector: { matchLabels: { tier: 'fast' } } } })],
    ['selector', volume(), claim({ spec: { selector: { matchExpressions: [{ key: 'tier', operator: 'Near' }] } } })],
    ['claimSelector', volume(claimSelector('team=storage')), claim()],
    ['claimSelector', volume(claimSelector('team in (')), claim()],
    ['class', volume({ spec: { storageClassName: 'other' } }), claim()],
    ['accessModes', volume(), claim({ spec: { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] } })],
    ['accessModes', volume({ spec: { accessModes: ['Sometimes'] } }), claim({ spec: { accessModes: ['Sometimes'] } })],
  ])('do not fit: %s', (rule, candidate, asking) => {
    expect(matchVolume(asking, candidate)).toMatchObject({ rule });
  });

  it('fit in a larger volume, with more modes, with the labels that are asked for', () => {
    const rich = volume({
      metadata: { name: 'vol', labels: { tier: 'fast' }, annotations: { 'mooring.dev/claim-selector': 'team=storage' } },
      spec: { capacity: { storage: '1Ti' }, accessModes: ['ReadOnlyMany', 'ReadWriteOnce'] },
    });
    const asking = claim({ metadata: { name: 'data', labels: { team: 'storage' } }, spec: { selector: { matchLabels: { tier: 'fast' } } } });
    expect(matchVolume(asking, rich)).toBe('fits');
  });

  it('say what was found and what would be right, for each rule that failed', () => {
    const rejections = rejectionsOf(claim(), volume({ spec: { capacity: { storage: '1Gi' }, storageClassName: 'other' } }));
    expect(rejections).toEqual([
      { rule: 'capacity', found: '1Gi', wanted: 'at least 2Gi' },
      { rule: 'class', found: '"other"', wanted: '"class"' },
    ]);
  });

  it('fit also if a user deletes the volume after it was bound to the claim, or provisioned for it and kept by the finalizer, and not if it was only reserved', () => {
    const going = (phase: string, uid: string, finalizers: string[] = []) => {
      const metadata = { name: 'vol', deletionTimestamp: '2025-01-01T00:00:00Z', finalizers };
      return volume({ metadata, spec: { claimRef: { ...reservedFor('data'), uid } }, status: { phase } });
    };
    expect(matchVolume(claim(), going('Bound', uidOf('pvc', 'data')))).toBe('fits');
    const kept = ['external-provisioner.volume.kubernetes.io/finalizer'];
    expect(matchVolume(claim(), going('Pending', uidOf('pvc', 'data'), kept))).toBe('fits');
    expect(matchVolume(claim(), going('Pending', '', kept))).toMatchObject({ rule: 'deleting' });
    expect(matchVolume(claim(), going('Released', uidOf('pvc', 'data'), kept))).toMatchObject({ rule: 'deleting' });
    expect(matchVolume(claim(), going('Available', uidOf('pvc', 'data')))).toMatchObject({ rule: 'deleting' });
    expect(matchVolume(claim(), going('Available', ''))).toMatchObject({ rule: 'deleting' });
  });

  it('fit whatever class, labels and phase it has, once its claimRef names the claim', () => {
    const pointing = { spec: { claimRef: reservedFor('data'), storageClassName: 'other' }, status: { phase: 'Pending' } };
    const asking = claim({ spec: { selector: { matchLabels: { tier: 'fast' } } } });
    expect(matchVolume(asking, volume(pointing))).toBe('fits');
    expect(matchVolume(asking, volume({ ...pointing, spec: { ...pointing.spec, claimRef: { ...reservedFor('data'), uid: uidOf('pvc', 'data') } } }))).toBe(
      'fits',
    );
    expect(matchVolume(asking, volume({ ...pointing, spec: { ...pointing.spec, capacity: { storage: '1Gi' } } }))).toMatchObject({ rule: 'capacity' });
  });

  it('are looked at with a node only by the scheduler', () => {
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }] } };
    expect(matchVolume(claim(), volume({ spec: { nodeAffinity } }))).toBe('fits');
    expect(matchVolume(claim(), volume({ spec: { nodeAffinity } }), { node: { labels: { zone: 'a' } } })).toBe('fits');
    expect(matchVolume(claim(), volume({ spec: { nodeAffinity } }), { node: { name: 'n1', labels: { zone: 'b' } } })).toMatchObject({ rule: 'nodeAffinity' });
  });
});

describe('a claim and the volume that it names', () => {
  it.each([
    [
      'the volume is marked for deletion "vol"',
      volume({ metadata: { name: 'vol', deletionTimestamp: '2025-01-01T00:00:00Z' }, spec: { capacity: { storage: '1Gi' } } }),
    ],
    ['requested PV is too small', volume({ spec: { capacity: { storage: '1Gi' }, storageClassName: 'other' } })],
    ['storageClassName does not match', volume({ spec: { storageClassName: 'other', volumeAttributesClassName: 'gold' } })],
    ['volumeAttributesClassName does not match', volume({ spec: { volumeAttributesClassName: 'gold', volumeMode: 'Block' } })],
    ['incompatible volumeMode', volume({ spec: { volumeMode: 'Block', accessModes: ['ReadOnlyMany'] } })],
    ['incompatible accessMode', volume({ spec: { accessModes: ['ReadOnlyMany'] } })],
    ["the volume's claim selector does not select this claim", volume(claimSelector('team=storage'))],
  ])('do not fit: %s', (text, requested) => {
    expect(matchRequestedVolume(claim(), requested)).toMatchObject({ text });
  });

  it('fit whatever the selector and the phase say', () => {
    expect(matchRequestedVolume(claim({ spec: { selector: { matchLabels: { tier: 'fast' } } } }), volume({ status: { phase: 'Pending' } }))).toBe('fits');
  });

  it('are compared in whole bytes, where a search compares exactly', () => {
    const [asking, offered] = [readClaim(pvc('data', '1000500m')), volume({ spec: { capacity: { storage: '1000400m' } } })];
    expect(matchRequestedVolume(asking, offered)).toBe('fits');
    expect(matchVolume(asking, offered)).toMatchObject({ rule: 'capacity' });
  });
});
