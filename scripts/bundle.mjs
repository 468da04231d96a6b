#!/usr/bin/env node
// Puts the command `moor` into a few files, over the one that the compiler made: to load seven hundred takes longer than all the rest of a start.
// The library and the benchmarks use the compiler's files.
import { chmodSync, rmSync } from 'node:fs';
import { rolldown } from 'rolldown';

rmSync('dist/moor', { recursive: true, force: true });
const bundle = await rolldown({
  input: { moor: 'src/commands/moor.ts' },
  platform: 'node',
  // Packages stay where npm installed them.
  external: /^[^./]/,
});
// The parts lie as deep as the files they come from: some look for package.json from where they are.
await bundle.write({ dir: 'dist', entryFileNames: 'main/[name].js', chunkFileNames: 'moor/[name]-[hash].js' });
// It can be run by itself, with the flags of its first line: under load a larger young generation saves a tenth of the server's time.
chmodSync('dist/main/moor.js', 0o755);
