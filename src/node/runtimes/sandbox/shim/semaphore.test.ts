import { expect, test } from 'vitest';
import { Semaphore } from './semaphore.ts';

/** Work and timers that the test ends. */
function setUp(atOnce: number) {
  const timers: (() => void)[] = [];
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const after = (_: number, callback: () => void) => {
    timers.push(callback);
    return () => void timers.splice(timers.indexOf(callback), 1);
  };
  const turns = new Semaphore({ after } as never, atOnce);
  const work = (name: string) =>
    turns.run(() => {
      began.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    });
  return { began, work, timers, end: (name: string) => ends.get(name)?.() };
}

test('so many at a time, the next when one is done, in the order in which they came', async () => {
  const { began, work, timers, end } = setUp(2);
  const all = ['a', 'b', 'c', 'd'].map(work);
  expect(began).toEqual(['a', 'b']);
  end('b');
  expect(await all[1]).toBe('b');
  await Promise.resolve();
  expect(began).toEqual(['a', 'b', 'c']);
  for (const name of ['a', 'c']) end(name);
  await Promise.all([all[0], all[2]]);
  await Promise.resolve();
  end('d');
  expect(await all[3]).toBe('d');
  expect(timers).toEqual([]);
});

test('one that fails makes room, and so does one that takes too long, once', async () => {
  const { began, work, timers, end } = setUp(1);
  const turns = [work('slow'), work('next'), work('last')];
  timers[0]?.();
  await Promise.resolve();
  expect(began).toEqual(['slow', 'next']);
  end('slow');
  await turns[0];
  await Promise.resolve();
  expect(began).toEqual(['slow', 'next']);
  end('next');
  await turns[1];
  await Promise.resolve();
  expect(began).toEqual(['slow', 'next', 'last']);
});
