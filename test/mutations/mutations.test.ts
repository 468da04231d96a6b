/** Bugs on purpose: every mutation still applies, and some are caught here. `npm run mutations` catches them all. */
import { expect, test } from 'vitest';
import { hunt, misfits, readMutations } from '../../scripts/mutations.mjs';

const mutations = readMutations();

test('there are more than twenty, each has its own number and says what it breaks and which invariant should notice', () => {
  expect(mutations.length).toBeGreaterThanOrEqual(20);
  expect(new Set(mutations.map(({ number }) => number)).size).toBe(mutations.length);
  for (const mutation of mutations) {
    expect(mutation).toEqual({
      ...mutation,
      number: expect.stringMatching(/^\d\d$/) as string,
      breaks: expect.stringMatching(/./) as string,
      caughtBy: expect.stringMatching(/./) as string,
    });
    expect(mutation.edits.length).toBeGreaterThan(0);
  }
});

test('each piece of code that a mutation replaces occurs exactly once', () => {
  expect(misfits(mutations)).toEqual([]);
});

test.each(['03', '15', '16'])('number %s is caught within three seeds', async (number) => {
  const mutation = mutations.find((each) => each.number === number);
  if (mutation === undefined) throw new Error(`there is no number ${number}`);
  expect(await hunt(mutation, { to: 3 })).toMatchObject({ invariant: mutation.caughtBy });
});
