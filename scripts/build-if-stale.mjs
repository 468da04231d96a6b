#!/usr/bin/env node
// Bundles `moor` only if its sources changed since the last bundle: a second `npm start` begins at once. Types are not checked: npm run build does.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isCurrent } from './build-digest.mjs';

process.chdir(path.join(path.dirname(fileURLToPath(import.meta.url)), '..'));
if (!isCurrent('dist')) {
  const missing = missingPackages();
  if (missing.length > 0) {
    process.stderr.write(
      `Packages are missing, or of another version: ${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ' …' : ''}. Run "npm ci" first.\n`,
    );
    process.exit(1);
  }
  process.stderr.write('Building …\n');
  const { bundle } = await import('./bundle.mjs');
  await bundle({ dir: 'dist' });
}

/** As after a clone, or a pull that brought new ones. npm writes down what it has installed; packages of other platforms are not there. */
function missingPackages() {
  const packagesIn = (file) => JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
  const wanted = Object.entries(packagesIn('package-lock.json')).filter(([name, { optional, devOptional }]) => name !== '' && !optional && !devOptional);
  let installed = {};
  try {
    installed = packagesIn('node_modules/.package-lock.json');
  } catch {
    // Nothing is installed.
  }
  return wanted.filter(([name, { version }]) => installed[name]?.version !== version).map(([name]) => name.replace(/^.*node_modules\//, ''));
}
