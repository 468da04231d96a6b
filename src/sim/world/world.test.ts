import { expect, test } from 'vitest';
import { Prng } from './prng.ts';
import { SimulationError, simulate } from './world.ts';

const seeds = Array.from({ length: 20 }, (_, seed) => seed);

/** The order in which ten callbacks of the same time run, each with its own promise. */
const orderOf = (seed: number) =>
  simulate(seed, async (world) => {
    const order: string[] = [];
    for (let i = 0; i < 10; i++) {
      world.timers.soon(() => {
        order.push(`soon ${i}`);
        void Promise.resolve().then(() => order.push(`promise ${i}`));
      });
      world.timers.after(0, () => order.push(`timer ${i}`));
    }
    await world.sleep(1);
    return order;
  });

test('only the seed decides the order of callbacks of the same time', async () => {
  expect(await orderOf(1)).toEqual(await orderOf(1));
  const orders = await Promise.all(seeds.map(orderOf));
  expect(new Set(orders.map(String)).size).toBe(seeds.length);
});

test('promises that follow from a callback run before the next callback', async () => {
  for (const seed of seeds) {
    const order = await orderOf(seed);
    for (let i = 0; i < 10; i++) expect(order[order.indexOf(`soon ${i}`) + 1]).toBe(`promise ${i}`);
  }
});

test('time is virtual: it jumps to the next timer, never back, and never past one', async () => {
  for (const seed of seeds) {
    await simulate(seed, async (world) => {
      const begin = world.clock.now();
      const fired: number[] = [];
      const waits = Array.from({ length: 50 }, () => world.random.float() * 86_400_000);
      for (const ms of waits) world.timers.after(ms, () => fired.push(world.clock.monotonic()));
      await world.sleep(86_400_000);
      expect(fired).toEqual([...waits].sort((a, b) => a - b).map((ms) => expect.closeTo(ms, 1) as unknown));
      expect(world.clock.now() - begin).toBe(86_400_000);
    });
  }
});

test('a cancelled callback does not run, even if it is due', async () => {
  for (const seed of seeds) {
    await simulate(seed, async (world) => {
      let ran = 0;
      const cancels = [5, 5, 5].map((ms) => world.timers.after(ms, () => (ran++, cancels.forEach((cancel) => cancel()))));
      await world.sleep(10);
      expect(ran).toBe(1);
    });
  }
});

test('a failure names its seed', async () => {
  const failing = simulate(7, async (world) => {
    await world.sleep(1500);
    throw new Error('the volume is bound twice');
  });
  await expect(failing).rejects.toThrow(/^seed 7, 1500 ms, step 1: the volume is bound twice$/);
});

test('a callback that throws ends the simulation, as an uncaught exception ends a process', async () => {
  const failing = simulate(3, async (world) => {
    world.timers.soon(() => {
      throw new Error('boom');
    });
    await world.sleep(1);
  });
  await expect(failing).rejects.toThrow(SimulationError);
});

test('a body that waits for ever is reported as stuck', async () => {
  await expect(simulate(1, () => new Promise(() => undefined))).rejects.toThrow(/stuck/);
});

test('a simulation that never ends is stopped', async () => {
  const endless = simulate(
    1,
    async (world) => {
      const again = () => world.timers.soon(again);
      again();
      await world.sleep(1);
    },
    { steps: 1000 },
  );
  await expect(endless).rejects.toThrow(/no end after 1000 steps/);
});

test('uuids are of version 4, differ, and repeat with the seed', () => {
  const [a, b] = [new Prng(5), new Prng(5)];
  const uuids = Array.from({ length: 100 }, () => a.uuid());
  expect(uuids.every((uuid) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uuid))).toBe(true);
  expect(new Set(uuids).size).toBe(100);
  expect(uuids).toEqual(Array.from({ length: 100 }, () => b.uuid()));
});

test('numbers of one generator are spread evenly', () => {
  const prng = new Prng(9);
  const counts = new Map<number, number>();
  for (let i = 0; i < 100_000; i++) {
    const number = prng.below(10);
    counts.set(number, (counts.get(number) ?? 0) + 1);
  }
  expect([...counts.keys()].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  for (const count of counts.values()) expect(Math.abs(count - 10_000)).toBeLessThan(500);
});

test('log lines keep their time, level and fields', async () => {
  await simulate(1, async (world) => {
    await world.sleep(20);
    world.log.with({ controller: 'binder' }).warn('refused', { key: 'a' });
    expect(world.lines).toEqual([{ at: 20, level: 'warn', message: 'refused', fields: { controller: 'binder', key: 'a' } }]);
  });
});
