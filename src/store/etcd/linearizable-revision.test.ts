import { expect, test } from 'vitest';
import { LinearizableRevision } from './linearizable-revision.ts';

/** Requests are answered when the test says so. */
function asked() {
  const answers: ((revision: number) => void)[] = [];
  const revision = new LinearizableRevision(() => new Promise((resolve) => void answers.push(resolve)));
  return { revision, answers };
}

test('a request that is under way may be answered already: later readers share the next one', async () => {
  const { revision, answers } = asked();
  const first = revision.read();
  const later = [revision.read(), revision.read()];
  expect(answers.length).toBe(1);
  answers[0]?.(5);
  expect(await first).toBe(5);
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.(7);
  expect(await Promise.all(later)).toEqual([7, 7]);
  expect(answers.length).toBe(2);
});

test('a request that fails is not shared with later readers', async () => {
  let calls = 0;
  const revision = new LinearizableRevision(() => (++calls === 1 ? Promise.reject(new Error('away')) : Promise.resolve(calls)));
  const first = revision.read();
  const later = revision.read();
  await expect(first).rejects.toThrow('away');
  expect(await later).toBe(2);
});
