import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { realDisk } from './disk.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'moor-disk-'));
});
afterEach(() => rm(directory, { recursive: true }));

test('appends, reads, cuts and renames', async () => {
  const path = join(directory, 'a/b/file');
  await realDisk.makeDirectory(join(directory, 'a/b'));
  const file = await realDisk.openAppend(path);
  await file.append([Buffer.from('one '), Buffer.from('two '), Buffer.from('three')]);
  await file.sync();
  expect(await realDisk.size(path)).toBe(13);
  expect(Buffer.from(await realDisk.read(path, 4, 3)).toString()).toBe('two');
  expect((await realDisk.read(path, 8, 100)).byteLength).toBe(5);
  expect((await realDisk.read(path, 13, 100)).byteLength).toBe(0);
  await realDisk.truncate(path, 4);
  await file.append([Buffer.from('again')]);
  await file.close();
  expect(await readFile(path, 'utf8')).toBe('one again');
  await realDisk.rename(path, join(directory, 'a/b/other'));
  await realDisk.syncDirectory(join(directory, 'a/b'));
  expect(await realDisk.list(join(directory, 'a/b'))).toEqual(['other']);
  await realDisk.remove(join(directory, 'a/b/other'));
  expect(await realDisk.list(join(directory, 'a/b'))).toEqual([]);
});

test('a file that is ahead of what is appended reads as zeros there, until it is closed', async () => {
  const path = join(directory, 'file');
  const file = await realDisk.openPreallocated(path, 100);
  await file.append([Buffer.from('one '), Buffer.from('two ')]);
  await file.sync();
  expect(await realDisk.size(path)).toBe(108);
  expect(Buffer.from(await realDisk.read(path, 0, 200)).toString()).toBe(`one two ${'\0'.repeat(100)}`);
  await file.append([Buffer.alloc(100, 'x')]);
  expect(await realDisk.size(path)).toBe(108);
  await file.append([Buffer.alloc(1, 'y')]);
  expect(await realDisk.size(path)).toBe(209);
  await realDisk.truncate(path, 109);
  await file.append([Buffer.from('z')]);
  await file.close();
  expect(await readFile(path, 'utf8')).toBe(`one two ${'x'.repeat(100)}yz`);
  const again = await realDisk.openPreallocated(path, 10);
  await again.append([Buffer.from('!')]);
  await again.close();
  expect((await readFile(path, 'utf8')).slice(-3)).toBe('yz!');
});

test('only its owner can read what it writes', async () => {
  const path = join(directory, 'data');
  await realDisk.makeDirectory(path);
  await (await realDisk.openAppend(join(path, 'file'))).close();
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  expect((await stat(join(path, 'file'))).mode & 0o777).toBe(0o600);
});

test('a lock is held by one, and released', async () => {
  const lock = await realDisk.lock(directory);
  expect(lock).toBeDefined();
  expect(await realDisk.lock(directory)).toBeUndefined();
  await lock?.release();
  const again = await realDisk.lock(directory);
  expect(again).toBeDefined();
  await again?.release();
});
