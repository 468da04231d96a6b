import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { available, pv, pvc, reservedFor, uidOf } from '../../../test/storage/objects.ts';
import type { LabelSelector } from '../../api/generated/types.ts';
import { compareQuantities } from '../../api/quantity.ts';
import { countModes } from './access-modes.ts';
import { type Claim, readClaim } from './claim.ts';
import { matchVolume } from './match.ts';
import { isVolumeBoundToClaim, readVolume, type Volume } from './volume.ts';
import { VolumeIndex } from './volume-index.ts';

/** Kubernetes' search, as it is described: group after group, every volume looked at. */
function searchAll(claim: Claim, volumes: readonly Volume[], reservedOnly: boolean): Volume | undefined {
  const fitting = volumes.filter((volume) => matchVolume(claim, volume) === 'fits' && (!reservedOnly || isVolumeBoundToClaim(volume, claim)));
  const rank = (volume: Volume) => [countModes(volume.accessModes), isVolumeBoundToClaim(volume, claim) ? 0 : 1] as const;
  const order = (a: Volume, b: Volume) =>
    rank(a)[0] - rank(b)[0] ||
    rank(a)[1] - rank(b)[1] ||
    compareQuantities(a.object.spec.capacity?.['storage'] ?? '0', b.object.spec.capacity?.['storage'] ?? '0') ||
    (a.name < b.name ? -1 : 1);
  return fitting.sort(order)[0];
}

const modes = fc.subarray(['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'], { minLength: 1 });
const size = fc.constantFrom('1Gi', '2Gi', '2048Mi', '3Gi', '1500M');
const labels = fc.record({ zone: fc.constantFrom('a', 'b'), tier: fc.constantFrom('fast', 'slow') }, { requiredKeys: [] });
const rarely = <T>(value: T) => fc.option(fc.constant(value), { freq: 6, nil: undefined });
const claimRef = fc.option(
  fc.constantFrom(reservedFor('data'), { ...reservedFor('data'), uid: uidOf('pvc', 'data') }, { ...reservedFor('data'), uid: 'gone' }, reservedFor('other')),
  { freq: 3, nil: undefined },
);

const volumes = fc
  .array(
    fc.record({
      size,
      modes,
      labels,
      claimRef,
      block: rarely(true),
      gold: rarely(true),
      other: rarely(true),
      restricted: rarely('zone=a'),
      phase: fc.constantFrom('Available', 'Available', 'Available', 'Pending'),
    }),
    { maxLength: 12 },
  )
  .map((drafts) =>
    drafts.map((draft, i) =>
      readVolume(
        pv(`v${i}`, draft.size, {
          metadata: {
            name: `v${i}`,
            labels: draft.labels,
            ...(draft.restricted === undefined ? {} : { annotations: { 'mooring.dev/claim-selector': draft.restricted } }),
          },
          spec: {
            accessModes: draft.modes,
            ...(draft.claimRef === undefined ? {} : { claimRef: draft.claimRef }),
            ...(draft.block === undefined ? {} : { volumeMode: 'Block' }),
            ...(draft.gold === undefined ? {} : { volumeAttributesClassName: 'gold' }),
            ...(draft.other === undefined ? {} : { storageClassName: 'other' }),
          },
          status: { phase: draft.phase },
        }),
      ),
    ),
  );

const selector = fc.option(
  fc.constantFrom<LabelSelector>(
    { matchLabels: { zone: 'a' } },
    { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }] },
    {
      matchExpressions: [
        { key: 'zone', operator: 'Exists' },
        { key: 'tier', operator: 'NotIn', values: ['slow'] },
      ],
    },
    { matchExpressions: [{ key: 'zone', operator: 'Nonsense' }] },
  ),
  { nil: undefined },
);

const claims = fc.record({ size, modes, labels, selector }).map((draft) =>
  readClaim(
    pvc('data', draft.size, {
      metadata: { name: 'data', labels: draft.labels },
      spec: { accessModes: draft.modes, ...(draft.selector === undefined ? {} : { selector: draft.selector }) },
    }),
  ),
);

describe('the index of volumes', () => {
  it('finds the volume that a search through all of them finds', () => {
    fc.assert(
      fc.property(volumes, claims, fc.boolean(), (all, claim, reservedOnly) => {
        const index = new VolumeIndex();
        for (const volume of all) index.set(volume);
        expect(index.bestFit(claim, { reservedOnly })?.name).toBe(searchAll(claim, all, reservedOnly)?.name);
      }),
      { numRuns: 500 },
    );
  });

  it('still does after volumes changed and went', () => {
    fc.assert(
      fc.property(volumes, volumes, fc.array(fc.nat(11)), claims, (before, after, gone, claim) => {
        const index = new VolumeIndex();
        for (const volume of [...before, ...after]) index.set(volume);
        for (const i of gone) index.delete(`v${i}`);
        const left = [...after, ...before.slice(after.length)].filter((_, i) => !gone.includes(i));
        expect([...index.all()].map(({ name }) => name).sort()).toEqual(left.map(({ name }) => name).sort());
        expect(index.bestFit(claim, { reservedOnly: false })).toBe(searchAll(claim, left, false));
      }),
      { numRuns: 300 },
    );
  });

  it('prefers a free volume with fewer access modes over one that is reserved for the claim', () => {
    const index = new VolumeIndex();
    index.set(
      readVolume(pv('reserved', '1Gi', { spec: { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'], claimRef: reservedFor('data') }, status: available })),
    );
    index.set(readVolume(pv('free', '9Gi', { status: available })));
    expect(index.bestFit(readClaim(pvc('data', '1Gi')), { reservedOnly: false })?.name).toBe('free');
    expect(index.bestFit(readClaim(pvc('data', '1Gi')), { reservedOnly: true })?.name).toBe('reserved');
  });

  it('lists the volumes whose claimRef names a claim', () => {
    const index = new VolumeIndex();
    index.set(readVolume(pv('a', '1Gi', { spec: { claimRef: reservedFor('data') } })));
    expect([...index.withClaimRef('default/data')].map(({ name }) => name)).toEqual(['a']);
    index.set(readVolume(pv('a', '1Gi')));
    expect([...index.withClaimRef('default/data')]).toEqual([]);
  });
});
