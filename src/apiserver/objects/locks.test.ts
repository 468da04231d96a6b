import { expect, test } from 'vitest';
import { simulate } from '../../sim/world/world.ts';
import { KeyLocks } from './locks.ts';

test('a lock is granted in order, and releasing it twice releases it once', () =>
  simulate(1, async (world) => {
    const locks = new KeyLocks(world.timers);
    const order: number[] = [];
    const enter = async (i: number) => {
      const end = await locks.acquire('k');
      order.push(i);
      await world.sleep(10);
      order.push(-i);
      end();
      end();
    };
    await Promise.all([1, 2, 3].map(enter));
    expect(order).toEqual([1, -1, 2, -2, 3, -3]);
    const end = await locks.acquire('k');
    const other = await locks.acquire('another');
    end();
    other();
  }));

test('a caller that waits too long goes on without the lock, and the others keep theirs', () =>
  simulate(1, async (world) => {
    const locks = new KeyLocks(world.timers);
    const stuck = await locks.acquire('k');
    const began = world.clock.now();
    const impatient = await locks.acquire('k');
    expect(world.clock.now() - began).toBe(1_000);
    impatient();
    let entered = false;
    const patient = locks.acquire('k').then((end) => {
      entered = true;
      end();
    });
    await world.sleep(10);
    expect(entered).toBe(false);
    stuck();
    await patient;
  }));
