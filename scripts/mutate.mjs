#!/usr/bin/env node
// Mutation testing: bugs planted by operator, at places drawn from a seed, and what notices them. scripts/mutations.mjs does the same with bugs
// that were written by hand.
//
//   npm run mutate                           60 mutants; goes on where it stopped; at the end it writes its part of docs/mutations.md
//   npm run mutate -- --seed 7 --count 100   others
//   npm run mutate -- --again simulator      runs those again that the simulator did not notice, with the source as it is now; `nothing`: those
//                                            that nothing noticed
//   npm run mutate -- --sample               only draws the sample, and prints it
//   npm run mutate -- --worlds-only          leaves out the tests, and the worlds after the first ones
//   npm run mutate -- --report               only writes the page
//
// --folder F   the copy of the tree and the state (moor-mutate in the folder for temporary files)
// --seeds N    at most N worlds for each mutant (200)      --first N   so many of them before the tests (20)
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { API } from 'typescript/unstable/sync';
import { huntIn } from './mutate/hunt.mjs';
import { mutantsOf, mutate, noted, operatorNames } from './mutate/operators.mjs';
import { nameOf, readExplanations, writeReport } from './mutate/report.mjs';
import { failureOf, testsOf } from './mutate/tests.mjs';

const root = resolve(import.meta.dirname, '..');

const areas = ['src/controllers', 'src/scheduler', 'src/node', 'src/storage', 'src/store', 'src/apiserver/registry'];
/** Code for tests; and code that talks to a kernel or a socket, of which the simulator has none. */
const leftOut = /\.test\.ts$|\/samples\.ts$|^src\/store\/(conformance|model)|^src\/node\/(runtimes\/sandbox|kubelet-api|dns|streams|pod-worker\/probes)\//;

const limits = { nearTests: 5, allTests: 12, testsMs: 240_000 };

const trackedFiles = () =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)));

/** A copy of the tree, so that tests run on the mutant's source. */
class Copy {
  constructor(folder) {
    this.root = join(folder, 'tree');
  }

  refresh() {
    rmSync(this.root, { recursive: true, force: true });
    for (const file of trackedFiles()) {
      mkdirSync(dirname(join(this.root, file)), { recursive: true });
      cpSync(join(root, file), join(this.root, file));
    }
    symlinkSync(join(root, 'node_modules'), join(this.root, 'node_modules'));
    writeFileSync(join(this.root, 'files.json'), JSON.stringify(trackedFiles()));
  }

  files() {
    return JSON.parse(readFileSync(join(this.root, 'files.json'), 'utf8'));
  }

  text(file) {
    return readFileSync(join(this.root, file), 'utf8');
  }

  /** Runs `work` while the mutant is in the copy. */
  async with(mutant, work) {
    const text = this.text(mutant.file);
    writeFileSync(join(this.root, mutant.file), mutate(text, mutant, mutant.replace));
    try {
      return await work();
    } finally {
      writeFileSync(join(this.root, mutant.file), text);
    }
  }
}

/** The compiler, kept running: a change of one file takes a quarter of a second. */
class TypeChecker {
  #api;
  #snapshot;

  constructor(root) {
    this.#api = new API({ cwd: root });
    this.#snapshot = this.#api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] });
  }

  accepts(file) {
    const before = this.#snapshot;
    this.#snapshot = this.#api.updateSnapshot({ fileChanges: { changed: [file] } });
    before.dispose();
    const { program } = this.#snapshot.getProjects()[0];
    return program.getSyntacticDiagnostics(file).length === 0 && program.getSemanticDiagnostics(file).length === 0;
  }

  close() {
    this.#api.close();
  }
}

/** mulberry32 */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled(list, next) {
  const copy = [...list];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [copy[i], copy[j]] = [copy[j], copy[i]];
  }
  return copy;
}

/** Takes one of each list in turn. */
function inTurn(lists) {
  const all = [];
  for (let i = 0; lists.some((list) => i < list.length); i++) for (const list of lists) if (i < list.length) all.push(list[i]);
  return all;
}

const allMutants = (copy) =>
  copy
    .files()
    .filter((file) => file.endsWith('.ts') && areas.some((area) => file.startsWith(`${area}/`)) && !leftOut.test(file))
    .flatMap((file) => mutantsOf(file, copy.text(file)));

