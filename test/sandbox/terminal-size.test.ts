import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { terminalSize } from '../../src/node/runtimes/sandbox/shim/terminal-size.ts';
import type { World } from '../../src/world/world.ts';

test('a terminal gets the last size, however late it exists', async () => {
  let looks = 0;
  let onLook = (): void => undefined;
  const after = (_: number, callback: () => void) => {
    looks++;
    onLook();
    const timer = setTimeout(callback, 1);
    return () => clearTimeout(timer);
  };
  const looked = (times: number) =>
    new Promise<void>((resolve) => {
      onLook = () => (looks >= times ? resolve() : undefined);
      onLook();
    });
  const program = 'until [ "$(stty size)" = "45 123" ]; do sleep 0.02; done';
  const child = spawn('sh', ['-c', 'read go; exec script -qefc "$0" /dev/null', program], { stdio: ['pipe', 'ignore', 'inherit'], detached: true });
  const ended = new Promise((resolve) => void child.once('exit', resolve));
  const size = terminalSize({ timers: { after } } as unknown as World, () => child.pid);
  size.set({ width: 10, height: 10 });
  await looked(60);
  size.set({ width: 123, height: 45 });
  child.stdin.write('go\n');
  expect(await ended).toBe(0);
  size.close();
});
