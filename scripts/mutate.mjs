#!/usr/bin/env node
// Mutation testing: bugs planted by operator, at places drawn from a seed, and what notices them. scripts/mutations.mjs does the same with bugs
// that were written by hand.
//
//   npm run mutate                           60 mutants; goes on where it stopped; at the end it writes its part of docs/mutations.md
//   npm run mutate -- --seed 7 --count 100   others
//   npm run mutate -- --again simulator      runs those again that the simulator did not notice, with the source as it is now; `nothing`: those
//                                            that nothing noticed
//   npm run mutate -- --sample               only draws the sample, and prints it
//   npm run mutate -- --worlds-only          leaves out the tests
//   npm run mutate -- --tests-only           leaves out the worlds
//   npm run mutate -- --only TEXT            only those whose name contains the text
//   npm run mutate -- --report               only writes the page
//
// --folder F   the copy of the tree, and which worlds are done (moor-mutate in the folder for temporary files)
// --seeds N    at most N worlds for each mutant (200)      --first N   so many of them before the tests (12)
// --tests N    at most N files of tests for each mutant (12, which is the most)
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Copy } from './mutate/copy.mjs';
import { nameOf, readExplanations, readResults, writeReport } from './mutate/report.mjs';
import { drawSample, placeNow } from './mutate/sample.mjs';
import { failureOf, testsOf } from './mutate/tests.mjs';
import { findWorlds, runWorlds } from './mutate/worlds.mjs';

const root = resolve(import.meta.dirname, '..');

const limits = { testsMs: 600_000 };

/** The first failure of these tests, and how many of them ran. A test that fails without the mutant as well shows nothing. */
async function firstFailure(copy, files, healthy) {
  const left = files.filter((file) => healthy[file] !== false);
  return left.length === 0 ? undefined : await failureOf(copy.root, left, limits.testsMs);
}

/** Whether a test that noticed a mutant passes without it. */
async function confirm(copy, result, healthy) {
  const { test } = result;
  if (test === undefined || test === 'timeout' || healthy[test.file] === true) return test === 'timeout' ? undefined : result;
  healthy[test.file] = test.file !== '' && (await failureOf(copy.root, [test.file], limits.testsMs)) === undefined;
  return healthy[test.file] ? result : undefined;
}

/** The next of the tests that load the mutant's file, nearest first, a few at a time: the nearest notice most. */
async function runTests(copy, entry, { tests, most, state, save }) {
  const { healthy } = state;
  const files = tests.slice(0, most).map(({ file }) => file);
  while (entry.result === undefined && (entry.tested ?? 0) < files.length) {
    const tested = entry.tested ?? 0;
    const some = files.slice(tested, Math.max(1, 3 * tested));
    const test = await copy.with(entry.mutant, () => firstFailure(copy, some, healthy));
    const confirmed = test === undefined ? undefined : await confirm(copy, { test }, healthy);
    // A test that fails as well without the mutant is left out from now on.
    if (test === undefined || test === 'timeout' || test.file === '') entry.tested = tested + some.length;
    entry.result = confirmed;
    save();
  }
  if (entry.tested === Math.min(tests.length, mostTests)) entry.result ??= {};
  save();
  print(entry);
}

const mostTests = 12;

/** All mutants in a few worlds first, then the tests: most are noticed there, and the other worlds take long. */
async function runAll(copy, state, { save, seeds, first, kinds, only }) {
  const tests = testsOf(copy.root, copy.files());
  const explanations = readExplanations(root);
  const left = () =>
    state.entries.filter(
      ({ mutant, result }) => result?.simulator === undefined && explanations[nameOf(mutant)] === undefined && nameOf(mutant).includes(only),
    );
  if (kinds.worlds) await findAllSeeds(copy, left(), { upTo: seeds, save });
  const onWorld = (entry, caught) => {
    entry.ran++;
    if (caught !== undefined) entry.result = { simulator: caught };
    save();
    if (caught !== undefined) print(entry);
  };
  for (const most of [first, 4 * first, seeds]) {
    if (kinds.worlds) await runWorlds(copy, left(), { most, onWorld });
    for (const entry of left())
      if (entry.result === undefined) await runTests(copy, entry, { tests: tests(entry.mutant.file), most: kinds.tests, state, save });
  }
}

