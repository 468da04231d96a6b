import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { available, pv, pvc } from '../../../test/storage/objects.ts';
import { compareQuantities } from '../../api/quantity.ts';
import { type Claim, readClaim } from './claim.ts';
import { matchVolume } from './match.ts';
import { readVolume } from './volume.ts';
import { WaitingClaims } from './waiting-claims.ts';

const labels = fc.record({ zone: fc.constantFrom('a', 'b') }, { requiredKeys: [] });
const modes = fc.subarray(['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'], { minLength: 1 });
const size = fc.constantFrom('1Gi', '2Gi', '2048Mi', '3Gi');

const claims = fc
  .array(fc.record({ size, modes, labels, day: fc.integer({ min: 1, max: 3 }), selects: fc.boolean(), other: fc.boolean() }), { maxLength: 12 })
  .map((drafts) =>
    drafts.map((draft, i) =>
      readClaim(
        pvc(`c${i}`, draft.size, {
          metadata: { name: `c${i}`, creationTimestamp: `2025-01-0${draft.day}T00:00:00Z`, labels: draft.labels },
          spec: {
            accessModes: draft.modes,
            ...(draft.selects ? { selector: { matchLabels: { zone: 'a' } } } : {}),
            ...(draft.other ? { storageClassName: 'other' } : {}),
          },
        }),
      ),
    ),
  );

const volumes = fc.record({ size, modes, labels, restricted: fc.boolean() }).map((draft) =>
  readVolume(
    pv('vol', draft.size, {
      metadata: { name: 'vol', labels: draft.labels, ...(draft.restricted ? { annotations: { 'mooring.dev/claim-selector': 'zone=b' } } : {}) },
      spec: { accessModes: draft.modes },
      status: available,
    }),
  ),
);

const largestThenOldest = (a: Claim, b: Claim) =>
  compareQuantities(b.request, a.request) || (a.created < b.created ? -1 : a.created > b.created ? 1 : 0) || (a.key < b.key ? -1 : 1);

describe('the waiting claims', () => {
  it('that a volume could satisfy come largest first, then oldest, and no others', () => {
    fc.assert(
      fc.property(claims, claims, volumes, fc.array(fc.nat(11)), (before, after, volume, gone) => {
        const waiting = new WaitingClaims();
        for (const claim of [...before, ...after]) waiting.set(claim);
        for (const i of gone) waiting.delete(`default/c${i}`);
        const left = [...after, ...before.slice(after.length)].filter((_, i) => !gone.includes(i));
        const expected = left.filter((claim) => matchVolume(claim, volume) === 'fits').sort(largestThenOldest);
        expect([...waiting.candidatesFor(volume)].map(({ key }) => key)).toEqual(expected.map(({ key }) => key));
        expect(waiting.size).toBe(left.length);
      }),
      { numRuns: 500 },
    );
  });

  it('are not read further than they are asked for', () => {
    const waiting = new WaitingClaims();
    for (let i = 0; i < 1000; i++) waiting.set(readClaim(pvc(`c${i}`, `${i + 1}Mi`)));
    const candidates = waiting.candidatesFor(readVolume(pv('vol', '500Mi', { status: available })));
    expect(candidates.next().value?.key).toBe('default/c499');
    expect(candidates.next().value?.key).toBe('default/c498');
  });
});
