#!/usr/bin/env node
// npm run bench [NAME…]: runs the benchmarks in this folder on the built code and prints their results.
// A benchmark is a file that exports `run()`, which resolves with its figures: { name: number or text }.
// Figures vary with the machine: compare two runs on one machine, not a run with a document.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const all = readdirSync(here)
  .filter((f) => f.endsWith('.mjs') && f !== 'run.mjs' && !f.startsWith('_'))
  .map((f) => f.replace('.mjs', ''));
const wanted = process.argv.length > 2 ? process.argv.slice(2) : all;

for (const name of wanted) {
  if (!all.includes(name)) {
    console.error(`there is no benchmark "${name}"; there are: ${all.join(', ')}`);
    process.exit(2);
  }
  const { run } = await import(pathToFileURL(path.join(here, `${name}.mjs`)));
  console.log(`\n${name}`);
  for (const [what, figure] of Object.entries(await run()))
    console.log(`  ${what.padEnd(44)} ${typeof figure === 'number' ? figure.toLocaleString('en') : figure}`);
}
process.exit(0);
