#!/usr/bin/env node
// Bundles `moor` only if its sources changed since the last bundle: a second `npm start` begins at once. Types are not checked: npm run build does.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isCurrent } from './build-digest.mjs';

process.chdir(path.join(path.dirname(fileURLToPath(import.meta.url)), '..'));
if (!isCurrent('dist')) {
  process.stderr.write('Building …\n');
  const { bundle } = await import('./bundle.mjs');
  await bundle({ dir: 'dist' });
}
