import { describe, expect, test } from 'vitest';
import { simulate } from '../../sim/world/world.ts';
import { Deadlines } from './deadlines.ts';

describe('deadlines', () => {
  test('each is told at its time, whenever it was set', () =>
    simulate(1, async (world) => {
      const deadlines = new Deadlines(world, 1_000);
      const told: [string, number][] = [];
      const set = (name: string) => deadlines.set(() => void told.push([name, world.clock.monotonic()]));
      set('a');
      set('b');
      await world.sleep(400);
      set('c');
      await world.sleep(5_000);
      set('d');
      await world.sleep(5_000);
      expect(told).toEqual([
        ['a', 1_000],
        ['b', 1_000],
        ['c', 1_400],
        ['d', 6_400],
      ]);
    }));

  test('what is taken back is not told, and the others still are', () =>
    simulate(1, async (world) => {
      const deadlines = new Deadlines(world, 1_000);
      const told: string[] = [];
      const cancel = deadlines.set(() => void told.push('a'));
      await world.sleep(300);
      deadlines.set(() => void told.push('b'));
      cancel();
      await world.sleep(900);
      expect(told).toEqual([]);
      await world.sleep(200);
      expect(told).toEqual(['b']);
    }));

  test('one that sets the next is not told of it at once', () =>
    simulate(1, async (world) => {
      const deadlines = new Deadlines(world, 1_000);
      let told = 0;
      const again = (): void => {
        told += 1;
        deadlines.set(again);
      };
      deadlines.set(again);
      await world.sleep(3_500);
      expect(told).toBe(3);
    }));
});
