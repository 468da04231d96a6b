#!/usr/bin/env node
// Bundles the command `moor` into a few files: loading seven hundred takes longer than all the rest of a start. The library and the benchmarks use
// the compiler's files. The command is always dist/main/moor.js, which scripts outside the project call.
import { chmodSync, rmSync } from 'node:fs';
import { rolldown } from 'rolldown';

/** The programs that users call. */
const programs = ['moor', 'kubectl-why'];

/** `input`: further programs, which are written to commands/. */
export async function bundle({ dir, input = {}, sourcemap = false }) {
  rmSync(`${dir}/moor`, { recursive: true, force: true });
  const bundled = await rolldown({
    input: { moor: 'src/commands/moor.ts', 'kubectl-why': 'src/commands/kubectl-why.ts', ...input },
    platform: 'node',
    // Packages stay where npm installed them.
    external: /^[^./]/,
  });
  // Chunks lie one folder below, as deep as the files that look for package.json and for other programs relative to themselves.
  await bundled.write({
    dir,
    sourcemap,
    entryFileNames: ({ name }) => (programs.includes(name) ? 'main/[name].js' : 'commands/[name].js'),
    chunkFileNames: 'moor/[name]-[hash].js',
  });
  // Executable, with the Node.js flags of its first line: a larger young generation saves a tenth of the server's time under load.
  for (const program of programs) chmodSync(`${dir}/main/${program}.js`, 0o755);
}

if (process.argv[1] === import.meta.filename) await bundle({ dir: 'dist' });
