#!/usr/bin/env node
// Puts the command `moor` into a few files, over the one that the compiler made: to load seven hundred takes longer than all the rest of a start.
// The library and the benchmarks use the compiler's files.
import { rmSync } from 'node:fs';
import { rolldown } from 'rolldown';

rmSync('dist/moor', { recursive: true, force: true });
const bundle = await rolldown({
  input: { moor: 'src/main/moor.ts' },
  platform: 'node',
  // Packages stay where npm installed them.
  external: /^[^./]/,
});
// The parts lie as deep as the files they come from: some look for package.json from where they are.
await bundle.write({ dir: 'dist', entryFileNames: 'main/[name].js', chunkFileNames: 'moor/[name]-[hash].js' });