/** As many of each operator as of each other, and of each area. Mutants that do not type-check are not bugs that could land: others replace them. */
async function drawSample(copy, { seed, count }) {
  const next = random(seed);
  const all = allMutants(copy);
  const candidates = operatorNames.map((operator) => {
    const ofArea = (area, rank) => shuffled(all, next).filter((each) => each.operator === operator && each.rank === rank && each.file.startsWith(`${area}/`));
    return inTurn([0, 1].map((rank) => inTurn(areas.map((area) => ofArea(area, rank)))));
  });
  const [sample, rejected] = [[], []];
  const checker = new TypeChecker(copy.root);
  for (let turn = 0; sample.length < count && candidates.some((list) => list.length > 0); turn++) {
    const list = candidates[turn % candidates.length];
    for (let mutant = list.shift(); mutant !== undefined; mutant = list.shift()) {
      if (await copy.with(mutant, () => checker.accepts(join(copy.root, mutant.file)))) {
        sample.push(mutant);
        console.log(`${sample.length}. ${describe(mutant)}`);
        break;
      }
      rejected.push(describe(mutant));
    }
  }
  checker.close();
  return { sample, rejected };
}

const describe = ({ operator, file, line, original }) => `${operator}: ${file}:${line}: ${original.replaceAll(/\s+/g, ' ').slice(0, 90)}`;

/** The same place in the source as it is now. */
function placeNow(copy, { operator, file, original, nth, replace }) {
  if (!copy.files().includes(file)) return undefined;
  return mutantsOf(file, copy.text(file)).find(
    (each) => each.operator === operator && each.original === original && each.replace === replace && each.nth === nth,
  );
}

/** Which worlds run the code of which mutants, in one pass. In the other worlds a mutant changes nothing: every run of a seed is the same. */
async function reachingSeeds(copy, mutants, seeds) {
  const files = new Map();
  for (const [index, mutant] of mutants.entries()) files.set(mutant.file, [...(files.get(mutant.file) ?? []), { index, mutant }]);
  const changed = Array.from(files, ([file, places]) => {
    let text = copy.text(file);
    let from = text.length;
    for (const { index, mutant } of places.sort((a, b) => b.mutant.start - a.mutant.start)) {
      // One place within another: the outer one is noted with it.
      if (mutant.end <= from) text = mutate(text, { start: mutant.start, end: mutant.end }, noted(mutant, `globalThis.mutantsReached?.add(${index})`));
      from = Math.min(from, mutant.start);
    }
    return { file, text };
  });
  const reaching = mutants.map(() => []);
  const ended = await huntIn(copy.root, changed, seeds, (seed, reached) => {
    for (const index of reached) reaching[index].push(seed);
  });
  if (ended.caught !== undefined) throw new Error(`the unchanged source breaks: seed ${ended.caught.seed}: ${ended.caught.invariant}: ${ended.caught.what}`);
  return reaching;
}

