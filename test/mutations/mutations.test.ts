/** Bugs on purpose: every patch still applies, and some are caught here and now. `npm run mutations` catches them all. */
import { expect, test } from 'vitest';
import { hunt, misfits, readPatches } from '../../scripts/mutations.mjs';

const patches = readPatches();

test('there are more than twenty, each with a number of its own, and says what it breaks and who should notice', () => {
  expect(patches.length).toBeGreaterThanOrEqual(20);
  expect(new Set(patches.map(({ number }) => number)).size).toBe(patches.length);
});

test('each applies to the source as it is', async () => {
  expect(await misfits(patches)).toEqual([]);
});

test.each(['03', '15', '16'])('number %s is caught within three seeds', async (number) => {
  const patch = patches.find((each) => each.number === number);
  if (patch === undefined) throw new Error(`there is no number ${number}`);
  expect(await hunt(patch, { to: 3 })).toMatchObject({ invariant: patch.caughtBy });
});
