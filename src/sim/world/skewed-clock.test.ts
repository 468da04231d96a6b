import { expect, test } from 'vitest';
import { SkewedClock } from './skewed-clock.ts';
import { simulate } from './world.ts';

test.each([
  { skew: { rate: 2, aheadMs: -600_000 }, during: -540_000, after: 0 },
  { skew: { rate: 0.5, aheadMs: 10_000 }, during: -20_000, after: 0 },
  { skew: { rate: 2, aheadMs: 600_000 }, during: 660_000, after: 660_000 },
])('a clock with $skew is corrected, and does not go back', ({ skew, during, after }) =>
  simulate(1, async (world) => {
    const skewed = new SkewedClock(world.clock, skew);
    const { clock } = skewed.world(world);
    const aheadMs = () => clock.now() - world.clock.now();
    await world.sleep(60_000);
    expect(aheadMs()).toBe(during);
    skewed.correct();
    await world.sleep(60_000);
    expect({ aheadMs: aheadMs(), isAhead: skewed.isAhead }).toEqual({ aheadMs: after, isAhead: after > 0 });
  }),
);