/** Near tests first. A test that fails without the mutant as well shows nothing. */
async function firstFailure(copy, related, healthy) {
  const files = related.slice(0, limits.allTests).map(({ file }) => file);
  for (const batch of [files.slice(0, limits.nearTests), files.slice(limits.nearTests)]) {
    const left = batch.filter((file) => healthy[file] !== false);
    const failure = left.length === 0 ? undefined : await failureOf(copy.root, left, limits.testsMs);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/** Whether a test that noticed a mutant passes without it. */
async function confirm(copy, result, healthy) {
  const { test } = result;
  if (test === undefined || test === 'timeout' || healthy[test.file] === true) return test === 'timeout' ? undefined : result;
  healthy[test.file] = test.file !== '' && (await failureOf(copy.root, [test.file], limits.testsMs)) === undefined;
  return healthy[test.file] ? result : undefined;
}

async function runAll(copy, state, { save, seeds, first, worldsOnly }) {
  const tests = testsOf(copy.root, copy.files());
  const left = stillThere(copy, state);
  const unknown = left.filter((entry) => entry.seeds === undefined);
  if (unknown.length > 0) {
    const reaching = await reachingSeeds(
      copy,
      unknown.map(({ mutant }) => mutant),
      Array.from({ length: seeds }, (_, i) => i + 1),
    );
    for (const [i, entry] of unknown.entries()) entry.seeds = reaching[i];
    save();
  }
  // All mutants in a few worlds first, then the tests: most are noticed there, and the others take long.
  for (const entry of left) await runWorlds(copy, entry, { most: first, save });
  if (worldsOnly) return;
  for (const entry of left) if (entry.result === undefined) await runTests(copy, entry, { tests: tests(entry.mutant.file), state, save });
  for (const entry of left) await runWorlds(copy, entry, { most: seeds, save });
}

/** The mutants that the simulator may still notice, without those that are explained to change nothing, at the places where their code is now. */
function stillThere(copy, state) {
  const explanations = readExplanations(root);
  const left = [];
  for (const entry of state.entries) {
    if (entry.result?.simulator !== undefined || explanations[nameOf(entry.mutant)] !== undefined) continue;
    const mutant = placeNow(copy, entry.mutant);
    if (mutant === undefined) entry.result = { gone: true };
    else left.push(Object.assign(entry, { mutant }));
  }
  return left;
}

/** The next worlds that run the mutant's code. */
async function runWorlds(copy, entry, { most, save }) {
  const { mutant, ran = 0 } = entry;
  const next = entry.result?.simulator === undefined ? entry.seeds.slice(ran, most) : [];
  if (next.length === 0) return;
  const { caught } = await huntIn(copy.root, [{ file: mutant.file, text: mutate(copy.text(mutant.file), mutant, mutant.replace) }], next);
  entry.ran = ran + next.length;
  if (caught !== undefined) entry.result = { simulator: caught };
  save();
  if (caught !== undefined) print(entry);
}

async function runTests(copy, entry, { tests, state, save }) {
  const { healthy } = state;
  for (let tries = 0; entry.result === undefined && tries < 2; tries++) {
    const test = await copy.with(entry.mutant, () => firstFailure(copy, tests, healthy));
    entry.result = await confirm(copy, test === undefined ? {} : { test }, healthy);
  }
  save();
  print(entry);
}

const print = (entry) => console.log(`${describe(entry.mutant)}: ${outcome(entry)}`);

function outcome({ result, ran = 0, seeds }) {
  if (result === undefined) return 'undecided';
  if (result.gone) return 'the code has changed';
  if (result.simulator !== undefined) return `simulator, seed ${result.simulator.seed}: ${result.simulator.invariant}: ${result.simulator.what}`;
  return `${result.test === undefined ? 'NOTHING' : `test ${result.test.file}: ${result.test.title}`} (${ran} of ${seeds.length} worlds)`;
}

const isDueAgain = { simulator: ({ simulator }) => simulator === undefined, nothing: ({ simulator, test }) => simulator === undefined && test === undefined };

async function main(args) {
  const option = (name, otherwise) => (args.includes(name) ? args[args.indexOf(name) + 1] : otherwise);
  const folder = resolve(option('--folder', join(tmpdir(), 'moor-mutate')));
  const [seed, count, seeds] = [Number(option('--seed', 1)), Number(option('--count', 60)), Number(option('--seeds', 200))];
  const file = join(folder, `state-${seed}-${count}.json`);
  const copy = new Copy(folder);
  mkdirSync(folder, { recursive: true });
  const state = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { seed, count, entries: [], rejected: 0, healthy: {} };
  const save = () => writeFileSync(file, JSON.stringify(state, undefined, 1));
  if (args.includes('--report')) return writeReport(root, state);
  const again = option('--again');
  if (again !== undefined)
    // What the tests have said stays: a simulator that sees more does not change it.
    for (const entry of state.entries)
      if (isDueAgain[again](entry.result ?? {}))
        Object.assign(entry, { result: entry.result?.test === undefined ? undefined : { test: entry.result.test }, seeds: undefined, ran: 0 });
  // A run that was killed may have left a mutant in its copy.
  copy.refresh();
  if (state.entries.length === 0) {
    const { sample, rejected } = await drawSample(copy, { seed, count });
    Object.assign(state, { entries: sample.map((mutant) => ({ mutant })), rejected: rejected.length });
  }
  save();
  if (args.includes('--sample')) return 0;
  await runAll(copy, state, { save, seeds, first: Number(option('--first', 20)), worldsOnly: args.includes('--worlds-only') });
  return writeReport(root, state);
}

process.exit(await main(process.argv.slice(2)));
