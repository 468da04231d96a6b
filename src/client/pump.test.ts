import { expect, test } from 'vitest';
import { Pump } from './pump.ts';

function worldByHand() {
  const soon: (() => void)[] = [];
  let time = 0;
  return {
    clock: { now: () => 0, monotonic: () => time },
    timers: {
      soon: (run: () => void) => void soon.push(run),
      after: () => () => undefined,
    },
    pass: (ms: number) => (time += ms),
    turn: () => {
      for (const run of soon.splice(0)) run();
      return soon.length;
    },
  };
}

test('steps start from the event loop, however often they are scheduled, and only once the pump has started', () => {
  const world = worldByHand();
  let left = 3;
  const pump = new Pump(world, () => left > 0 && left-- > 0, { steps: 10 });
  pump.schedule();
  expect(world.turn()).toBe(0);
  pump.start();
  pump.schedule();
  expect(left).toBe(3);
  world.turn();
  expect(left).toBe(0);
});

test.each([
  ['after so many steps', { steps: 2 }, 2],
  ['after so long', { steps: 100, ms: 5 }, 6],
])('a run ends %s, and goes on in the next turn', (_, limit, expected) => {
  const world = worldByHand();
  let steps = 0;
  const pump = new Pump(world, () => (world.pass(1), steps++ < 50), limit);
  pump.start();
  expect(world.turn()).toBe(1);
  expect(steps).toBe(expected);
  pump.stop();
  world.turn();
  expect(steps).toBe(expected);
});
