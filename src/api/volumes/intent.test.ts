import { describe, expect, test } from 'vitest';
import { decode } from '../schema/decode.ts';
import { afterFailure, newIntent, type VolumeIntent, waitsUntil } from './intent.ts';

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

describe('when the next attempt may be made', () => {
  const failed = stored(afterFailure(fails(fresh, true), { message: 'no', final: true }, 60_000));

  test.each([
    { what: 'the second attempt failed just now', now: 60_000, until: 61_000 },
    { what: 'half of the wait is over', now: 60_500, until: 61_000 },
    { what: 'the time has come', now: 61_000, until: undefined },
    { what: 'our clock is behind the one that wrote it down', now: 59_999, until: undefined },
    { what: 'our clock is behind by an hour', now: 60_000 - 3_600_000, until: undefined },
  ])('$what', ({ now, until }) => {
    expect(waitsUntil(failed, now)).toBe(until);
  });

  test.each([
    { what: 'the driver came back after the failure', answersSince: 60_001, until: undefined },
    { what: 'the driver came back before the clock was set back', answersSince: 60_501, until: 61_000 },
    { what: 'the driver came back before it', answersSince: 59_999, until: 61_000 },
    { what: 'the driver failed in the moment of its return', answersSince: 60_000, until: 61_000 },
  ])('$what', ({ answersSince, until }) => {
    expect(waitsUntil(failed, 60_500, answersSince)).toBe(until);
  });
});
