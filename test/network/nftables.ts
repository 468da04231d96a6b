import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { describeWithSandboxes } from '../sandbox/sandboxes.ts';

/** Tests with real pods and Services. Where the kernel or nft(8) does not permit them, only the error is tested. */
export function describeWithNftables(name: string, tests: () => void): void {
  const { status, error, stderr } = spawnSync('nft', ['list', 'tables'], { encoding: 'utf8', env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` } });
  if (status === 0) describeWithSandboxes(name, tests);
  else test(`${name}: nft says why there are none`, () => expect(error?.message ?? stderr).not.toBe(''));
}
