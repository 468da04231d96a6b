import { describe, expect, test } from 'vitest';
import { decode } from '../../api/schema/decode.ts';
import { afterFailure, newIntent, type VolumeIntent } from './intent.ts';

const fresh = newIntent('pvc-1', { operation: 'Scrub', volume: { name: 'pvc-1', uid: 'u' } });

/** As it comes back from the server: what is false is not written. */
const stored = (intent: VolumeIntent): VolumeIntent => decode<VolumeIntent>('VolumeIntent', JSON.parse(JSON.stringify(intent))).object;

const fails = (intent: VolumeIntent, ...ends: readonly boolean[]): VolumeIntent =>
  ends.reduce((before, final) => stored(afterFailure(before, { message: 'no', final }, 0)), intent);

describe('whether attempts that failed left nothing behind', () => {
  test.each([
    { ends: [true], certain: true },
    { ends: [true, true], certain: true },
    { ends: [false], certain: false },
    { ends: [false, true], certain: false },
    { ends: [true, false, true, true], certain: false },
  ])('after $ends: $certain', ({ ends, certain }) => {
    expect(fails(fresh, ...ends).status.final ?? false).toBe(certain);
  });

  test('is known of what was made, refused and deleted again, however often that was tried', () => {
    const refused: VolumeIntent = { ...fresh, status: { phase: 'Refused', attempts: 2, final: false, message: 'no' } };
    expect(fails(refused, true).status.final).toBe(true);
  });
});
