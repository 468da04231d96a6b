import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import koffi from 'koffi';
import { expect, test } from 'vitest';

/**
 * Tests that mount. Without the right to do so, they run in a user and mount namespace of their own (unshare -rm), in which every user
 * may mount; a machine that permits neither fails here.
 */
export function describeWithMounts(file: string, tests: () => void): void {
  if (mayMount()) return tests();
  test('in a namespace of its own', () => {
    const args = ['-rm', process.execPath, 'node_modules/vitest/vitest.mjs', 'run', fileURLToPath(file)];
    const { status, stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8', env: { ...process.env, VITEST: undefined } });
    expect(status, `${stdout}\n${stderr}`).toBe(0);
  });
}

function mayMount(): boolean {
  const directory = mkdtempSync(path.join(tmpdir(), 'moor-may-mount-'));
  const library = koffi.load(null);
  const mounted = library.func('int mount(const char *, const char *, const char *, unsigned long, const char *)')('none', directory, 'tmpfs', 0, null) === 0;
  if (mounted) library.func('int umount2(const char *, int)')(directory, 0);
  rmdirSync(directory);
  return mounted;
}
