#!/usr/bin/env node
// Builds only if a source file is newer than the last build: a second `npm start` begins at once.
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const stamp = path.join(root, 'dist/.built');
const inputs = ['src', 'scripts/bundle.mjs', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];

const changedAt = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
// A folder's time changes when a file in it is added or removed.
const newest = (file) =>
  statSync(file).isDirectory()
    ? Math.max(changedAt(file), ...readdirSync(file, { withFileTypes: true }).map((each) => newest(path.join(file, each.name))))
    : changedAt(file);

if (Math.max(...inputs.map((each) => newest(path.join(root, each)))) > changedAt(stamp)) {
  const began = Date.now();
  process.stderr.write('Building …\n');
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  writeFileSync(stamp, '');
  // The stamp is of the moment before the build: a change during it is built by the next start.
  utimesSync(stamp, began / 1000, began / 1000);
}
