// What a bundle was built from: name, size and time of change of every file that it depends on. Times alone would miss a file that was removed, or
// replaced by an older one.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const inputs = ['src', 'scripts/bundle.mjs', 'scripts/build-digest.mjs', 'package.json', 'package-lock.json', 'tsconfig.json'];

function* filesBelow(file) {
  const stat = statSync(path.join(root, file), { throwIfNoEntry: false });
  if (stat?.isDirectory()) for (const name of readdirSync(path.join(root, file)).sort()) yield* filesBelow(`${file}/${name}`);
  else if (!/\.test\.ts$|\.md$/.test(file)) yield `${file} ${stat?.size} ${stat?.mtimeMs}\n`;
}

export function sourceDigest() {
  const hash = createHash('sha256');
  for (const input of inputs) for (const line of filesBelow(input)) hash.update(line);
  return hash.digest('hex');
}

const digestFile = (dir) => path.join(dir, 'main/.built-from');

export function writeDigest(dir, digest) {
  mkdirSync(path.dirname(digestFile(dir)), { recursive: true });
  writeFileSync(digestFile(dir), digest);
}

/** Whether the bundle in `dir` is of the sources as they are. */
export const isCurrent = (dir) => existsSync(digestFile(dir)) && readFileSync(digestFile(dir), 'utf8') === sourceDigest();