/** How many seeds are looked at before what was found is saved. */
const step = 25;

/** The seeds up to this one in which a mutant makes a difference, the quickest worlds first. */
async function findAllSeeds(copy, entries, { upTo, save }) {
  for (const entry of entries) Object.assign(entry, { worlds: entry.worlds ?? [], ran: entry.ran ?? 0, known: entry.known ?? 0 });
  for (let from = Math.min(...entries.map(({ known }) => known)); from < upTo; from += step) {
    const due = entries.filter(({ known }) => known <= from);
    await findWorlds(copy, due, { from: from + 1, to: Math.min(upTo, from + step) });
    for (const entry of due) entry.known = Math.min(upTo, from + step);
    save();
  }
  // Those that were run stay where they are.
  for (const { worlds, ran } of entries) worlds.splice(ran, Infinity, ...worlds.slice(ran).sort((a, b) => a.cpuMs - b.cpuMs));
}

const describe = ({ operator, file, line, original }) => `${operator}: ${file}:${line}: ${original.replaceAll(/\s+/g, ' ').slice(0, 90)}`;

const print = (entry) => console.log(`${describe(entry.mutant)}: ${outcome(entry)}`);

function outcome({ result, ran = 0, worlds = [], known = 0 }) {
  if (result === undefined) return 'undecided';
  if (result.simulator !== undefined) return `simulator, seed ${result.simulator.seed}: ${result.simulator.invariant}: ${result.simulator.what}`;
  return `${result.test === undefined ? 'NOTHING' : `test ${result.test.file}: ${result.test.title}`} (${ran} of ${worlds.length} worlds, of ${known})`;
}

const isDueAgain = { simulator: ({ simulator }) => simulator === undefined, nothing: ({ simulator, test }) => simulator === undefined && test === undefined };

async function main(args) {
  const option = (name, otherwise) => (args.includes(name) ? args[args.indexOf(name) + 1] : otherwise);
  const folder = resolve(option('--folder', join(tmpdir(), 'moor-mutate')));
  const [seed, count, seeds] = [Number(option('--seed', 1)), Number(option('--count', 60)), Number(option('--seeds', 200))];
  const file = join(folder, `state-${seed}-${count}.json`);
  const copy = new Copy(folder);
  mkdirSync(folder, { recursive: true });
  const state = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { seed, count, entries: readResults(root, { seed, count }), healthy: {} };
  const save = () => writeFileSync(file, JSON.stringify(state, undefined, 1));
  if (args.includes('--report')) return writeReport(root, state);
  const again = option('--again');
  if (again !== undefined)
    // What the tests have said stays: a simulator that sees more does not change it.
    for (const entry of state.entries)
      if (isDueAgain[again](entry.result ?? {}))
        Object.assign(entry, { result: entry.result?.test === undefined ? undefined : { test: entry.result.test }, worlds: [], ran: 0, known: 0 });
  // A run that was killed may have left a mutant in its copy.
  copy.refresh();
  state.entries = state.entries.flatMap((entry) => {
    const mutant = placeNow(copy, entry.mutant);
    return mutant === undefined ? [] : { ...entry, mutant };
  });
  const sample = await drawSample(copy, { seed, count, kept: state.entries.map(({ mutant }) => mutant) });
  state.entries.push(...sample.slice(state.entries.length).map((mutant) => ({ mutant })));
  save();
  if (args.includes('--sample')) for (const [i, entry] of state.entries.entries()) console.log(`${i + 1}. ${describe(entry.mutant)}`);
  if (args.includes('--sample')) return 0;
  const kinds = {
    worlds: !args.includes('--tests-only'),
    tests: args.includes('--worlds-only') ? 0 : Math.min(mostTests, Number(option('--tests', mostTests))),
  };
  await runAll(copy, state, { save, seeds, first: Number(option('--first', 12)), kinds, only: option('--only', '') });
  return writeReport(root, state);
}

process.exit(await main(process.argv.slice(2)));
