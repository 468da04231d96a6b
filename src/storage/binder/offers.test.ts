import { describe, expect, it } from 'vitest';
import { available, pv, pvc } from '../../../test/storage/objects.ts';
import { readClaim } from '../volumes/claim.ts';
import { readVolume } from '../volumes/volume.ts';
import { Offers } from './offers.ts';

const volume = (name: string) => readVolume(pv(name, '1Gi', { status: available }));
const claims = ['a', 'b'].map((name) => readClaim(pvc(name, '1Gi')));

describe('offers', () => {
  it('go to one claim each: the first who has none yet', () => {
    const offers = new Offers();
    expect(offers.make(volume('v1'), claims)?.name).toBe('a');
    expect(offers.make(volume('v2'), claims)?.name).toBe('b');
    expect(offers.make(volume('v3'), claims)).toBeUndefined();
  });

  it('come back when the claim waits no longer, and can then be made to the next', () => {
    const offers = new Offers();
    offers.make(volume('v1'), claims);
    expect(offers.answered('default/a')).toBe('v1');
    expect(offers.answered('default/a')).toBeUndefined();
    expect(offers.make(volume('v1'), claims.slice(1))?.name).toBe('b');
  });

  it('made anew replace the old', () => {
    const offers = new Offers();
    offers.make(volume('v1'), claims);
    expect(offers.make(volume('v1'), claims)?.name).toBe('a');
    offers.withdraw('v1');
    expect(offers.answered('default/a')).toBeUndefined();
  });
});
