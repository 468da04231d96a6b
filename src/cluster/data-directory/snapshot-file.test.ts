import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StoreContent } from '../../store/content.ts';
import { readSnapshot, saveSnapshot } from './snapshot-file.ts';

let directory = '';
const file = () => path.join(directory, 'backup');
const content: StoreContent = { clusterId: 'c', revision: 7, entries: [{ key: '/a', value: Buffer.from('x'), createRevision: 3, modRevision: 5 }] };

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'moor-snapshot-'));
});

afterEach(() => rm(directory, { recursive: true }));

test('a snapshot is only for its owner, also where a file that others can read was in its way', async () => {
  await writeFile(`${file()}.new`, 'x');
  await chmod(`${file()}.new`, 0o666);
  await saveSnapshot(file(), content);
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  expect(await readdir(directory)).toEqual(['backup']);
  expect(await readSnapshot(file())).toEqual(content);
});

test('what could not be finished is removed: it has keys', async () => {
  const broken = { ...content, entries: [...content.entries, { ...content.entries[0], value: undefined }] } as unknown as StoreContent;
  await expect(saveSnapshot(file(), broken)).rejects.toThrow();
  expect(await readdir(directory)).toEqual([]);
});
