import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { foreignFileIn } from './foreign-files.ts';

let dataDir = '';
const at = (name: string): string => path.join(dataDir, name);
/** A name with a slash at its end is an empty folder that others can read. */
function make(name: string, content = 'of the user'): void {
  mkdirSync(at(name.endsWith('/') ? name : path.dirname(name)), { recursive: true, mode: 0o755 });
  if (!name.endsWith('/')) writeFileSync(at(name), content);
}

beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'mooring-foreign-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test.each([
  'store/notes.txt',
  'store/',
  'pki/index.txt',
  'pki/private/key',
  'images/photo.png',
  'cloud/photo.png',
  'nodes/list/one',
  'nodes/list',
  'lock',
  'lock/',
  'cluster.json',
  'store',
])('%s of a user is found', async (name) => {
  make(name);
  expect((await foreignFileIn(dataDir))?.startsWith(at(name.split('/')[0] ?? ''))).toBe(true);
});

test.each([
  'volumes/one',
  'notes.txt',
  'store/log-0000000000000001',
  'store/manifest.json.new',
  'pki/ca.key',
  'images/pvc-1.img.new',
  'cloud/cloud.jsonl',
  'cloud/lock',
  'nodes/node-1/sandbox/x',
])('%s is no obstacle', async (name) => {
  make(name);
  expect(await foreignFileIn(dataDir)).toBeUndefined();
});

test('what an interrupted start leaves is no obstacle', async () => {
  make('lock', '123\n');
  make('cluster.json', '{\n  "dataDir": "/d"\n}\n');
  mkdirSync(at('store'), { mode: 0o700 });
  expect(await foreignFileIn(dataDir)).toBeUndefined();
});

test('a directory with a manifest is a cluster, whatever else is in it', async () => {
  make('manifest.json', '{}');
  make('store/notes.txt');
  expect(await foreignFileIn(dataDir)).toBeUndefined();
});
