import fc from 'fast-check';
import { expect, test } from 'vitest';
import { simulate } from '../sim/world/world.ts';
import { WorkQueue } from './work-queue.ts';

/** Outside of a simulation that needs time: nothing is ever due. */
const still = { timers: { after: () => () => undefined, soon: () => undefined }, clock: { now: () => 0, monotonic: () => 0 } };

test('a key that is added twice is looked at once', () => {
  const queue = new WorkQueue(still);
  queue.add('a');
  queue.add('a');
  expect(queue.take()).toBe('a');
  expect(queue.take()).toBeUndefined();
});

test('a key that is added while it is being looked at is looked at again, and not by two at a time', () => {
  const queue = new WorkQueue(still);
  queue.add('a');
  queue.take();
  queue.add('a');
  queue.add('a');
  expect(queue.take()).toBeUndefined();
  queue.done('a');
  expect(queue.take()).toBe('a');
  queue.done('a');
  expect(queue.take()).toBeUndefined();
});

test('a key that comes back takes its place behind those that wait', () => {
  const queue = new WorkQueue(still);
  for (const key of ['a', 'b', 'c']) queue.add(key);
  const order: (string | undefined)[] = [];
  for (let i = 0; i < 6; i++) {
    const key = queue.take();
    order.push(key);
    if (key === undefined) continue;
    queue.add(key);
    queue.done(key);
  }
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
});

test('of several delayed adds the earliest counts, once', async () => {
  await simulate(1, async (world) => {
    const queue = new WorkQueue(world);
    const taken: number[] = [];
    queue.onReady = () => {
      for (let key = queue.take(); key !== undefined; key = queue.take()) {
        taken.push(world.clock.monotonic());
        queue.done(key);
      }
    };
    queue.addAfter('a', 300);
    queue.addAfter('a', 100);
    queue.addAfter('a', 200);
    await world.sleep(1000);
    expect(taken).toEqual([100]);
  });
});

test('a key that fails waits twice as long each time, up to a limit, and from the start again once it was forgotten', () => {
  const queue = new WorkQueue(still, { firstMs: 5, longestMs: 60 });
  expect([1, 2, 3, 4, 5, 6].map(() => queue.retry('a'))).toEqual([5, 10, 20, 40, 60, 60]);
  expect(queue.retry('b')).toBe(5);
  queue.forget('a');
  expect(queue.retry('a')).toBe(5);
});

test('a thousand failures do not overflow the waiting time', () => {
  const queue = new WorkQueue(still);
  for (let i = 0; i < 1000; i++) queue.retry('a');
  expect(queue.retry('a')).toBe(60_000);
});

test('after stop nothing is taken, nothing is added, no timer is left', async () => {
  await simulate(1, async (world) => {
    const queue = new WorkQueue(world);
    let ready = 0;
    queue.onReady = () => ready++;
    queue.add('a');
    queue.take();
    queue.add('b');
    queue.addAfter('c', 10);
    queue.stop();
    expect(queue.take()).toBeUndefined();
    queue.add('d');
    queue.retry('a');
    queue.done('a');
    await world.sleep(100_000);
    expect(ready).toBe(2);
    expect({ size: queue.size, processing: queue.processing }).toEqual({ size: 0, processing: 0 });
  });
});

type Op = { op: 'add' | 'take' | 'done' | 'retry'; key: string } | { op: 'addAfter'; key: string; ms: number } | { op: 'sleep'; ms: number };
const key = fc.constantFrom('a', 'b', 'c', 'd');
const ops = fc.array(
  fc.oneof(
    fc.record({ op: fc.constantFrom('add' as const, 'take' as const, 'done' as const, 'retry' as const), key }),
    fc.record({ op: fc.constant('addAfter' as const), key, ms: fc.nat(50) }),
    fc.record({ op: fc.constant('sleep' as const), ms: fc.nat(60) }),
  ),
  { maxLength: 60 },
);

test('whatever happens in whatever order: no key is processed twice at a time, and none that was added is lost', async () => {
  await fc.assert(
    fc.asyncProperty(ops, fc.nat(), (steps, seed) => simulate(seed, (world) => playAgainstModel(new WorkQueue(world), steps, world.sleep.bind(world)))),
    { numRuns: 150 },
  );
});

/** The model: what is owed is what was added since it was last taken. */
async function playAgainstModel(queue: WorkQueue<string>, steps: readonly Op[], sleep: (ms: number) => Promise<void>): Promise<void> {
  const owed = new Set<string>();
  const processing = new Set<string>();
  const take = () => {
    const taken = queue.take();
    if (taken === undefined) return false;
    expect(processing.has(taken)).toBe(false);
    processing.add(taken);
    owed.delete(taken);
    return true;
  };
  for (const step of steps) {
    if (step.op === 'take') take();
    else if (step.op === 'sleep') await sleep(step.ms);
    else if (step.op === 'done') {
      if (processing.delete(step.key)) queue.done(step.key);
    } else {
      owed.add(step.key);
      if (step.op === 'addAfter') queue.addAfter(step.key, step.ms);
      else queue[step.op](step.key);
    }
  }
  await sleep(100_000);
  for (const held of processing) {
    processing.delete(held);
    queue.done(held);
  }
  while (take());
  expect([...owed]).toEqual([]);
}
