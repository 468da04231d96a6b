#!/usr/bin/env node
// Two versions on one machine, in turn: node bench/_compare.mjs OLD-CHECKOUT [NAME…], both built. ROUNDS=3 of each; medians and their ratio.
// A shared machine is faster in one minute than in the next: only figures of one such run may be compared.
import { execFileSync } from 'node:child_process';
import path from 'node:path';

const [old, ...named] = process.argv.slice(2);
if (old === undefined) {
  console.error('usage: node bench/_compare.mjs OLD-CHECKOUT [NAME…]');
  process.exit(2);
}
const names = named.length > 0 ? named : ['pace', 'bind', 'schedule-growth', 'nodes', 'start'];
const rounds = Number(process.env.ROUNDS ?? 3);

for (const name of names) {
  const figures = { old: new Map(), new: new Map() };
  for (let round = 0; round < rounds; round++) {
    for (const [side, folder] of Object.entries({ old: path.resolve(old), new: process.cwd() })) {
      for (const [what, value] of measure(folder, name)) figures[side].set(what, [...(figures[side].get(what) ?? []), value]);
    }
  }
  console.log(`\n${name.padEnd(46)} ${'old'.padStart(12)} ${'new'.padStart(12)}  new/old`);
  for (const [what, values] of figures.new) {
    const [before, after] = [median(figures.old.get(what) ?? []), median(values)];
    console.log(`  ${what.padEnd(44)} ${text(before)} ${text(after)}  ${(after / before).toFixed(2)}`);
  }
}

/** The lines of one run: a name, and its first number. A benchmark of this checkout that the old one lacks has no figure there. */
function measure(folder, name) {
  const output = execFileSync(process.execPath, ['bench/run.mjs', name], { cwd: folder, encoding: 'utf8', env: { ...process.env, ROUNDS: '1' } });
  return output.split('\n').flatMap((line) => {
    // A long name leaves one space before its figure, which then ends the line.
    const found = /^ {2}(\S.*?)(?: {2,}([\d,.]+)| ([\d,.]+)$)/.exec(line);
    return found === null ? [] : [[found[1], Number((found[2] ?? found[3]).replaceAll(',', ''))]];
  });
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function text(value) {
  return String(Number(value.toPrecision(4))).padStart(12);
}
