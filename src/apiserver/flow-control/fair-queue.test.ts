import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairQueue, type FairQueueOptions, type Flow } from './fair-queue.ts';

/** A queue, and what was decided in it, in order. Nothing happens by itself: `turn` lets what is due happen. */
function open(options: Partial<FairQueueOptions>) {
  const due: (() => void)[] = [];
  const seated: string[] = [];
  const refused: string[] = [];
  const queue = new FairQueue({ seats: 4, waiting: 100, perFlow: 100, soon: (callback) => void due.push(callback), refused: () => undefined, ...options });
  return {
    queue,
    seated,
    refused,
    ask: (name: string, label: string): { readonly flow: Flow; readonly giveUp: () => boolean } | undefined => {
      let flow: Flow;
      try {
        flow = queue.arrive(name);
      } catch {
        refused.push(label);
        return undefined;
      }
      try {
        const place = queue.enter(flow);
        if (place === undefined) seated.push(label);
        else
          place.seated.then(
            () => void seated.push(label),
            () => {
              refused.push(label);
              queue.depart(flow);
            },
          );
        return { flow, giveUp: place?.giveUp ?? (() => false) };
      } catch {
        refused.push(label);
        queue.depart(flow);
        return undefined;
      }
    },
    done: (flow: Flow): void => {
      queue.leave(flow);
      queue.depart(flow);
    },
    turn: async (): Promise<void> => {
      for (const callback of due.splice(0)) callback();
      await new Promise<void>((resolve) => setImmediate(resolve));
    },
  };
}

describe('seats', () => {
  test('are there for the asking while there are any', () => {
    const { ask, seated, queue } = open({});
    ask('a', 'a1');
    ask('b', 'b1');
    expect(seated).toEqual(['a1', 'b1']);
    expect(queue.waiting).toBe(0);
  });

  test('are never all of one user', async () => {
    const { ask, seated, turn } = open({});
    for (let i = 1; i <= 10; i++) ask('a', `a${i}`);
    ask('b', 'b1');
    await turn();
    expect(seated).toEqual(['a1', 'a2', 'a3', 'b1']);
  });

  test('go to users in turn', async () => {
    const { ask, seated, turn, done } = open({ seats: 1 });
    const first = ask('a', 'a1');
    for (let i = 2; i <= 5; i++) ask('a', `a${i}`);
    ask('b', 'b1');
    ask('c', 'c1');
    if (first === undefined) throw new Error('refused');
    done(first.flow);
    await turn();
    expect(seated).toEqual(['a1', 'a2']);
    done(first.flow);
    await turn();
    expect(seated.at(-1)).toBe('b1');
  });

  test('with a pacer one starts at a time, also with an empty queue', async () => {
    const nexts: (() => void)[] = [];
    const { ask, seated, turn, queue, done } = open({ pacer: { started: (next) => void nexts.push(next) } });
    const first = ask('a', 'a1');
    for (const name of ['b', 'c', 'd', 'e', 'f']) ask(name, `${name}1`);
    await turn();
    expect(seated).toEqual(['a1']);
    for (const expected of [
      ['a1', 'b1'],
      ['a1', 'b1', 'c1'],
      ['a1', 'b1', 'c1', 'd1'],
    ]) {
      nexts.shift()?.();
      await turn();
      expect(seated).toEqual(expected);
    }
    // All four seats are taken: neither a turn nor a seat alone lets the next one begin.
    nexts.shift()?.();
    await turn();
    expect(seated).toHaveLength(4);
    if (first !== undefined) done(first.flow);
    await turn();
    expect(seated).toEqual(['a1', 'b1', 'c1', 'd1', 'e1']);
    expect(queue.waiting).toBe(1);
  });
});

describe('when too many wait', () => {
  test('the last of the longest queue goes, not the newcomer', async () => {
    const { ask, refused, turn, queue } = open({ seats: 1, waiting: 3 });
    for (let i = 1; i <= 4; i++) ask('a', `a${i}`);
    ask('b', 'b1');
    await turn();
    expect(refused).toEqual(['a4']);
    expect(queue.waiting).toBe(3);
  });

  test('who has the longest queue is refused', () => {
    const { ask, refused } = open({ seats: 1, waiting: 3 });
    for (let i = 1; i <= 5; i++) ask('a', `a${i}`);
    expect(refused).toEqual(['a5']);
  });

  test('a user with too many requests is refused, others are not', () => {
    const { ask, refused } = open({ perFlow: 2 });
    for (let i = 1; i <= 3; i++) ask('a', `a${i}`);
    ask('b', 'b1');
    expect(refused).toEqual(['a3']);
  });
});

test('who gives up while waiting leaves no trace; who has a seat keeps it', async () => {
  const { ask, seated, refused, turn, done, queue } = open({ seats: 1 });
  const first = ask('a', 'a1');
  const second = ask('b', 'b1');
  expect(first?.giveUp()).toBe(false);
  expect(second?.giveUp()).toBe(true);
  if (first === undefined) throw new Error('refused');
  done(first.flow);
  await turn();
  expect({ seated, refused, waiting: queue.waiting }).toEqual({ seated: ['a1'], refused: ['b1'], waiting: 0 });
  expect(second?.giveUp()).toBe(false);
});

test('in any order of events: no more requests run than there are seats, none is lost, and none waits while seats are free', async () => {
  const step = fc.record({
    user: fc.constantFrom('a', 'b', 'c'),
    next: fc.constantFrom('stay', 'finish', 'turn', 'giveUp'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const queueing = open({ seats: 8, waiting: 10, perFlow: 12 });
      const asked: { flow: Flow; label: string; giveUp: () => boolean }[] = [];
      const finish = (): void => {
        const at = asked.findIndex(({ label }) => queueing.seated.includes(label));
        const [over] = at < 0 ? [] : asked.splice(at, 1);
        if (over !== undefined) queueing.done(over.flow);
      };
      for (const [i, { user, next }] of steps.entries()) {
        const got = queueing.ask(user, `${user}${i}`);
        if (got !== undefined) asked.push({ ...got, label: `${user}${i}` });
        if (next === 'finish') finish();
        if (next === 'turn') await queueing.turn();
        if (next === 'giveUp') asked.at(-1)?.giveUp();
        const held = asked.filter(({ label }) => queueing.seated.includes(label)).length;
        expect(held).toBeLessThanOrEqual(8);
        expect(queueing.queue.waiting).toBeLessThanOrEqual(10);
      }
      for (let i = 0; i < 3 * steps.length + 3; i++) {
        await queueing.turn();
        finish();
      }
      expect(queueing.queue.waiting).toBe(0);
      expect(queueing.seated.length + queueing.refused.length).toBe(steps.length);
    }),
    { numRuns: 60 },
  );
});
