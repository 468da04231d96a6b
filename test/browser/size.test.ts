import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { root } from '../moor-process.ts';

const directory = path.join(root, 'dist/ui');
const files = readdirSync(directory).filter((name) => name !== 'LICENSES.txt');
const text = (name: string) => readFileSync(path.join(directory, name), 'utf8');

test('the page is one script, one style sheet and index.html: under 60 kB compressed', () => {
  expect(files.map((name) => path.extname(name)).sort()).toEqual(['.css', '.html', '.js']);
  expect(files.reduce((sum, name) => sum + gzipSync(readFileSync(path.join(directory, name))).length, 0)).toBeLessThan(60_000);
});

test('nothing is loaded from elsewhere, and text never becomes markup', () => {
  for (const name of files) expect(text(name).replaceAll('http://www.w3.org/', '')).not.toMatch(/https?:\/\/[a-z]/);
  expect(text('index.html')).not.toMatch(/<script(?![^>]*\bsrc=)|\bon[a-z]+=|style=/);
});
