import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { realDirectories, unsyncedDirectories } from './directories.ts';
import { realDisk } from './disk.ts';

const calls: string[] = [];

/** What the module under test imports from `node:fs/promises`, too. */
function recordCalls(): void {
  const { writeFile, rename } = promises;
  vi.spyOn(promises, 'writeFile').mockImplementation((...args) => {
    const options = args[2];
    calls.push(typeof options === 'object' && options !== null && options.flush === true ? 'write, sync' : 'write');
    return writeFile(...args);
  });
  vi.spyOn(promises, 'rename').mockImplementation((...args) => {
    calls.push('rename');
    return rename(...args);
  });
  syncBuiltinESMExports();
}

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'mooring-directories-'));
  calls.length = 0;
  recordCalls();
  vi.spyOn(realDisk, 'syncDirectory').mockImplementation(async (directory) => void calls.push(`sync ${path.relative(folder, directory)}`));
});

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  rmSync(folder, { recursive: true });
});

test('a file is on the disk before it has its name, and the name before the call ends', async () => {
  const file = path.join(folder, 'records', 'a.json');
  await realDirectories.writeFile(file, 'first');
  await realDirectories.writeFile(file, 'second');
  expect(calls).toEqual(['write, sync', 'rename', 'sync records', 'write, sync', 'rename', 'sync records']);
  expect(readFileSync(file, 'utf8')).toBe('second');
  expect(readdirSync(path.dirname(file))).toEqual(['a.json']);
});

test('what need not outlive a power loss is replaced all the same, and not synced', async () => {
  await unsyncedDirectories.writeFile(path.join(folder, 'a'), 'text');
  expect(calls).toEqual(['write', 'rename']);
  expect(readFileSync(path.join(folder, 'a'), 'utf8')).toBe('text');
});

test('a directory that another user made, may write to, or has replaced by a link is not used', async () => {
  const at = (name: string): string => path.join(folder, name);
  await realDirectories.own(at('own'));
  await realDirectories.own(at('own'));
  expect(statSync(at('own')).mode & 0o7777 & ~0o750).toBe(0);

  mkdirSync(at('shared'));
  chmodSync(at('shared'), 0o770);
  await expect(realDirectories.own(at('shared'))).rejects.toThrow('other users may write to it');
  symlinkSync(at('own'), at('link'));
  await expect(realDirectories.own(at('link'))).rejects.toThrow('it is not a directory');
  await expect(realDirectories.own(at('shared/inside'))).rejects.toThrow(`other users may change ${at('shared')}`);
  chmodSync(at('shared'), 0o1777);
  await realDirectories.own(at('shared/inside'));
});

test.runIf(process.geteuid?.() === 0)('root does not use a directory of another user', async () => {
  const theirs = path.join(folder, 'theirs');
  mkdirSync(theirs);
  chownSync(theirs, 65_534, 65_534);
  await expect(realDirectories.own(theirs)).rejects.toThrow('it belongs to user 65534. Remove it, or give it to the user that runs the cluster');
  await expect(realDirectories.own(path.join(theirs, 'inside'))).rejects.toThrow(`other users may change ${theirs}`);
});
