import { describe, expect, test } from 'vitest';
import { simulate } from '../../sim/world/world.ts';
import { finishedInTime, longestEndMs, unendedOf, unendedText } from './unended-processes.ts';

describe('processes that do not end', () => {
  test('the wait has an end', async () => {
    await simulate(1, async (world) => {
      const begin = world.clock.monotonic();
      expect(await finishedInTime(new Promise(() => undefined), { world, progress: () => 0 })).toBeUndefined();
      expect(world.clock.monotonic() - begin).toBe(longestEndMs);
    });
  });

  test('as long as some of them end, the others are waited for', async () => {
    await simulate(1, async (world) => {
      let ended = 0;
      const task = new Promise<string>((resolve) => {
        const endOne = (): void => {
          ended++;
          if (ended === 5) resolve('all');
          else world.timers.after(longestEndMs - 1000, endOne);
        };
        world.timers.after(longestEndMs - 1000, endOne);
      });
      expect(await finishedInTime(task, { world, progress: () => ended })).toEqual({ value: 'all' });
    });
  });

  test('a failure is handed on', async () => {
    await simulate(1, async (world) => {
      await expect(finishedInTime(Promise.reject(new Error('no shim')), { world, progress: () => 0 })).rejects.toThrow('no shim');
    });
  });

  test('they are named; zombies and processes that are gone are not', () => {
    const table = new Map([
      [7, '7 (dd) D 1 7 7 0'],
      [8, '8 (a (b) S) R 1 8 8 0'],
      [9, '9 (sh) Z 1 9 9 0'],
    ]);
    const unended = unendedOf([7, 8, 9, 10], (pid) => table.get(pid));
    expect(unended).toEqual([
      { pid: 7, program: 'dd', state: 'D' },
      { pid: 8, program: 'a (b) S', state: 'R' },
    ]);
    expect(unendedText(unended)).toBe(
      '30 s after SIGKILL there is still process 7 (dd) in state D, process 8 (a (b) S) in state R; state D: the kernel waits for a disk or a server, and ends the process when that answers',
    );
    expect(unendedText(Array.from({ length: 12 }, (_, pid) => ({ pid, program: 'x', state: 'S' })))).toMatch(/process 9 \(x\) in state S and 2 more$/);
  });
});
