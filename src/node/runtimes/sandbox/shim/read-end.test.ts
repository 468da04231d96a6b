import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readEnd } from './read-end.ts';

let directory = '';
const at = (name: string) => path.join(directory, name);
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'moor-end-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

test('the end of a file, however large it is', () => {
  writeFileSync(at('small'), 'all of it');
  expect([readEnd(at('small'), 100), readEnd(at('small'), 2)]).toEqual(['all of it', 'it']);
  writeFileSync(at('large'), '');
  // A file without content, larger than any memory.
  truncateSync(at('large'), 2 ** 43);
  expect(readEnd(at('large'), 4)).toBe('\0\0\0\0');
});

test('neither a link, nor a pipe without writer, nor a missing file is read', () => {
  symlinkSync('/etc/passwd', at('link'));
  execFileSync('sh', ['-c', 'mkfifo "$0"', at('pipe')]);
  expect(['link', 'pipe', 'missing'].map((name) => readEnd(at(name), 100))).toEqual(['', '', '']);
});
